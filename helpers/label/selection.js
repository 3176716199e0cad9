// A page that tells the kernel what is selected in it. The page comes cleaned from markup.py.
const UNTOLD = "style, .facts"; // on the page, and no part of the document

function selectedIn(page) {
  const chosen = document.getSelection();
  if (!chosen.rangeCount || !page.contains(chosen.anchorNode)) return null;
  const range = chosen.getRangeAt(0).cloneRange();
  if (!page.contains(range.startContainer)) range.setStart(page, 0);
  if (!page.contains(range.endContainer)) range.setEnd(page, page.childNodes.length);
  const part = range.cloneContents();
  part.querySelectorAll(UNTOLD).forEach((element) => element.remove());
  return part.textContent;
}

function render({ model, el }) {
  const page = document.createElement("div");
  let timer = 0;
  const draw = () => (page.innerHTML = model.get("value"));
  const tell = () => {
    clearTimeout(timer);
    const text = selectedIn(page);
    if (text === null || text === model.get("selected")) return;
    model.set("selected", text);
    model.save_changes();
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(tell, 400); // a finger or a keyboard moves the ends; no event says "done"
  };
  draw();
  el.append(page);
  model.on("change:value", draw);
  document.addEventListener("selectionchange", later);
  document.addEventListener("mouseup", tell); // at once: the next click may give the grade
  return () => {
    clearTimeout(timer);
    model.off("change:value", draw);
    document.removeEventListener("selectionchange", later);
    document.removeEventListener("mouseup", tell);
  };
}

export default { render };
