// Translates while the user types, and shows the attention weights as a table. All text is data: textContent only.
'use strict';

const source = document.getElementById('source');
const translation = document.getElementById('translation');
const state = document.getElementById('state');
const attention = document.getElementById('attention');
const from = document.getElementById('from');
const to = document.getElementById('to');
const swap = document.getElementById('swap');
const AUTO = 'auto', AUTO_NAME = 'Detect language';
const MAX_DRAWN = 1000; // characters; the size of the table grows with their square
let all = []; // the answer of GET /languages
let detected = null; // code of the language of the text, if the menu says "Detect language"
let drawable = true; // false if the model has no attention
let newest = 0; // number of the latest request; older answers are ignored
let timer = null;

function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Draws weights[t][s] of the words `target` and `source` as a table with coloured cells. The columns of a pivot are
// words of the text between the models, whose language is not told.
function draw(map, pivot) {
  const columns = pivot === undefined ? source.lang : '';
  attention.replaceChildren();
  if (!map) return;
  if (pivot !== undefined) attention.append(element('p', 'By way of another language: ' + pivot));
  const table = element('table'), head = table.createTHead().insertRow(), body = table.createTBody();
  head.append(element('th'));
  for (const word of map.source) {
    const label = element('th', word);
    label.scope = 'col';
    label.lang = columns;
    head.append(label);
  }
  map.weights.forEach((row, t) => {
    const line = body.insertRow(), label = element('th', map.target[t]);
    label.scope = 'row';
    label.lang = translation.lang;
    line.append(label);
    row.forEach((weight, s) => {
      const cell = line.insertCell();
      cell.style.backgroundColor = 'rgba(var(--cell), ' + weight.toFixed(3) + ')';
      cell.title = map.target[t] + ' \u2190 ' + map.source[s] + ': ' + weight.toFixed(3);
      cell.setAttribute('aria-label', weight.toFixed(2));
    });
  });
  attention.append(table);
}

function drawReason() {
  const most = MAX_DRAWN.toLocaleString('en');
  attention.replaceChildren(element('p', drawable ? 'No attention: the text has more than ' + most + ' characters.'
    : 'No attention: the model has none.'));
}

// ---- languages ----

const find = (code) => all.find((language) => language.code === code);
const targetsOf = (code) => (code === AUTO ? [...new Set(all.flatMap((language) => language.targets))]
  : find(code) ? find(code).targets : []);
const sourceCode = () => (from.value === AUTO ? detected : from.value);

// Fills a menu with languages, and selects `code` if it is among them.
function fill(menu, codes, code) {
  menu.replaceChildren(...codes.map((value) => {
    const option = element('option', value === AUTO ? AUTO_NAME : find(value).name);
    option.value = value;
    return option;
  }));
  if (codes.includes(code)) menu.value = code;
}

// Screen readers and hyphenation use the languages, if they are language codes.
function setLanguages() {
  const known = (code) => (/^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(code || '') ? code : '');
  [source.lang, translation.lang] = [known(sourceCode()), known(to.value)];
  swap.disabled = !(sourceCode() && targetsOf(to.value).includes(sourceCode()));
}

function setDetected(code) {
  detected = code;
  const option = from.options[0];
  if (option && option.value === AUTO)
    option.textContent = find(code) ? find(code).name + ' (detected)' : AUTO_NAME;
}

function changed() {
  setDetected(null);
  fill(to, targetsOf(from.value), to.value);
  drawable = true;
  setLanguages();
  translate();
}

from.addEventListener('change', changed);
to.addEventListener('change', changed);

// Each language takes the other's place, and the translation becomes the text.
swap.addEventListener('click', () => {
  const target = sourceCode();
  [from.value, source.value] = [to.value, translation.textContent];
  fill(to, targetsOf(from.value), target);
  changed();
});

const ready = Promise.all(['languages', 'frontend/settings'].map((path) => fetch(path).then((answer) => answer.json())))
  .then(([languages, settings]) => {
    const {source: first, target} = settings.language;
    all = languages;
    const sources = all.filter((language) => language.targets.length > 0).map((language) => language.code);
    fill(from, first.code === AUTO ? [AUTO, ...sources] : sources, first.code);
    fill(to, targetsOf(from.value), target.code);
    setLanguages();
  }).catch(() => { state.textContent = 'The server does not answer.'; });

// ---- translating ----

function post(request) {
  return fetch('translate', {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify(request),
  });
}

function show(result, request) {
  state.textContent = result.error || '';
  if (result.error) return;
  if (result.detectedLanguage) setDetected(request.q ? result.detectedLanguage.language : null);
  translation.textContent = result.translatedText;
  setLanguages();
  if (request.attention) draw(result.attention, result.pivot);
  else drawReason();
}

async function translate() {
  const number = ++newest;
  await ready;
  const request = {q: source.value, source: from.value, target: to.value};
  if (drawable && [...source.value].length <= MAX_DRAWN) request.attention = 'word';
  try {
    let answer = await post(request);
    if (answer.status === 400 && request.attention) {
      delete request.attention;
      answer = await post(request);
      drawable = !answer.ok;
    }
    const result = await answer.json();
    if (number === newest) show(result, request);
  } catch (error) {
    if (number === newest) state.textContent = 'The server does not answer.';
  }
}

source.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(translate, 150);
});

// The fragment of the address can contain a text. A % that encodes nothing stays a %.
if (location.hash.length > 1) {
  source.value = location.hash.slice(1).replace(/(%[0-9a-f]{2})+/gi, (encoded) => {
    try { return decodeURIComponent(encoded); } catch (error) { return encoded; }
  });
  translate();
}
