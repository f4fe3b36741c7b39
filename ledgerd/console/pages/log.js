// The live log: what arrived on the left, what the ledger did about it on the right.

import { byId, make, outcomeOf, rowLink, short, time } from './element.js';
import { oneLine } from './json.js';

const most = 300; // lines that are kept

const words = {
  arrive: '', extend: 'lives', commit: 'committed', fail: 'failed', hold_answer: 'hold answered', resolve: 'resolved',
  expire: 'time passed', reset: 'reset',
};

const tools = new Map(); // attempt or hold → the tool, for lines that say nothing of it

const calls = new Map(); // fingerprint → the call as its first caller wrote it, for events do not carry one

// learnCalls remembers what rows say of their calls, and adds it to the lines that came before the rows.
export function learnCalls(rows) {
  for (const row of rows || []) if (row.action !== undefined) calls.set(row.fingerprint, row.action);
  while (calls.size > 2 * most) calls.delete(calls.keys().next().value);
  for (const place of byId('log').querySelectorAll('[data-call]:empty')) showCall(place);
}

function showCall(place) {
  const call = calls.get(place.dataset.call);
  if (call !== undefined) place.textContent = oneLine(call?.args ?? call);
  return place;
}

// toolOf gives the tool of an event, its own or that of the arrival with its attempt or hold.
function toolOf(event) {
  const ids = [event.attempt, event.hold].filter(Boolean);
  const tool = event.tool || ids.map((id) => tools.get(id)).find(Boolean);
  if (tool) for (const id of ids) tools.set(id, tool);
  while (tools.size > 2 * most) tools.delete(tools.keys().next().value);
  return tool;
}

export function addEvent(event) {
  if (byId('log-pause').checked || event.kind === 'extend' && !byId('log-beats').checked) return;
  const body = byId('log').tBodies[0];
  body.querySelector('tr.none')?.remove();
  body.prepend(line(event));
  while (body.rows.length > most) body.lastElementChild.remove();
}

function line(event) {
  const tool = toolOf(event);
  return make('tr', { class: 'new' },
    make('td', {}, time(event.at)),
    event.kind === 'arrive'
      ? make('td', {}, make('b', {}, tool || 'call'), ' run ', make('code', {}, event.run || 'absent'), showCall(make('div', { class: 'mono quiet', data: { call: event.fingerprint || '' } })))
      : make('td', { class: 'quiet' }, tool || '–'),
    make('td', {}, [words[event.kind] ?? event.kind, ' '], event.outcome && event.outcome !== words[event.kind] && outcomeOf(event.outcome)),
    make('td', { class: 'mono' },
      event.attempt && make('a', { href: rowLink(event.attempt, event.intent), title: 'attempt ' + event.attempt }, short(event.attempt)),
      event.hold && make('div', {}, make('a', { href: '#holds', title: 'hold ' + event.hold }, 'hold ' + short(event.hold))),
      event.fingerprint && make('div', { class: 'quiet', title: event.fingerprint }, short(event.fingerprint))));
}

export function showCounters(counters) {
  const first = ['arrivals', 'executed', 'coalesced', 'replays', 'held', 'failed', 'in_doubt', 'denied', 'not_sent', 'refused', 'fenced_commits'];
  // The others are shown once there is something to see.
  const others = Object.keys(counters).filter((name) => !first.includes(name) && counters[name] !== 0).sort();
  const names = [...first.filter((name) => name in counters), ...others];
  const titles = { granted: 'allowed to execute', unknown: 'outcome unknown', extends: 'signs of life', fenced: 'came too late', in_doubt: 'told in doubt' };
  byId('counters').replaceChildren(...names.map((name) => make('div', {},
    make('dt', {}, titles[name] || name.replaceAll('_', ' ')), make('dd', {}, String(counters[name])))));
}

export function wireLog() {
  byId('log-clear').addEventListener('click', () => byId('log').tBodies[0].replaceChildren());
}
