"use strict";
/* Paper is white, whichever scheme the screen has. */

const page = document.documentElement;
let scheme;

addEventListener("beforeprint", () => {
  scheme = page.dataset.theme;
  page.dataset.theme = "light";
});
addEventListener("afterprint", () => { page.dataset.theme = scheme; });
