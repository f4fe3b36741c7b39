// Calls in doubt, and what a human found out about them.

import { get, post, tell } from './api.js';
import { byId, facts, make, notice, rowLink, runsOf, time } from './element.js';
import { parse, write } from './json.js';

export async function showDoubts(changed) {
  const { in_doubt: doubts } = await get('/api/in-doubt');
  const badge = byId('doubts-count');
  badge.textContent = doubts.length;
  badge.classList.toggle('some', doubts.length > 0);
  const list = byId('doubts-list');
  if (list.contains(document.activeElement) && document.activeElement.matches('input, textarea')) return; // somebody writes
  list.replaceChildren(...doubts.map((doubt) => card(doubt, changed)));
  if (doubts.length === 0) list.append(make('p', { class: 'quiet' }, 'No call is in doubt.'));
}

function card(doubt, changed) {
  const id = doubt.attempt;
  const reason = make('input', { class: 'reason', placeholder: 'reason, for the audit (optional)', id: 'why-' + id });
  const result = make('textarea', { rows: 3, id: 'result-' + id, placeholder: '{"refund_id": "…"}' });
  const send = async (body) => {
    const done = await tell(() => post('/api/in-doubt/' + encodeURIComponent(id) + '/resolve', { ...body, reason: reason.value }));
    if (done) notice((body.as === 'released' ? 'It did not happen.' : 'It happened.') + ' ' + done.next, true);
    document.activeElement?.blur();
    changed();
  };
  const happened = () => tell(async () => {
    const text = result.value.trim();
    if (text) parse(text); // what is wrong with it is said here, not at the ledger
    await send(text ? { as: 'committed', result: { body: text, headers: { 'content-type': 'application/json' } } } : { as: 'committed' });
  });
  const wait = new Date(doubt.releasable_after) - Date.now();
  return make('article', { class: 'card' },
    make('h3', {}, doubt.tool || 'call'),
    facts([
      ['attempt', make('a', { href: rowLink(id, doubt.intent) }, id)], ['rule', doubt.rule], ['runs', runsOf(doubt.runs)],
      ['fingerprint', make('code', {}, doubt.fingerprint)],
      ['execution began', time(doubt.granted)], ['in doubt since', time(doubt.since)],
      ['can be said not to have happened', wait > 0 ? ['from ', time(doubt.releasable_after)] : 'now'],
    ]),
    make('pre', {}, write(doubt.action) || 'The body is not stored.'),
    make('label', { for: result.id }, 'Its result, where it happened and is known (JSON)'), result,
    make('div', { class: 'bar' }, make('label', { for: reason.id, class: 'quiet' }, 'Reason'), reason,
      make('button', { type: 'button', onclick: happened, title: 'Later calls get the result above, or are told that it happened.' }, 'It happened'),
      make('button', { type: 'button', class: 'danger', onclick: () => send({ as: 'released' }), title: 'The next call executes.' }, 'It did not happen')));
}
