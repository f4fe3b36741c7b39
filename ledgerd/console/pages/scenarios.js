// The demo's scenarios. They are the demo tool's to tell (GET /api/invoke); where something else answers there, the
// page has no scenarios. A scenario is a list of phases, one after the other; the requests of a phase are sent at once.

import { post } from './api.js';
import { byId, make, notice, outcomeOf } from './element.js';
import { oneLine, parse } from './json.js';

let demo = null;

export async function findScenarios() {
  demo = await ask();
  if (!demo) return;
  byId('scenarios').hidden = false;
  showExecutions();
  byId('scenario-buttons').replaceChildren(...demo.scenarios.map((scenario) =>
    make('button', { type: 'button', title: scenario.about, onclick: () => play(scenario) }, scenario.title)));
}

async function ask() {
  try {
    const response = await fetch('/api/invoke');
    const answer = response.ok ? await response.json() : {};
    return Array.isArray(answer.scenarios) ? answer : null;
  } catch {
    return null;
  }
}

export async function refreshExecutions() {
  if (!demo) return;
  demo = (await ask()) || demo;
  showExecutions();
}

function showExecutions() {
  const tools = Object.entries(demo.executions.by_tool).map(([tool, n]) => tool + ' ' + n).join(', ');
  byId('executions').textContent = demo.executions.total + (tools ? ' (' + tools + ')' : '');
}

async function play(scenario) {
  const buttons = [...byId('scenario-buttons').children];
  for (const button of buttons) button.disabled = true;
  const fresh = Math.random().toString(36).slice(2, 8); // so that no earlier play answers
  byId('requests').hidden = false;
  byId('requests').tBodies[0].replaceChildren();
  let held = null;
  try {
    for (const phase of scenario.phases) {
      byId('scenario-about').textContent = phase.say;
      if (phase.after_ms) await wait(phase.after_ms);
      if (phase.release) {
        if (!held) throw new Error('No call was held, so there is nothing to release. Is this call’s earlier result gone?');
        await post('/api/release', { id: held });
      }
      const results = await Promise.all((phase.requests || []).map((request) => send(request, fresh)));
      held = results.find((problem) => problem?.hold?.id)?.hold.id || held;
    }
    byId('scenario-about').textContent = scenario.expect;
  } catch (error) {
    notice(error.message);
  } finally {
    for (const button of buttons) button.disabled = false;
    refreshExecutions();
  }
}

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function send(request, fresh) {
  if (request.delay_ms) await wait(request.delay_ms);
  const body = request.body.replaceAll('{fresh}', fresh);
  const [status, after, result] = [make('td', { class: 'keep' }, '…'), make('td', { class: 'keep' }), make('td', { class: 'mono' })];
  byId('requests').tBodies[0].append(make('tr', { class: 'new' },
    make('td', { class: 'keep' }, request.as), make('td', { class: 'mono' }, body), status, after, result));
  const start = performance.now();
  const leaving = new AbortController();
  if (request.leave_after_ms) setTimeout(() => leaving.abort(), request.leave_after_ms);
  try {
    const response = await fetch(request.path || '/api/invoke', {
      method: 'POST', body, signal: leaving.signal, headers: { 'content-type': 'application/json', ...request.headers },
    });
    const text = await response.text();
    let answer = text;
    try { answer = parse(text); } catch { /* shown as it came */ }
    status.replaceChildren(response.status + ' ', outcomeOf(response.headers.get('x-idem-outcome') || answer.outcome || ''));
    result.textContent = answer.result !== undefined ? oneLine(answer.result) : answer.hold ? 'hold ' + answer.hold.id : answer.detail || oneLine(answer);
    return answer;
  } catch (error) {
    status.textContent = error.name === 'AbortError' ? 'the caller left' : 'no answer: ' + error.message;
    return null;
  } finally {
    after.textContent = ((performance.now() - start) / 1000).toFixed(2) + ' s';
  }
}
