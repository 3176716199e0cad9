"use strict";
/* The page Try it: BM25 in the browser. TRY comes from helpers/teach/try_it.py; test_site.py holds
   each ranking equal to evals/runs/fixed.trec. Texts are only ever set as text, never as HTML. */

const SHOWN = 5;      // results, of the hard question FIRST
const FIRST = 3;
const WIDTH = 240;    // characters of a passage
const BEFORE = 100;   // so far back a passage may begin, to show a sentence from its start

// Search: the scores of rank_bm25's BM25Okapi over chunks, the best chunk for each document.

function words(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];
}

function chunksOf([id, title, text, spans]) {
  const head = Array.from(title ? `${title}\n\n` : "");
  const characters = head.concat(Array.from(text));  // spans count code points, as Python does
  const slice = (start, end) => characters.slice(start, end).join("");
  return spans.map(([start, end], n) => {
    const found = words(slice(start, end));
    const ends = end < characters.length ? " …" : "";
    const shown = slice(Math.max(start, head.length), end) + ends;  // without the title
    return { id: `${id}#${n}`, doc: id, title, shown, words: found };
  });
}

function countWords(chunks) {
  const postings = new Map();  // word: Map of chunk number and count
  chunks.forEach((chunk, n) => {
    for (const word of chunk.words) {
      if (!postings.has(word)) postings.set(word, new Map());
      const counts = postings.get(word);
      counts.set(n, (counts.get(n) || 0) + 1);
    }
  });
  return postings;
}

function rarities(postings, n) {
  const idf = new Map();
  let sum = 0;
  for (const [word, counts] of postings) {
    const value = Math.log(n - counts.size + 0.5) - Math.log(counts.size + 0.5);
    idf.set(word, value);
    sum += value;
  }
  const least = TRY.epsilon * sum / idf.size;
  for (const [word, value] of idf) if (value < 0) idf.set(word, least);
  return idf;
}

function buildIndex() {
  const chunks = TRY.documents.flatMap(chunksOf);
  const postings = countWords(chunks);
  const length = chunks.reduce((sum, chunk) => sum + chunk.words.length, 0) / chunks.length;
  return { chunks, postings, length, idf: rarities(postings, chunks.length) };
}

function scoreChunks(index, question) {
  const { k1, b } = TRY;
  const scores = new Map();
  for (const word of words(question)) {
    for (const [n, count] of index.postings.get(word) || []) {
      const norm = k1 * (1 - b + b * index.chunks[n].words.length / index.length);
      const weight = index.idf.get(word) * count * (k1 + 1) / (count + norm);
      scores.set(n, (scores.get(n) || 0) + weight);
    }
  }
  return scores;
}

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

// Returns [{doc, id, score, title, shown}], best first: a document with its best chunk.
function search(index, question) {
  const step = 10 ** TRY.decimals;  // scores that agree so far are a tie, and ties go by id
  const hits = [];
  for (const [n, score] of scoreChunks(index, question)) {
    hits.push({ ...index.chunks[n], score: Math.round(score * step) / step });
  }
  hits.sort((a, b) => b.score - a.score || compare(a.id, b.id));
  const best = new Map();
  for (const hit of hits) if (!best.has(hit.doc)) best.set(hit.doc, hit);
  return [...best.values()].sort((a, b) => b.score - a.score || compare(a.doc, b.doc));
}

// What is shown of a page: a title and a passage, with the words of the question marked.

