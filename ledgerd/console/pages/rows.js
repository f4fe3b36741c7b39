// The newest rows, and one row with what happened to it.

import { get, tell } from './api.js';
import { byId, facts, make, outcomeOf, rowLink, runsOf, short, time } from './element.js';
import { oneLine, write } from './json.js';

export function showRows(rows) {
  byId('rows').tBodies[0].replaceChildren(...(rows || []).map((row) => make('tr', {},
    make('td', {}, time(row.arrived)),
    make('td', {}, outcomeOf(row.state)),
    make('td', {}, row.tool || ''),
    make('td', { class: 'mono' }, runsOf(row.runs)),
    make('td', { class: 'mono' }, oneLine(row.action?.args ?? row.action)),
    make('td', { class: 'mono' }, row.attempt ? make('a', { href: rowLink(row.attempt, row.intent) }, short(row.attempt)) : row.hold ? 'hold ' + short(row.hold) : ''),
  )));
}

export async function showRow(id) {
  byId('row-id').value = id;
  const [, attempt, intent] = /^(.*)@([0-9a-f]{64})$/s.exec(id) || [id, id, ''];
  const row = await tell(() => get('/api/rows/' + encodeURIComponent(attempt) + (intent && '?intent=' + intent)));
  if (!row) return byId('row').replaceChildren();
  const { history = [], audit = [], fenced_commits: fenced = [], action, runs, ...rest } = row;
  byId('row').replaceChildren(make('article', { class: 'card' },
    make('h3', {}, (row.tool || 'call') + ' — ', outcomeOf(row.state)),
    fenced.length > 0 && make('p', { class: 'bad' }, 'A result came that was not taken: this call may have executed twice. At ', fenced.map((at) => [time(at), ' ']).flat()),
    facts([['runs', runsOf(runs)], ...Object.entries(rest).map(([name, value]) => [name.replaceAll('_', ' '), typeof value === 'string' ? value : write(value)])]),
    make('pre', {}, write(action) || 'The call is not stored.'),
    happenings('What happened', history.map((h) => [time(h.at), outcomeOf(h.state), h.why])),
    happenings('What people answered', audit.map((a) => [time(a.at), outcomeOf(a.what), a.by, a.reason || ''])),
  ));
}

function happenings(caption, rows) {
  if (rows.length === 0) return null;
  return make('table', {}, make('caption', {}, caption),
    make('tbody', {}, rows.map((cells) => make('tr', {}, cells.map((cell) => make('td', {}, cell))))));
}
