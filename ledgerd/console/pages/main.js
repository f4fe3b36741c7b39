// The console's shell: which view is shown, and when what is read anew.

import { follow, get, onToken, post, tell } from './api.js';
import { byId, hideNotice, notice } from './element.js';
import { showDoubts } from './doubts.js';
import { showRules, wireExplain } from './explain.js';
import { showHolds } from './holds.js';
import { addEvent, learnCalls, showCounters, wireLog } from './log.js';
import { showRow, showRows } from './rows.js';
import { findScenarios, refreshExecutions } from './scenarios.js';

const views = ['live', 'holds', 'in-doubt', 'rows', 'explain'];

function route() {
  const [name, id] = location.hash.slice(1).split('/');
  const view = views.includes(name) ? name : 'live';
  for (const v of views) byId('view-' + v).hidden = v !== view;
  for (const link of document.querySelectorAll('nav a')) {
    if (link.hash === '#' + view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (view === 'rows' && id) showRow(decodeURIComponent(id));
}

async function refresh() {
  const state = await get('/api/state');
  showCounters(state.counters || {});
  learnCalls(state.rows);
  showRows(state.rows);
  await Promise.all([showHolds(soon), showDoubts(soon), showRules(), refreshExecutions()]);
}

// soon reads everything anew once, however many events ask for it.
let pending = null;
function soon() {
  pending ??= setTimeout(async () => {
    pending = null;
    try { await refresh(); } catch { /* the connection's line says so */ }
  }, 250);
}

const states = { open: 'live', lost: 'connection lost; trying again…', token: 'a token is needed' };

addEventListener('hashchange', () => { hideNotice(); route(); });
byId('notice-close').addEventListener('click', hideNotice);
route();
wireLog();
wireExplain();
onToken(soon);
byId('row-form').addEventListener('submit', (event) => {
  event.preventDefault();
  location.hash = '#rows/' + encodeURIComponent(byId('row-id').value.trim());
});
byId('reset').addEventListener('click', () => tell(async () => {
  if (!confirm('Forget everything? Every call is new afterwards and may execute again.')) return;
  await post('/api/reset');
  notice('The ledger is empty. Every call is new now: sent again, it executes.', true);
  soon();
}));
setInterval(soon, 10_000);
soon();
findScenarios();
follow((event) => { addEvent(event); if (event.kind !== 'extend') soon(); }, (state) => {
  byId('connection').dataset.state = state;
  byId('connection').textContent = states[state];
  if (state === 'open') soon();
});