function plain(markdown) {
  return markdown
    .replace(/^\s*(```.*|[|:\s-]+)$/gm, "")            // fences, rules, lines of a table's head
    .replace(/^\s*(#+|>|[-*]|\d+\.)\s+(\[.\] )?/gm, "")  // headings, quotes, items, tasks
    .replace(/!?\[([^\[\]]*)\]\([^()\s]*\)/g, "$1")    // links
    .replace(/\*+([^*\s](?:[^*\n]*[^*\s])?)\*+/g, "$1")  // emphasis
    .replace(/`/g, "")
    .replace(/[ \t]*\|[ \t]*/g, " ");
}

function startOfSentence(text, at) {
  const before = text.slice(Math.max(0, at - BEFORE), at);
  const line = before.lastIndexOf("\n");
  if (line >= 0) return at - before.length + line + 1;
  if (at <= BEFORE) return 0;
  const end = Math.max(...[". ", "? ", "! "].map((mark) => before.lastIndexOf(mark)));
  return at - before.length + (end >= 0 ? end + 2 : before.lastIndexOf(" ") + 1);
}

// Returns about WIDTH characters of a text, those with the most different wanted words.
function passage(markdown, wanted) {
  const text = plain(markdown);
  let best = { start: 0, n: 0 };
  for (const match of text.matchAll(/[\p{L}\p{N}_]+/gu)) {
    if (!wanted.has(match[0].toLowerCase())) continue;
    const stretch = text.slice(match.index, match.index + WIDTH);
    const n = new Set(words(stretch).filter((word) => wanted.has(word))).size;
    if (n > best.n) best = { start: match.index, n };
  }
  const start = startOfSentence(text, best.start);
  const end = best.start + WIDTH;
  const cut = end < text.length ? text.slice(start, end).replace(/\S*$/, "…") : text.slice(start);
  return (start ? "… " : "") + cut.replace(/\s+/g, " ").trim();
}

function element(tag, ...parts) {
  const made = document.createElement(tag);
  made.append(...parts);
  return made;
}

function marked(text, wanted) {
  return text.split(/([\p{L}\p{N}_]+)/u).map((part) =>
    wanted.has(part.toLowerCase()) ? element("mark", part) : part);
}

function wordsToMark(question) {
  const asked = words(question);
  const telling = asked.filter((word) => !TRY.function_words.includes(word));
  return new Set(telling.length ? telling : asked);
}

// Returns the text of a page, folded under its id and the words that it shares.
function wholePage(doc, wanted) {
  const [, title, text] = TRY.documents.find(([id]) => id === doc);
  const own = new Set(words(`${title} ${text}`));
  const shared = [...wanted].filter((word) => own.has(word)).join(", ");
  const line = `${doc} · shares: ${shared || "common words"}`;
  return element("details", element("summary", line), element("pre", ...marked(text, wanted)));
}

function showResults(list, hits, question) {
  const wanted = wordsToMark(question);
  const items = hits.map((hit) => {
    const title = element("strong", ...marked(hit.title || hit.doc, wanted));
    const found = element("p", ...marked(passage(hit.shown, wanted), wanted));
    const item = element("li", title, found, wholePage(hit.doc, wanted));
    item.dataset.doc = hit.doc;
    return item;
  });
  list.replaceChildren(...items);
}

function tell(question, n) {
  if (!words(question).length) return "Type a question, in words.";
  if (!n) return "No page has any of these words, and the search knows no other forms of them.";
  if (n > SHOWN) return "The first five pages:";
  return n === 1 ? "One page:" : `${n} pages:`;
}

// The page: your question, a hard one, and pairs to label.

function openSearch(index) {
  const form = document.getElementById("try-form");
  const box = document.getElementById("try-question");
  const ask = () => {
    const hits = search(index, box.value);
    document.getElementById("try-status").textContent = tell(box.value, hits.length);
    showResults(document.getElementById("try-results"), hits.slice(0, SHOWN), box.value);
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
  box.addEventListener("input", ask);
  ask();
}

function openHard(index) {
  const list = document.getElementById("try-hard");
  if (!list) return;  // a set where nothing fails
  const question = document.getElementById("try-hard-question").textContent;
  showResults(list, search(index, question).slice(0, FIRST), question);
  const asked = wordsToMark(question);
  const needed = document.getElementById("try-needed");
  needed.append(wholePage(needed.dataset.doc, asked));
  for (const mark of document.querySelectorAll("#try-needed mark, .try-words mark")) {
    mark.classList.toggle("instead", !asked.has(mark.textContent.toLowerCase()));
  }
}

function gradePair(pair, button) {
  for (const other of pair.querySelectorAll("button")) {
    other.setAttribute("aria-pressed", String(other === button));
  }
  const [yours, stored] = [button.value, pair.dataset.stored];
  const verdict = yours === stored ? "the same" : "not the same";
  pair.querySelector("[role=status]").textContent =
    `Yours ${yours}, stored ${stored}: ${verdict}.`;
  pair.querySelector(".try-evidence").hidden = false;
}

function tellAgreement(pairs) {
  const grades = pairs.map((pair) => pair.querySelector("[aria-pressed=true]"));
  if (!grades.every(Boolean)) return;
  const same = pairs.filter((pair, n) => pair.dataset.stored === grades[n].value).length;
  document.getElementById("try-agreement").textContent =
    `You and the stored labels agree on ${same} of ${pairs.length}.`;
}

function openPairs() {
  const pairs = [...document.querySelectorAll(".try-pair")];
  for (const pair of pairs) {
    for (const button of pair.querySelectorAll("button")) {
      button.addEventListener("click", () => { gradePair(pair, button); tellAgreement(pairs); });
    }
  }
}

const INDEX = buildIndex();
openSearch(INDEX);
openHard(INDEX);
openPairs();
