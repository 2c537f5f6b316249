// Translates while the user types, and shows the attention weights as a table. All text is data: textContent only.
'use strict';

const source = document.getElementById('source');
const translation = document.getElementById('translation');
const state = document.getElementById('state');
const attention = document.getElementById('attention');
const MAX_DRAWN = 1000; // characters; the size of the table grows with their square
let drawable = true; // false if the model has no attention
let newest = 0; // number of the latest request; older answers are ignored
let timer = null;

function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Draws weights[t][s] of the words `target` and `source` as a table with coloured cells.
function draw(map) {
  attention.replaceChildren();
  if (!map) return;
  const table = element('table'), head = table.createTHead().insertRow(), body = table.createTBody();
  head.append(element('th'));
  for (const word of map.source) {
    const label = element('th', word);
    label.scope = 'col';
    label.lang = source.lang;
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

function post(request) {
  return fetch('translate', {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify(request),
  });
}

async function translate() {
  const number = ++newest;
  const request = {q: source.value, source: 'auto', target: 'auto'};
  if (drawable && [...source.value].length <= MAX_DRAWN) request.attention = 'word';
  try {
    let answer = await post(request);
    if (answer.status === 400 && request.attention) {
      delete request.attention;
      answer = await post(request);
      drawable = !answer.ok;
    }
    const result = await answer.json();
    await languages;
    if (number !== newest) return;
    state.textContent = result.error || '';
    if (result.error) return;
    translation.textContent = result.translatedText;
    if (request.attention) draw(result.attention);
    else drawReason();
  } catch (error) {
    if (number === newest) state.textContent = 'The server does not answer.';
  }
}

source.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(translate, 150);
});

// The languages of the model; screen readers and hyphenation use them if they are language codes.
const languages = fetch('languages').then((answer) => answer.json()).then((all) => {
  const from = all.find((language) => language.targets.length > 0);
  const to = from && all.find((language) => language.code === from.targets[0]);
  document.getElementById('languages').textContent = to ? from.name + ' \u2192 ' + to.name : '';
  const known = (language) => (/^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(language.code) ? language.code : '');
  if (to) [source.lang, translation.lang] = [known(from), known(to)];
}).catch(() => {});

// The fragment of the address can contain a text. A % that encodes nothing stays a %.
if (location.hash.length > 1) {
  source.value = location.hash.slice(1).replace(/(%[0-9a-f]{2})+/gi, (encoded) => {
    try { return decodeURIComponent(encoded); } catch (error) { return encoded; }
  });
  translate();
}
