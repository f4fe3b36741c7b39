// The differences between two calls, place by place, as ledgerd found them.

import { make } from './element.js';

export function differenceTable(differences, left, right) {
  if (!differences || differences.length === 0) {
    return make('p', { class: 'quiet' }, 'No difference in what was written.');
  }
  const judged = differences.some((d) => d.why !== undefined);
  const head = ['where', left, right, ...(judged ? ['counts', 'why'] : [])];
  return make('div', { class: 'scroll' }, make('table', {},
    make('thead', {}, make('tr', {}, head.map((text) => make('th', { scope: 'col' }, text)))),
    make('tbody', {}, differences.map((d) => make('tr', {},
      make('td', { class: 'mono' }, d.part || d.pointer || '(the whole)'),
      side(d.a), side(d.b),
      judged && make('td', { class: d.counts ? 'bad' : 'quiet' }, d.counts ? 'yes' : 'no'),
      judged && make('td', {}, d.why, d.setting && ' (in the rule, ' + d.setting + ')'),
    )))));
}

// The texts are JSON already: a number's digits are all of them.
function side(text) {
  return text ? make('td', { class: 'mono' }, text) : make('td', { class: 'none' }, 'not there');
}
