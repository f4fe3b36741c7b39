// The newest rows, and one row with what happened to it.

import { get, tell } from './api.js';
import { byId, facts, make, outcomeOf, short, time } from './element.js';
import { oneLine, write } from './json.js';

export function showRows(rows) {
  byId('rows').tBodies[0].replaceChildren(...(rows || []).map((row) => make('tr', {},
    make('td', {}, time(row.arrived)),
    make('td', {}, outcomeOf(row.state)),
    make('td', {}, row.tool || ''),
    make('td', { class: 'mono' }, (row.runs || []).join(', ') || 'absent'),
    make('td', { class: 'mono' }, oneLine(row.action)),
    make('td', { class: 'mono' }, row.attempt ? make('a', { href: '#rows/' + row.attempt }, short(row.attempt)) : row.hold ? 'hold ' + short(row.hold) : ''),
  )));
}

export async function showRow(attempt) {
  byId('row-id').value = attempt;
  const row = await tell(() => get('/api/rows/' + encodeURIComponent(attempt)));
  if (!row) return byId('row').replaceChildren();
  const { history = [], action, runs, ...rest } = row;
  byId('row').replaceChildren(make('article', { class: 'card' },
    make('h3', {}, (row.tool || 'call') + ' — ', outcomeOf(row.state)),
    facts([['runs', (runs || []).join(', ') || 'absent'], ...Object.entries(rest).map(([name, value]) => [name.replaceAll('_', ' '), typeof value === 'string' ? value : write(value)])]),
    make('pre', {}, write(action) || 'The body is not stored.'),
    history.length > 0 && make('table', {}, make('caption', {}, 'What happened'),
      make('tbody', {}, history.map((entry) => make('tr', {},
        make('td', {}, entry.at ? time(entry.at) : ''),
        make('td', {}, outcomeOf(entry.what || entry.kind || entry.state || '')),
        make('td', { class: 'mono' }, Object.entries(entry).filter(([name]) => !['at', 'what', 'kind', 'state'].includes(name))
          .map(([name, value]) => name.replaceAll('_', ' ') + ' ' + (typeof value === 'string' ? value : write(value))).join(', ')))))),
  ));
}
