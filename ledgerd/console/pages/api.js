// The admin API as the pages use it: JSON calls and the event stream, with the token where one is needed.

import { byId, notice } from './element.js';
import { parse } from './json.js';

const kept = 'idem-token'; // in the tab's session only

function headers(more = {}) {
  const token = sessionStorage.getItem(kept);
  return token ? { ...more, authorization: 'Bearer ' + token } : more;
}

export class Refused extends Error {
  constructor(status, problem) {
    const again = problem.retry_after_ms > 0 ? ' (may be tried again in ' + Math.ceil(problem.retry_after_ms / 1000) + ' s)' : '';
    super((problem.detail || problem.title || 'HTTP ' + status) + again);
    this.status = status;
    this.problem = problem;
  }
}

async function answerOf(response) {
  const text = await response.text();
  let body = {};
  try { body = parse(text); } catch { body = { detail: text.slice(0, 200) }; }
  if (response.ok) return body;
  if (response.status === 401) askForToken(body.detail);
  throw new Refused(response.status, body);
}

export const get = async (path) => answerOf(await fetch(path, { headers: headers() }));

export const post = async (path, body) => answerOf(await fetch(path, {
  method: 'POST', headers: headers({ 'content-type': 'application/json' }), body: JSON.stringify(body ?? {}),
}));

// tell runs a user's action and shows why it was refused, where it was.
export async function tell(action) {
  try {
    return await action();
  } catch (error) {
    notice(error.message);
    return undefined;
  }
}

let granted = () => {};

function askForToken(why) {
  const form = byId('token-form');
  byId('token-note').textContent = sessionStorage.getItem(kept) ? 'That token is not right: ' + (why || 'it is not known') + '.' : '';
  sessionStorage.removeItem(kept);
  if (form.hidden) {
    form.hidden = false;
    byId('token').focus();
  }
}

// onToken says what is done once a token was typed in.
export function onToken(action) {
  granted = action;
  byId('token-form').addEventListener('submit', (event) => {
    event.preventDefault();
    sessionStorage.setItem(kept, byId('token').value.trim());
    byId('token').value = '';
    byId('token-form').hidden = true;
    granted();
  });
}

// follow reads the event stream for good, and begins anew when it is lost. (EventSource cannot send a token.)
export async function follow(onEvent, onState) {
  for (let wait = 500; ; wait = Math.min(wait * 2, 15000)) {
    try {
      const response = await fetch('/api/events', { headers: headers({ accept: 'text/event-stream' }) });
      if (!response.ok) await answerOf(response);
      onState('open');
      wait = 500;
      await readEvents(response.body, onEvent);
      onState('lost');
    } catch (error) {
      onState(error.status === 401 ? 'token' : 'lost');
      if (error.status === 401) await new Promise((resolve) => { const before = granted; granted = () => { granted = before; before(); resolve(); }; });
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function readEvents(stream, onEvent) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5).trim()).join('\n');
      if (data) onEvent(parse(data));
    }
  }
}
