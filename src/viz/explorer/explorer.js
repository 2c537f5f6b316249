// explorer.js - the attention explorer: reads the data block of its page and draws the view that the fragment selects.
//
// The fragment of the address is the whole state: #s=3&t=5&view=matrix is sentence 3, step 5. All text is data and enters the
// page as textContent. explain/explorer_data.h describes the JSON.
"use strict";
(function () {

// ---- the page's elements ----

const svgSpace = document.createElement("div");
svgSpace.innerHTML = "<svg></svg>";
const SVG = svgSpace.firstChild.namespaceURI;

// make("td.number", {title: "x"}, child, ...): children are elements or text.
function make(selector, attributes, ...children) {
  const [tag, ...classes] = selector.split(".");
  return fill(document.createElement(tag), classes, attributes, children);
}
function draw(selector, attributes, ...children) {
  const [tag, ...classes] = selector.split(".");
  return fill(document.createElementNS(SVG, tag), classes, attributes, children);
}
function fill(element, classes, attributes, children) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
// Untrusted text in its own direction; the markers of word starts are dimmed.
const MARKER = "\u2581";
const bdi = (text, selector, lang) => make(selector || "bdi", {dir: "auto", lang}, ...pieces(text, (marker) => make("span.mark", {}, marker)));
const pieces = (text, mark) => text.split(/(\u2581)/).map((piece) => (piece === MARKER ? mark(piece) : piece));
const tspans = (text) => pieces(text, (marker) => draw("tspan.mark", {}, marker));
const rightToLeft = (text) => /^[^A-Za-z\u00c0-\u024f]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text);
const wide = (text) => /^[\u3000-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]+$/.test(text);
const shown = (x, digits) => (Math.abs(x) < 0.5 * Math.pow(10, -digits) ? 0 : x).toFixed(digits).replace("-", "\u2212");

// ---- the data ----

// `list` has the weights in thousandths, row by row.
function weightsOf(list, columns) {
  const rows = [];
  for (let i = 0; i < list.length; i += columns) rows.push(list.slice(i, i + columns).map((x) => x / 1000));
  return rows;
}

const sum = (list) => list.reduce((a, b) => a + b, 0);
const bits = (list) => -sum(list.map((p) => (p > 0 ? p * Math.log2(p) : 0)));
const meanOf = (maps) => maps[0].map((row, t) => row.map((_, s) => sum(maps.map((map) => map[t][s])) / maps.length));

// Weights of words from weights of tokens: the sum over a word's source tokens, the mean over its target tokens.
function merged(map, rowWord, columnWord, rows, columns) {
  const size = Array(rows).fill(0), out = Array.from({length: rows}, () => Array(columns).fill(0));
  rowWord.forEach((word) => size[word]++);
  map.forEach((row, t) => row.forEach((weight, s) => out[rowWord[t]][columnWord[s]] += weight / size[rowWord[t]]));
  return out;
}

let data, state, list = [], timer = null;
const text = (i) => data.strings[i];
const sentence = () => data.sentences[state.s - 1];
const run = () => sentence().runs[state.r - 1] || sentence().runs[0];
const model = (of) => data.models[of.model];
const layersOf = (of) => model(of).layers;
// Text with the language of its side, for screen readers and hyphenation.
const SOURCE = 0, TARGET = 1;
const inLanguage = (side, text, selector) => bdi(text, selector, data.languages[side]);

// The attention maps of a run, computed once.
function mapsOf(of) {
  if (!of.maps) of.maps = of.cross.map((list) => weightsOf(list, of.source.length));
  return of.maps;
}
// Layers and heads count from 1; 0 is the mean over all.
function mapOf(of, layer, head) {
  const maps = mapsOf(of), heads = model(of).heads;
  return meanOf(maps.filter((_, i) => (!layer || Math.floor(i / heads) === layer - 1) && (!head || i % heads === head - 1)));
}
function unitsOf(of, level) {
  if (level !== "words") return {rows: of.target.map(text), columns: of.source.map(text),
    rowWord: of.target.map((_, i) => i), columnWord: of.source.map((_, i) => i)};
  return {rows: of.targetWords.map(text), columns: of.sourceWords.map(text), rowWord: of.targetWord,
    columnWord: of.sourceWord};
}
function viewOf(of, level, layer, head) {
  const units = unitsOf(of, level), map = mapOf(of, layer, head);
  units.weights = merged(map, units.rowWord, units.columnWord, units.rows.length, units.columns.length);
  return units;
}
// Coverage of the source: the mean over its tokens of their total attention, at most 1 per token.
function coverageOf(of) {
  const map = mapOf(of, 0, 0), last = of.source.length - 1;
  const shares = map[0].slice(0, last).map((_, s) => Math.min(1, sum(map.map((row) => row[s]))));
  return shares.length ? sum(shares) / shares.length : 1;
}
const entropyOf = (of) => { const map = mapOf(of, 0, 0); return sum(map.map(bits)) / map.length; };

// ---- the state and the fragment ----

const FIRST = {s: 1, r: 1, t: 0, c: 0, l: 0, h: 0, n: -1, e: 0, d: 0, a: 0, b: 0, view: "matrix", level: "words", sort: "given", min: 0,
  numbers: 0, sofar: 0};
const WORDS = {view: ["matrix", "ribbons", "heads", "beam", "compare"], level: ["words", "subwords"],
  sort: ["given", "confidence", "coverage", "entropy"]};
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

function readFragment() {
  state = Object.assign({}, FIRST, {l: data.layer || 0, h: data.head || 0, level: data.level || "words"});
  for (const part of location.hash.slice(1).split("&")) {
    const [name, value] = part.split("=");
    if (!Object.hasOwn(FIRST, name) || value === undefined) continue;
    if (WORDS[name]) state[name] = WORDS[name].includes(value) ? value : state[name];
    else if (Number.isFinite(Number(value))) state[name] = Number(value);
  }
  clampState();
}
// Moves every number into its range.
function clampState() {
  state.s = clamp(Math.round(state.s), 1, data.sentences.length);
  state.r = clamp(Math.round(state.r), 1, sentence().runs.length);
  state.l = clamp(Math.round(state.l), 0, layersOf(run()));
  state.h = clamp(Math.round(state.h), 0, model(run()).heads);
  state.t = clamp(Math.round(state.t), 0, run().target.length);
  state.c = clamp(Math.round(state.c), 0, run().source.length);
  state.min = clamp(state.min, 0, 1);
  if (!viewsOf().includes(state.view)) state.view = "matrix";
}
function writeFragment() {
  const first = Object.assign({}, FIRST, {level: data.level || "words", l: data.layer || 0, h: data.head || 0});
  const parts = Object.keys(FIRST).filter((name) => name === "s" || name === "view" || state[name] !== first[name]);
  try {
    history.replaceState(null, "", "#" + parts.map((name) => name + "=" + state[name]).join("&"));
  } catch (refused) { /* some browsers limit the number of changes; the page works without them */ }
}
function go(changes, announcement) {
  if (changes.s && changes.s !== state.s) Object.assign(state, {t: 0, c: 0, n: -1, r: 1});
  if (changes.r && changes.r !== state.r) Object.assign(state, {n: -1});
  Object.assign(state, changes);
  clampState();
  writeFragment();
  show();
  if (announcement) find("say").textContent = announcement;
}

// ---- parts of the page ----

const find = (id) => document.getElementById(id);
// Replaces the children; scroll positions and focus stay.
function replace(id, ...children) {
  const at = document.activeElement, key = at && at.closest("#" + id) && at.dataset.key;
  const scrolled = Array.from(find(id).querySelectorAll(".scroll, ol"), (box) => [box.scrollLeft, box.scrollTop]);
  find(id).replaceChildren(...children.filter((child) => child));
  find(id).querySelectorAll(".scroll, ol").forEach((box, i) => {
    if (scrolled[i]) [box.scrollLeft, box.scrollTop] = scrolled[i];
  });
  const again = key && Array.from(find(id).querySelectorAll("[data-key]")).find((element) => element.dataset.key === key);
  if (again) again.focus({preventScroll: true});
}
function choice(name, label, values, key) {
  return make("div.choice", {role: "group", "aria-label": label}, ...values.map(([value, shownAs]) =>
    make("button", {type: "button", "aria-pressed": String(state[key] === value), "data-key": name + value,
      click: () => go({[key]: value})}, shownAs)));
}
function selector(label, key, values) {
  const select = make("select", {"data-key": key, change: (event) => go({[key]: Number(event.target.value)})},
    ...values.map(([value, shownAs]) => make("option", {value, selected: state[key] === value}, shownAs)));
  return make("label", {}, make("span.soft", {}, label), select);
}

const VIEW_NAMES = {matrix: "Matrix", ribbons: "Ribbons", heads: "Layers and heads", beam: "Beam", compare: "Side by side"};
function viewsOf() {
  const has = {matrix: true, ribbons: true, heads: mapsOf(run()).length > 1 || run().encoderSelf || run().decoderSelf,
    beam: run().beam,
    compare: sentence().runs.length > 1};
  return Object.keys(has).filter((name) => has[name]);
}

function showList() {
  const key = {given: () => 0, confidence: (i) => list[i].confidence, coverage: (i) => list[i].coverage,
    entropy: (i) => -list[i].entropy}[state.sort];
  const order = list.map((_, i) => i).sort((a, b) => key(a) - key(b) || a - b);
  const sorts = make("select", {"data-key": "sort", "aria-label": "order of the sentences",
    change: (event) => go({sort: event.target.value})},
    ...[["given", "as given"], ["confidence", "least confident"], ["coverage", "least covered"],
      ["entropy", "most diffuse"]].map(([value, shownAs]) =>
      make("option", {value, selected: state.sort === value}, shownAs)));
  replace("list", make("div.row", {}, make("h2", {}, data.sentences.length + (list.length === 1 ? " sentence" : " sentences")),
    list.length > 1 ? sorts : null),
  make("p.soft.small", {}, "confidence \u00b7 coverage \u00b7 entropy"),
  make("ol", {}, ...order.map((i) => make("li", {}, make("button", {type: "button", "data-key": "s" + i,
    "aria-current": String(state.s === i + 1), click: () => go({s: i + 1})},
  inLanguage(SOURCE, data.sentences[i].text, "span.text"),
  make("span.soft.small.number", {title: "confidence, coverage of the source, entropy of the attention in bits"},
    shown(list[i].confidence, 2) + " \u00b7 " + shown(list[i].coverage, 2) + " \u00b7 " + shown(list[i].entropy, 1) +
    " bit"))))));
  const current = find("list").querySelector("[aria-current=true]"), box = find("list").querySelector("ol");
  const top = current ? current.parentNode.offsetTop - box.offsetTop : 0;
  if (top < box.scrollTop || top + 40 > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
}

const nameOf = (of) => [data.models.length > 1 ? model(of).name : null,
  {own: "its own translation", given: "the given translation", same: "the first one\u2019s translation"}[of.kind]]
  .filter((part) => part).join(", ");

function showTools() {
  const heads = model(run()).heads, layers = layersOf(run()), runs = sentence().runs;
  const number = (n, all) => [[0, all]].concat(Array.from({length: n}, (_, i) => [i + 1, String(i + 1)]));
  replace("views", ...viewsOf().map((name) => make("button", {type: "button", "aria-pressed": String(state.view === name),
    "data-key": name, click: () => go({view: name})}, VIEW_NAMES[name])));
  const slider = make("input", {type: "range", min: 0, max: 0.9, step: 0.01, "data-key": "min",
    change: (event) => go({min: Number(event.target.value)}),
    input: (event) => { /* redraws no tools, because the user is dragging the slider */
      state.min = Number(event.target.value);
      event.target.nextSibling.textContent = shown(state.min, 2);
      showStage();
    }});
  slider.value = state.min;
  replace("tools", choice("level", "rows and columns", [["words", "words"], ["subwords", "subwords"]], "level"),
    runs.length > 1 ? selector("show", "r", runs.map((one, i) => [i + 1, nameOf(one)])) : null,
    layers > 1 ? selector("layer", "l", number(layers, "mean")) : null,
    heads > 1 ? selector("head", "h", number(heads, "mean")) : null,
    make("label", {}, make("span.soft", {}, "weights from"), slider, make("output", {}, shown(state.min, 2))),
    make("label", {}, make("input", {type: "checkbox", checked: state.numbers ? "" : null, "data-key": "numbers",
      change: (event) => go({numbers: event.target.checked ? 1 : 0})}), "numbers"));
}

// ---- matrix ----

// The words of the selected step and source token, or -1.
const rowNow = (view) => (state.t > 0 ? view.rowWord[state.t - 1] : -1);
const columnNow = (view) => (state.c > 0 ? view.columnWord[state.c - 1] : -1);
const cellText = (view, r, c) => view.rows[r] + " \u2190 " + view.columns[c] + ": " + shown(view.weights[r][c], 3);
const shade = (weight) => "s" + clamp(Math.round(weight * 16), 0, 16);

function cellState(view, r, c) {
  return {t: view.rowWord.indexOf(r) + 1, c: view.columnWord.indexOf(c) + 1, sofar: 0};
}
function moveInGrid(event, view) {
  const steps = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
  const at = event.target.dataset;
  if (!steps || at.row === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const over = rightToLeft(view.columns.join(" ")) ? -steps[1] : steps[1];
  const r = clamp(Number(at.row) + steps[0], 0, view.rows.length - 1);
  const c = clamp(Number(at.column) + over, 0, view.columns.length - 1);
  find("stage").querySelector(`[data-key="cell${r},${c}"]`).focus();
  go(cellState(view, r, c), cellText(view, r, c));
}
function light(table, r, c) {
  for (const th of table.querySelectorAll("th.lit")) th.classList.remove("lit");
  for (const [axis, n] of [["row", r], ["column", c]]) {
    const th = table.querySelector(`th[data-${axis}="${n}"]`);
    if (th) th.classList.add("lit");
  }
}
function cellSize(view, width) {
  const label = Math.min(9, Math.max(...view.rows.map((row) => row.length))) * 8 + 16;
  const size = clamp(Math.floor((width - label) / view.columns.length), state.numbers ? 30 : 17, 40);
  return Math.max(17, Math.min(size, Math.max(22, Math.floor(700 / view.rows.length))));
}
// Without `pick` the cells cannot be selected.
function matrix(view, caption, width, pick) {
  const backwards = rightToLeft(view.columns.join(" ")), size = cellSize(view, width);
  const [down, across] = view.sides || [TARGET, SOURCE];
  const heads = view.columns.map((name, c) => make(wide(name) ? "th.upright" : "th",
    {scope: "col", "data-column": c, title: name}, inLanguage(across, name, "span")));
  const r0 = pick ? rowNow(view) : -1, c0 = pick ? columnNow(view) : -1;
  const rows = view.weights.map((row, r) => make(state.sofar && pick && r0 >= 0 && r > r0 ? "tr.later" : "tr", {},
    make("th", {scope: "row", "data-row": r, title: view.rows[r]}, inLanguage(down, view.rows[r], "span")),
    ...row.map((weight, c) => make("td." + shade(weight) + (weight < state.min ? ".under" : ""), {
      title: cellText(view, r, c), "data-row": r, "data-column": c, "data-key": pick ? "cell" + r + "," + c : null,
      tabindex: pick ? (r === Math.max(r0, 0) && c === Math.max(c0, 0) ? 0 : -1) : null,
      "aria-selected": pick && r === r0 && c === c0 ? "true" : null}, weight < state.min ? "" : shown(weight, 2).replace("0.", ".")))));
  const table = make(size >= 30 && state.numbers ? "table.matrix.numbers" : "table.matrix",
    {role: pick ? "grid" : null, dir: backwards ? "rtl" : "ltr", "--cell": size + "px",
      "--label": clamp(size * 0.62, 12, 15) + "px"},
    make("caption.unseen", {}, caption), make("thead", {}, make("tr", {}, make("td.corner", {}), ...heads)),
    make("tbody", {}, ...rows));
  if (pick) listen(table, view, r0, c0);
  light(table, r0, c0);
  return table;
}
function listen(table, view, r0, c0) {
  const over = (event) => {
    const at = event.target.closest("td[data-row]");
    light(table, at ? Number(at.dataset.row) : r0, at ? Number(at.dataset.column) : c0);
    const reading = find("reading");
    if (reading && at) reading.textContent = cellText(view, Number(at.dataset.row), Number(at.dataset.column));
  };
  table.addEventListener("mouseover", over);
  table.addEventListener("focusin", over);
  table.addEventListener("mouseleave", () => light(table, r0, c0));
  table.addEventListener("keydown", (event) => moveInGrid(event, view));
  table.addEventListener("click", (event) => {
    const at = event.target.closest("td[data-row]");
    if (at) go(cellState(view, Number(at.dataset.row), Number(at.dataset.column)), at.title);
  });
}
function scale() {
  return make("div.scale", {"aria-hidden": "true"}, make("span", {}, "0"),
    ...Array.from({length: 17}, (_, i) => make("i.s" + i)), make("span", {}, "1"));
}
function widthOf(id) {
  const box = find(id), style = getComputedStyle(box);
  return box.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
}
const explain = (level) => (level === "words" ?
  "A word\u2019s weight is the sum over its source tokens and the mean over its target tokens." :
  "Rows and columns are the tokens that the model reads and writes.");

function drawMatrix() {
  const view = viewOf(run(), state.level, state.l, state.h), r = rowNow(view), c = columnNow(view);
  const reading = r >= 0 && c >= 0 ? cellText(view, r, c) : "Point at a cell, or move with the arrow keys.";
  return [make("div.scroll", {}, matrix(view, "Attention weights: a row for each target " +
    (state.level === "words" ? "word" : "token") + ", a column for each of the source", widthOf("stage"), true)),
  make("p.reading.number", {id: "reading"}, bdi(reading)), scale(), make("p.soft.small", {}, explain(state.level))];
}

// ---- ribbons ----

const short = (name, most) => (Array.from(name).length > most ? Array.from(name).slice(0, most - 1).join("") + "\u2026" : name);

function drawRibbons() {
  const view = viewOf(run(), state.level, state.l, state.h), width = clamp(widthOf("stage"), 260, 760);
  const most = Math.max(view.rows.length, view.columns.length), line = most > 30 ? 19 : 24;
  const gap = width * 0.3, left = gap, right = width - gap, r0 = rowNow(view);
  const height = most * line + 8;
  const y = (i, n) => 4 + (i + 0.5) * line * most / n; /* spreads the shorter side over the height */
  const svg = draw("svg.ribbons", {width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": "Ribbons from each target word to the source words that it attends to; the same weights as in the table"});
  const lit = (side, n) => {
    svg.classList.toggle("lighted", n >= 0);
    for (const element of svg.querySelectorAll("[data-row],[data-column]"))
      element.classList.toggle("lit", n >= 0 && element.dataset[side] === String(n));
  };
  view.weights.forEach((row, r) => row.forEach((weight, c) => {
    if (weight < Math.max(state.min, 0.02)) return;
    const a = y(c, view.columns.length), b = y(r, view.rows.length), half = (left + right) / 2;
    svg.append(draw(state.sofar && r0 >= 0 && r > r0 ? "path.later" : "path",
      {d: `M${left} ${a}C${half} ${a} ${half} ${b} ${right} ${b}`, "stroke-width": (weight * line * 0.6).toFixed(1),
        "stroke-opacity": (0.2 + 0.7 * weight).toFixed(2), "data-row": r, "data-column": c, "aria-hidden": "true"},
      draw("title", {}, cellText(view, r, c))));
  }));
  const token = (name, n, count, side) => {
    const at = y(n, count), source = side === "column";
    const group = draw("g.token", {tabindex: 0, role: "button", "data-key": side + n, ["data-" + side]: n, "aria-label": name,
      mouseenter: () => lit(side, n), mouseleave: () => lit("row", r0), focus: () => lit(side, n), blur: () => lit("row", r0),
      click: () => go(source ? {c: view.columnWord.indexOf(n) + 1} : {t: view.rowWord.indexOf(n) + 1})},
    draw("rect", {x: source ? 0 : right + 4, y: at - line / 2, width: gap - 4, height: line, rx: 4}),
    draw("text", {x: source ? left - 8 : right + 8, y: at + 4.5, "text-anchor": source ? "end" : "start",
      direction: "ltr"}, ...tspans(short(name, Math.floor(gap / 9)))));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") event.preventDefault(), group.dispatchEvent(new Event("click"));
    });
    return group;
  };
  view.columns.forEach((name, c) => svg.append(token(name, c, view.columns.length, "column")));
  view.rows.forEach((name, r) => svg.append(token(name, r, view.rows.length, "row")));
  if (r0 >= 0) lit("row", r0);
  return [make("div.scroll", {}, svg), make("p.soft.small", {}, "Source on the left, translation on the right; a thicker " +
    "ribbon is a larger weight. Weights below 0.02 have no ribbon. " + explain(state.level)), unseenTable(view)];
}
function unseenTable(view) {
  return make("div.unseen", {}, matrix(view, "The weights of the picture", 400, false));
}

// ---- layers and heads ----

// One path for each shade.
function mini(map) {
  const columns = map[0].length, paths = Array(17).fill("");
  map.forEach((row, r) => row.forEach((weight, c) => {
    const n = clamp(Math.round(weight * 16), 0, 16);
    if (n > 0 && weight >= state.min) paths[n] += `M${c} ${r}h1v1h-1z`;
  }));
  return draw("svg", {viewBox: `0 0 ${columns} ${map.length}`, preserveAspectRatio: "none", "aria-hidden": "true"},
    ...paths.map((d, n) => (d ? draw("path.s" + n, {d}) : null)));
}
// A small picture of each map. The state's `key` selects one of them, or without `key` layer and head.
function multiples(maps, heads, kind, key) {
  return make("div.multiples", {}, ...maps.map((map, i) => {
    const layer = Math.floor(i / heads) + 1, head = i % heads + 1;
    const chosen = key ? state[key] === i + 1 : state.l === layer && state.h === head;
    const label = `layer ${layer}, head ${head} \u00b7 ${shown(sum(map.map(bits)) / map.length, 1)} bit`;
    return make("button", {type: "button", "data-key": kind + i, "aria-pressed": String(chosen),
      "aria-label": `${kind}, ${label}`,
      click: () => go(key ? {[key]: chosen ? 0 : i + 1} : {l: layer, h: head, view: "matrix"})},
    mini(map), label);
  }));
}
// The self-attention maps of one side, and the selected one as a matrix.
function selfMaps(self, side, rows, columns, key, title, kind, note) {
  if (!self) return [];
  if (!self.weights) self.weights = self.maps.map((list) => weightsOf(list, columns.length));
  const chosen = self.weights[state[key] - 1], each = (names) => names.map((_, i) => i);
  return [make("h2", {}, title), make("p.soft.small", {}, note), multiples(self.weights, self.heads, kind, key),
    chosen ? make("div.scroll", {}, matrix({rows, columns, sides: [side, side], weights: chosen, rowWord: each(rows),
      columnWord: each(columns)}, kind, widthOf("stage"), false)) : null];
}
function drawHeads() {
  const of = run(), source = of.source.map(text), target = of.target.map(text), written = target.slice(0, -1);
  if (of.decoderSelf && of.decoderSelf.begins) written.unshift("<s>"); // a Transformer reads it first
  return [make("h2", {}, "Cross-attention"), make("p.soft.small", {},
    "Rows are target tokens, columns are source tokens. A click shows the map as a matrix. The entropy is the mean over the rows."),
  multiples(mapsOf(of), model(of).heads, "cross-attention", null),
  ...selfMaps(of.encoderSelf, SOURCE, source, source, "e", "Self-attention of the encoder", "self-attention of the encoder",
    "Rows and columns are source tokens. A click shows the map as a matrix."),
  ...selfMaps(of.decoderSelf, TARGET, target, written, "d", "Self-attention of the decoder",
    "self-attention of the decoder",
    "Rows are target tokens, columns are the tokens before them. A click shows the map as a matrix.")];
}

// ---- beam ----

// A node is three numbers: the distance to its parent, the token, log p in hundredths.
const FATES = ["pruned", "expanded", "finished", "finished", "dropped"]; // 3: the translation; 4: outside the beam
function treeOf(of) {
  if (of.tree) return of.tree;
  const tree = [], {nodes, chosen} = of.beam;
  for (let at = 0; at < nodes.length; at += 3) {
    const i = at / 3, parent = i - Math.abs(nodes[at]), name = text(nodes[at + 1]);
    tree.push({i, parent, name, log: nodes[at + 2] / 100, fate: nodes[at] < 0 ? 4 : i === chosen ? 3 : name === "</s>" ? 2 : 0});
    if (tree[parent]) tree[parent].fate = 1;
  }
  const expanded = new Map(), rows = weightsOf(of.beamWeights, of.source.length);
  for (const node of tree) {
    const before = tree[node.parent];
    node.depth = before ? before.depth + 1 : 0;
    node.score = (before ? before.score : 0) + node.log;
    if (!expanded.has(node.parent)) expanded.set(node.parent, rows[expanded.size]);
    node.weights = expanded.get(node.parent);
  }
  return of.tree = tree;
}
function chainOf(tree, i) {
  const chain = [];
  for (; i >= 0; i = tree[i].parent) chain.unshift(tree[i]);
  return chain;
}
function drawBeam() {
  const tree = treeOf(run()), translation = tree.find((node) => node.fate === 3);
  const finished = tree.filter((node) => node.fate === 2).sort((a, b) => b.score - a.score);
  const best = translation || finished[0] || tree[0];
  const picked = tree[state.n] || best, chain = chainOf(tree, picked.i), on = new Set(chain.map((node) => node.i));
  const width = 126, high = 34, levels = [];
  tree.forEach((node) => { node.y = (levels[node.depth] = (levels[node.depth] || 0) + 1) - 1; });
  const across = levels.length * width + 8, down = Math.max(...levels) * high + 8;
  const x = (node) => 4 + node.depth * width, y = (node) => 4 + node.y * high;
  const svg = draw("svg.tree", {width: across, height: down, viewBox: `0 0 ${across} ${down}`, role: "group",
    "aria-label": "The beam: one column for each step, the best hypothesis first"});
  for (const node of tree) {
    const before = tree[node.parent];
    if (!before) continue;
    const x1 = x(before) + width - 22, y1 = y(before) + 14, x2 = x(node), y2 = y(node) + 14, half = (x1 + x2) / 2;
    svg.append(draw("path." + FATES[node.fate] + (on.has(node.i) ? ".chosen" : ""),
      {d: `M${x1} ${y1}C${half} ${y1} ${half} ${y2} ${x2} ${y2}`}));
  }
  for (const node of tree) svg.append(beamNode(node, on, node === picked, x(node), y(node), width - 22));
  svg.addEventListener("keydown", (event) => moveInTree(event, tree));
  const words = chain.map((node) => node.name), shownAs = {rows: words, columns: run().source.map(text),
    weights: chain.map((node) => node.weights), rowWord: words.map((_, i) => i), columnWord: run().source.map((_, i) => i)};
  return [make("div.scroll", {}, svg),
    make("p.small.soft", {}, "Each column is a step, best hypothesis first, with the score so far (sum of log p). Solid: expanded. " +
      "Dashed: pruned. Faint: candidates outside the beam. Thick: finished. The matrix below shows the attention of the selected hypothesis."),
    translation ? null : make("p.small", {id: "elsewhere"},
      "The translation is not in this beam: the right-to-left decoder found it."),
    make("p.sofar", {id: "hypothesis"}, inLanguage(TARGET, words.join(" "), "b"), "  " + shown(picked.score, 2)),
    make("div.scroll", {}, matrix(shownAs, "Attention of the selected hypothesis", widthOf("stage"), false)), scale()];
}
const nodeText = (node) => `${node.name}, ${FATES[node.fate]}, score ${shown(node.score, 2)}`;
// Arrow keys move to the parent, to the best child, and to the neighbours in the same step.
function moveInTree(event, tree) {
  const group = event.target.closest(".node"), node = group && tree[group.dataset.key.slice(1)];
  const beside = (by) => tree.find((other) => other.depth === node.depth && other.y === node.y + by);
  const to = node && {ArrowLeft: () => tree[node.parent], ArrowRight: () => tree.find((other) => other.parent === node.i),
    ArrowUp: () => beside(-1), ArrowDown: () => beside(1)}[event.key];
  if (!to) return;
  event.preventDefault();
  const next = to();
  if (!next) return;
  find("stage").querySelector(`[data-key="n${next.i}"]`).focus();
  go({n: next.i}, nodeText(next));
}
function beamNode(node, on, picked, x, y, width) {
  const kind = FATES[node.fate], pick = () => go({n: node.i}, nodeText(node));
  const group = draw("g.node." + kind + (on.has(node.i) ? ".chosen" : ""), {tabindex: picked ? 0 : -1, role: "button",
    "data-key": "n" + node.i, "aria-label": nodeText(node), click: pick},
  draw("title", {}, `${node.name}: log p ${shown(node.log, 2)}, score ${shown(node.score, 2)}, ${kind}`),
  draw("rect", {x, y, width, height: 28, rx: 6}),
  draw("text", {x: x + 7, y: y + 18}, ...tspans(short(node.name, wide(node.name) ? 3 : 7))),
  draw("text.score", {x: x + width - 6, y: y + 18, "text-anchor": "end"}, shown(node.score, 1)));
  group.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") event.preventDefault(), pick();
  });
  return group;
}

// ---- side by side ----

const sameLabels = (a, b) => a.length === b.length && a.every((name, i) => name === b[i]);

function drawCompare() {
  const runs = sentence().runs, width = Math.max(260, widthOf("stage") / Math.min(runs.length, 2) - 30);
  const level = state.level, views = runs.map((of) => viewOf(of, level, Math.min(state.l, layersOf(of)),
    Math.min(state.h, model(of).heads)));
  const figures = runs.map((of, i) => make("figure", {}, make("figcaption", {}, make("b", {}, nameOf(of)), make("br"),
    inLanguage(TARGET, of.text), make("span.soft.number", {}, "  " + shown(of.confidence, 2))),
  make("div.scroll", {}, matrix(views[i], nameOf(of), width, false))));
  const fits = (i, j) => i !== j && views[i] && views[j] && views[i].rows.length === views[j].rows.length &&
    sameLabels(views[i].columns, views[j].columns);
  let a = state.a - 1, b = state.b - 1;
  const alike = (i, j) => fits(i, j) && sameLabels(views[i].rows, views[j].rows);
  if (!views[a] || !views[b])
    for (const matches of [alike, fits])
      for (let i = 0; i < views.length && !fits(a, b); i++)
        for (let j = i + 1; j < views.length && !fits(a, b); j++) if (matches(i, j)) a = i, b = j;
  const options = [[0, "\u2013"]].concat(runs.map((of, i) => [i + 1, nameOf(of)]));
  Object.assign(state, {a: a + 1, b: b + 1});
  return [make("div.side", {}, ...figures), scale(),
    make("div.tools", {}, make("h2", {}, "Difference"), selector("of", "a", options), selector("from", "b", options)),
    fits(a, b) ? make("div.scroll", {}, difference(views[a], views[b])) : make("p.soft.small", {},
      "Only maps of the same size have a difference: choose words, or two maps of the same translation.")];
}
function difference(a, b) {
  const rows = a.rows.map((name, r) => (name === b.rows[r] ? name : name + " / " + b.rows[r]));
  const view = Object.assign({}, a, {rows, weights: a.weights.map((row, r) => row.map((weight, c) => weight - b.weights[r][c]))});
  const threshold = state.min;
  state.min = 0;
  const table = matrix(Object.assign({}, view), "Difference of the weights", widthOf("stage"), false);
  state.min = threshold;
  table.classList.add("difference");
  for (const td of table.querySelectorAll("td[data-row]")) {
    const by = view.weights[td.dataset.row][td.dataset.column];
    const part = Math.round(Math.abs(by) * 55); // per cent of the colour; numbers on a stronger colour would be hard to read
    td.className = by >= 0 ? "more" : "less";
    td.style.setProperty("--part", (Math.abs(by) < Math.max(threshold, 0.005) ? 0 : part) + "%");
    td.title = td.title.replace(/: [^:]*$/, ": " + (by >= 0 ? "+" : "") + shown(by, 3));
  }
  return table;
}

// ---- one step ----

const stepNow = () => Math.max(1, state.t);
const halt = () => { clearInterval(timer); timer = null; };
function step(by) {
  const t = clamp((state.t || (by > 0 ? 0 : 2)) + by, 1, run().target.length);
  go({t, sofar: 1, view: state.view === "beam" ? "matrix" : state.view}, stepText(t));
}
function stepText(t) {
  const of = run(), map = mapOf(of, state.l, state.h)[t - 1], s = map.indexOf(Math.max(...map));
  return `Step ${t} of ${of.target.length}: ${text(of.target[t - 1])}, probability ` +
    `${shown(Math.exp(of.log[t - 1] / 1000), 2)}, attends most to ${text(of.source[s])}, ${shown(map[s], 2)}`;
}
function play() {
  if (timer) return halt(), showStep();
  if (state.t >= run().target.length) state.t = 0;
  timer = setInterval(() => (state.t >= run().target.length ? (halt(), showStep()) : step(1)), 900);
  step(1);
}
function showStep() {
  const of = run(), t = stepNow(), i = t - 1, n = of.target.length, map = mapOf(of, state.l, state.h)[i];
  const button = (key, label, sign, act, shortcut) => make("button", {type: "button", "data-key": key, "aria-label": label,
    "aria-keyshortcuts": shortcut, title: shortcut ? `${label} (${shortcut.replace("Arrow", "").toLowerCase()})` : label, click: act}, sign);
  const best = of.best ? of.best[i] : [];
  const facts = [["probability", shown(Math.exp(of.log[i] / 1000), 3)],
    ["score so far (sum of log p)", shown(sum(of.log.slice(0, t)) / 1000, 3)],
    of.entropy ? ["entropy of the next token", shown(of.entropy[i] / 1000, 2) + " bit"] : null,
    ["entropy of the attention", shown(bits(map), 2) + " bit"]].filter((fact) => fact);
  const rows = [];
  for (let k = 0; k < best.length; k += 2) rows.push(bestRow(text(best[k]), best[k + 1] / 10000, best[k] === of.target[i]));
  replace("step", make("h2", {}, "Step by step"),
    make("div.steps", {}, button("first", "first step", "\u21e4", () => (halt(), go({t: 1, sofar: 1}, stepText(1)))),
      button("back", "previous step", "\u2190", () => (halt(), step(-1)), "ArrowLeft"),
      button("play", timer ? "stop" : "play", timer ? "\u25a0" : "\u25b6", play, "P"),
      button("on", "next step", "\u2192", () => (halt(), step(1)), "ArrowRight"),
      button("all", "all steps", "\u21e5", () => (halt(), go({sofar: 0}))), make("output", {}, `${t} / ${n}`)),
    make("p.sofar", {dir: "auto"}, inLanguage(TARGET, spelled(of, i)), " ", inLanguage(TARGET, text(of.target[i]), "b")),
    make("dl.facts", {}, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd.number", {}, value)])),
    best.length ? make("h3", {}, "The ten best next tokens") : null,
    best.length ? make("table.best", {}, make("caption.unseen", {}, "Best next tokens"), make("tbody", {}, ...rows)) : null,
    whatIf(of, i));
}
function spelled(of, steps) {
  const words = of.target.slice(0, steps).map(text);
  return words.length ? words.join(" ") : "";
}
function bestRow(name, p, taken) {
  return make("tr" + (taken ? ".taken" : ""), {}, make("td.name", {title: name}, inLanguage(TARGET, name)),
    make("td", {}, draw("svg", {viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true"},
      draw("rect", {x: 0, y: 1, width: Math.max(0.5, 100 * p).toFixed(1), height: 8}))),
    make("td.value.number", {}, shown(p, 4)));
}
function whatIf(of, i) {
  const other = of.otherwise && of.otherwise[i];
  if (!other) return null;
  const [token, rest, log] = other;
  return make("div.if", {}, make("h3", {}, "What if"), make("p", {}, "With ", inLanguage(TARGET, text(token), "b"), " here: ",
    inLanguage(TARGET, text(rest), "span"), make("span.soft.number", {}, "  score " + shown(log / 1000, 2) +
    " instead of " + shown(sum(of.log) / 1000, 2))));
}

// ---- the formula in numbers ----

const cells = (values, digits) => values.map((x) => make("td.number", {}, shown(x, digits)));
const subscript = (n) => String(n).replace(/[0-9]/g, (d) => String.fromCharCode(0x2080 + Number(d)));

function showFormula() {
  const of = run(), heads = model(of).heads, i = stepNow() - 1, map = mapOf(of, state.l, state.h)[i];
  const all = of.formula || [], layer = state.l || layersOf(of), head = state.h || 1;
  const index = (layer - 1) * heads + head - 1, one = all.find((entry) => entry.map === index) || all[0];
  if (!one) return replace("formula", make("h2", {}, "The formula in numbers"), make("p.soft.small", {}, "The page has no numbers of this model."));
  const get = (name) => one[name] || null;
  const scores = get("scores");
  const s = Math.min(state.c > 0 ? state.c - 1 : map.indexOf(Math.max(...map)), scores[i].length - 1);
  const where = layersOf(of) * heads > 1 ?
    `layer ${Math.floor(one.map / heads) + 1}, head ${one.map % heads + 1}` : null;
  const top = Math.max(...scores[i]), powers = scores[i].map((x) => Math.exp(x - top)), total = sum(powers);
  const weights = powers.map((x) => x / total);
  replace("formula", make("h2", {}, "The formula in numbers"), make("p.small.soft", {}, "Token ", inLanguage(TARGET, text(of.target[i]), "b"),
    " attends to token ", inLanguage(SOURCE, text(of.source[s]), "b"), where ? ", " + where + (one.map === index ? "" : " (the page has no numbers of the selected one; heatmap --layer and --head select it)") : null),
  make("div.formula", {}, scorePart(of, one, get, i, s, scores[i][s]), softmaxPart(of, s, scores[i], top, powers, total, weights),
    contextPart(of, get, i, weights, map)));
}
function numbersTable(caption, head, rows) {
  return make("div.numbers", {}, make("table", {}, make("caption.unseen", {}, caption), head ?
    make("thead", {}, make("tr", {}, ...head.map((name) => make("th", {scope: "col"}, name)))) : null, make("tbody", {}, ...rows)));
}
const line = (name, values, digits, kind) => make("tr" + (kind || ""), {}, make("th", {scope: "row"}, name), ...cells(values, digits));

// Each score function: the formula, and the terms of its sum, one for each component.
const pairs = (a, b, f) => a.map((x, i) => f(x, b[i]));
const product = (x) => pairs(x.q, x.k, (q, k) => q * k);
const SCORES = {
  additive: {formula: "a(q, k) = v \u00b7 tanh(W q + U k)", lines: [["W q", "q"], ["U k", "k"], ["v", "v"]],
    terms: (x) => x.q.map((q, i) => x.v[i] * Math.tanh(q + x.k[i])), term: "v tanh(W q + U k)"},
  concat: {formula: "a(q, k) = v \u00b7 tanh(W [q; k])", lines: [["W\u2081 q", "q"], ["W\u2082 k", "k"], ["v", "v"]],
    terms: (x) => x.q.map((q, i) => x.v[i] * Math.tanh(q + x.k[i])), term: "v tanh(W\u2081 q + W\u2082 k)"},
  dot: {formula: "a(q, k) = q \u00b7 k", terms: product, term: "q k"},
  scaled_dot: {formula: "a(q, k) = q \u00b7 k / \u221ad", terms: (x) => product(x).map((y) => y / Math.sqrt(x.d)),
    term: "q k / \u221ad"},
  general: {formula: "a(q, k) = q \u00b7 W k", lines: [["q", "q"], ["W k", "k"]], terms: product, term: "q (W k)"},
  cosine: {formula: "a(q, k) = b q \u00b7 k / (|q| |k|)", lines: [["q / |q|", "q"], ["k / |k|", "k"]],
    terms: (x) => product(x).map((y) => y * x.b), term: "b q k / (|q| |k|)"},
  distance: {formula: "a(q, k) = \u2212|q \u2212 k|\u00b2 / 2", terms: (x) => pairs(x.q, x.k, (q, k) => -(q - k) * (q - k) / 2),
    term: "\u2212(q \u2212 k)\u00b2 / 2"},
  bare_cosine: {formula: "a(q, k) = q \u00b7 k / (|q| |k|)", lines: [["q / |q|", "q"], ["k / |k|", "k"]],
    terms: product, term: "q k / (|q| |k|)"},
  sum: {formula: "a(q, k) = sum of q + k", terms: (x) => pairs(x.q, x.k, (q, k) => q + k), term: "q + k"},
  location: {formula: "a(q, k) = (W q)[position of k]", lines: [["W q", "q"]]},
};
function scorePart(of, one, get, i, s, score) {
  const kind = one.score || model(of).score, form = SCORES[kind] || {formula: one.law || kind};
  const x = {q: get("q") && get("q")[i], k: get("k") && get("k")[s], v: get("v") && get("v")[0], b: one.b || 1, d: one.size};
  const rows = [];
  if (form.terms && x.q && x.k) {
    for (const [name, key] of form.lines || [["q", "q"], ["k", "k"]]) rows.push(line(name, x[key].slice(0, x.q.length), 3));
    const terms = form.terms(x), rest = score - sum(terms);
    rows.push(line(form.term, terms, 3, ".this"));
    rows.push(make("tr.sum", {}, make("th", {scope: "row"}, "a(q, k)"), make("td.number", {colspan: terms.length},
      `${shown(sum(terms), 3)} + ${shown(rest, 3)} of ${one.size - terms.length} more = ${shown(score, 3)}`)));
  } else {
    if (x.q) rows.push(line(form.lines ? form.lines[0][0] : "q", x.q, 3));
    rows.push(make("tr.sum", {}, make("th", {scope: "row"}, "a(q, k)"), make("td.number", {colspan: 8}, shown(score, 3))));
  }
  const head = x.q && [""].concat(x.q.map((_, n) => String(n + 1)));
  return make("div", {}, make("p.law", {}, form.formula), kind === "cosine" ? make("p.small.soft", {}, "b = " + shown(x.b, 3)) : null,
    numbersTable("The score, component by component", head, rows));
}
function softmaxPart(of, s, scores, top, powers, total, weights) {
  const order = scores.map((_, i) => i).sort((a, b) => scores[b] - scores[a]).slice(0, 4);
  if (!order.includes(s)) order.push(s);
  const rows = order.map((i) => make("tr" + (i === s ? ".this" : ""), {}, make("th", {scope: "row"}, inLanguage(SOURCE, text(of.source[i]))),
    ...cells([scores[i], powers[i], weights[i]], 3)));
  const left = scores.length - order.length;
  if (left > 0) rows.push(make("tr", {}, make("th", {scope: "row"}, `${left} more`), make("td", {}),
    ...cells([total - sum(order.map((i) => powers[i])), 1 - sum(order.map((i) => weights[i]))], 3)));
  rows.push(make("tr.sum", {}, make("th", {scope: "row"}, "sum"), make("td", {}), ...cells([total, 1], 3)));
  return make("div", {}, make("p.law", {}, "\u03b1\u1d62 = exp(a\u1d62) / \u03a3\u2c7c exp(a\u2c7c)"),
    numbersTable("The softmax", ["", "a", "exp(a \u2212 " + shown(top, 2) + ")", "\u03b1"], rows));
}
function contextPart(of, get, i, weights, map) {
  const values = get("values"), context = get("context");
  if (!values) return null;
  const order = weights.map((_, s) => s).sort((a, b) => weights[b] - weights[a]).slice(0, 3), n = values[0].length;
  const rows = order.map((s) => line(make("span", {}, shown(weights[s], 3) + " \u00b7 v of ", inLanguage(SOURCE, text(of.source[s]))),
    values[s].map((x) => weights[s] * x), 3));
  const whole = Array.from({length: n}, (_, c) => sum(weights.map((w, s) => w * values[s][c])));
  if (weights.length > order.length)
    rows.push(line(`${weights.length - order.length} more`, whole.map((x, c) => x - sum(order.map((s) => weights[s] * values[s][c]))), 3));
  rows.push(line("c", context ? context[i] : whole, 3, ".sum"));
  return make("div", {}, make("p.law", {}, "c = \u03a3\u1d62 \u03b1\u1d62 v\u1d62"),
    numbersTable("The context, component by component", [""].concat(whole.map((_, c) => String(c + 1))), rows));
}

// ---- the whole page ----

const DRAW = {matrix: drawMatrix, ribbons: drawRibbons, heads: drawHeads, beam: drawBeam, compare: drawCompare};

const showStage = () => replace("stage", ...DRAW[state.view]());

function show() {
  find("explorer").classList.toggle("long", run().source.length > 36);
  showList();
  showTools();
  replace("title", inLanguage(SOURCE, sentence().text, "p.source"), inLanguage(TARGET, run().text || "\u2013", "p.target"),
    make("p.soft.small.number", {}, "confidence " + shown(run().confidence, 2) + ", coverage " + shown(coverageOf(run()), 2) +
      ", attention entropy " + shown(entropyOf(run()), 2) + " bit"));
  showStage();
  showStep();
  showFormula();
}
function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
  const act = {ArrowRight: () => step(1), ArrowLeft: () => step(-1), // up and down scroll the page
    Escape: () => go({sofar: 0, t: 0, c: 0}), p: play}[event.key];
  if (!act || (event.target.closest(".scroll") && event.key.startsWith("Arrow"))) return;
  event.preventDefault();
  if (event.key !== "p") halt();
  act();
}
function load(contents) {
  data = contents;
  data.languages = data.languages.map((name) => (/^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(name) ? name : "")); // only codes
  list = data.sentences.map(({runs: [of]}) => ({confidence: of.confidence, coverage: coverageOf(of), entropy: entropyOf(of)}));
  find("explorer").hidden = data.sentences.length === 0;
  if (data.sentences.length === 0) return;
  readFragment();
  show();
}

// The data is zlib's format in base64. Browsers without DecompressionStream (before 2020 or 2023) show the static pictures.
async function unpacked(text) {
  const stream = new DecompressionStream("deflate"), writer = stream.writable.getWriter();
  writer.write(Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0)));
  writer.close();
  return new Response(stream.readable).json();
}
unpacked(find("data").textContent).then((contents) => {
  find("still").hidden = true;
  load(contents);
  document.addEventListener("keydown", keys);
  window.addEventListener("hashchange", () => { readFragment(); show(); });
  let resized = 0;
  window.addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(show, 150); });
});
})();
