// Translates while one types, and shows the attention weights as a table. All text is data: textContent only.
'use strict';

const source = document.getElementById('source');
const translation = document.getElementById('translation');
const state = document.getElementById('state');
const attention = document.getElementById('attention');
const MOST_DRAWN = 1000; // characters: the weights grow with their square, and so does the work of the server
let drawable = true; // false once the model has turned out to have no attention
let newest = 0; // number of the last request; older answers are dropped
let timer = null;

function element(name, text) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return made;
}

// weights[t][s] of words `target` and `source` as a table whose cells are shaded.
function draw(found) {
  attention.replaceChildren();
  if (!found) return;
  const table = element('table'), head = table.createTHead().insertRow(), body = table.createTBody();
  head.append(element('th'));
  for (const word of found.source) {
    const label = element('th', word);
    label.scope = 'col';
    label.lang = source.lang;
    head.append(label);
  }
  found.weights.forEach((row, t) => {
    const line = body.insertRow(), label = element('th', found.target[t]);
    label.scope = 'row';
    label.lang = translation.lang;
    line.append(label);
    row.forEach((weight, s) => {
      const cell = line.insertCell();
      cell.style.backgroundColor = 'rgba(var(--cell), ' + weight.toFixed(3) + ')';
      cell.title = found.target[t] + ' \u2190 ' + found.source[s] + ': ' + weight.toFixed(3);
      cell.setAttribute('aria-label', weight.toFixed(2));
    });
  });
  attention.append(table);
}

function drawNothing() {
  const most = MOST_DRAWN.toLocaleString('en');
  attention.replaceChildren(element('p', drawable ? 'Left out: the text has more than ' + most + ' characters.'
    : 'Left out: the model has no attention.'));
}

function ask(wanted) {
  return fetch('translate', {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify(wanted),
  });
}

async function translate() {
  const number = ++newest;
  const wanted = {q: source.value, source: 'auto', target: 'auto'};
  if (drawable && [...source.value].length <= MOST_DRAWN) wanted.attention = 'word';
  try {
    let answer = await ask(wanted);
    if (answer.status === 400 && wanted.attention) {
      delete wanted.attention;
      answer = await ask(wanted);
      drawable = !answer.ok;
    }
    const found = await answer.json();
    await languages;
    if (number !== newest) return;
    state.textContent = found.error || '';
    if (found.error) return;
    translation.textContent = found.translatedText;
    if (wanted.attention) draw(found.attention);
    else drawNothing();
  } catch (error) {
    if (number === newest) state.textContent = 'The server does not answer.';
  }
}

source.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(translate, 150);
});

// What the model translates; for screen readers and hyphenation, if it calls its languages by their codes.
const languages = fetch('languages').then((answer) => answer.json()).then((all) => {
  const from = all.find((language) => language.targets.length > 0);
  const to = from && all.find((language) => language.code === from.targets[0]);
  document.getElementById('languages').textContent = to ? from.name + ' \u2192 ' + to.name : '';
  const known = (language) => (/^[a-z]{2,3}(-[a-z0-9]+)*$/i.test(language.code) ? language.code : '');
  if (to) [source.lang, translation.lang] = [known(from), known(to)];
}).catch(() => {});

// The text may stand behind a # in the address, where a % is as it is if nothing that it could encode follows.
if (location.hash.length > 1) {
  source.value = location.hash.slice(1).replace(/(%[0-9a-f]{2})+/gi, (encoded) => {
    try { return decodeURIComponent(encoded); } catch (error) { return encoded; }
  });
  translate();
}
