// Open holds: what is asked, how it differs from the call that it may repeat, and the three answers.

import { get, post, tell } from './api.js';
import { byId, facts, make, notice, rowLink, runsOf, time } from './element.js';
import { differenceTable } from './difference.js';
import { write } from './json.js';

const reasons = {
  new_run: 'the same call from a new run: a re-plan, or a second order of the same thing?',
  same_intent: 'the same tool, customer and amount, but something else differs: one thing spelled anew, or two things?',
  in_doubt: 'a call like it is in doubt: it may have happened.',
  absent_run: 'a call like it was made, and this one says nothing of its run.',
};

const answers = [
  ['release', 'Release', 'It is meant: execute it once.'],
  ['duplicate', 'Duplicate', 'It is the same again: give its callers the stored result.'],
  ['deny', 'Deny', 'It must not execute.'],
];

// what was done, for the notice that goes on with what comes of it.
const said = { release: 'Released.', duplicate: 'Answered as a duplicate.', deny: 'Denied.' };

export async function showHolds(changed) {
  const { holds } = await get('/api/holds');
  const badge = byId('holds-count');
  badge.textContent = holds.length;
  badge.classList.toggle('some', holds.length > 0);
  const list = byId('holds-list');
  if (list.contains(document.activeElement) && document.activeElement.matches('input')) return; // somebody writes a reason
  list.replaceChildren(...holds.map((hold) => card(hold, changed)));
  if (holds.length === 0) list.append(make('p', { class: 'quiet' }, 'No hold is open.'));
}

function card(hold, changed) {
  const reason = make('input', { class: 'reason', placeholder: 'reason, for the audit (optional)', id: 'reason-' + hold.id });
  const buttons = answers.filter(([path]) => path !== 'duplicate' || hold.of_state === undefined || hold.of_state === 'committed').map(([path, label, title]) => make('button', {
    type: 'button', title, class: path === 'deny' ? 'danger' : '',
    onclick: (event) => answer(event.target.closest('.card'), hold, path, reason.value, changed),
  }, label));
  return make('article', { class: 'card' },
    make('h3', {}, (hold.tool || 'call') + ' — ' + (reasons[hold.reason] || hold.reason)),
    facts([
      ['hold', make('code', {}, hold.id)], ['rule', hold.rule], ['runs', runsOf(hold.runs)],
      ['fingerprint', make('code', {}, hold.fingerprint)],
      ['held since', time(hold.opened)], ['denied, if nobody answers, at', time(hold.expires)],
      ['may repeat the attempt', hold.of ? make('a', { href: rowLink(hold.of, hold.intent) }, hold.of) : ''],
      ['that attempt is', hold.of_state && hold.of_state.replaceAll('_', ' ') + ', runs ' + runsOf(hold.of_runs)],
      ['that attempt arrived', hold.of_arrived && time(hold.of_arrived)],
    ]),
    hold.action !== undefined && hold.of_action !== undefined
      ? differenceTable(hold.differences, 'the call it may repeat', 'this call')
      : make('p', { class: 'quiet' }, 'The bodies are not stored, so there is nothing to compare.'),
    make('details', {}, make('summary', {}, 'Both calls as they were written'),
      make('div', { class: 'pair' }, make('pre', {}, write(hold.of_action) || '–'), make('pre', {}, write(hold.action) || '–'))),
    make('div', { class: 'bar' }, make('label', { for: reason.id, class: 'quiet' }, 'Reason'), reason, buttons));
}

async function answer(card, hold, path, reason, changed) {
  for (const button of card.querySelectorAll('button')) button.disabled = true;
  const done = await tell(() => post('/api/holds/' + encodeURIComponent(hold.id) + '/' + path, { version: hold.version, reason }));
  if (done) notice(said[path] + ' ' + done.next, true);
  document.activeElement?.blur();
  changed();
}
