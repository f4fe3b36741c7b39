// Elements made of text. Nothing here takes markup: whatever the ledger has stored is shown as the text that it is.

// make gives an element. Properties are set as they are named (class stands for className, data for the dataset);
// children are elements or texts, and what is null, undefined or false is left out.
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'class') element.className = value;
    else if (name === 'data') Object.assign(element.dataset, value);
    else if (name.startsWith('aria-') || name === 'scope' || name === 'for') element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const byId = (id) => document.getElementById(id);

// facts gives a list of names and values; a value that is not there takes its name with it.
export function facts(pairs) {
  const list = make('dl');
  for (const [name, value] of pairs) {
    if (value === undefined || value === null || value === '') continue;
    list.append(make('dt', {}, name), make('dd', {}, value));
  }
  return list;
}

// time gives a moment in the reader's own time; one of another day has its date.
export function time(text) {
  const at = new Date(text);
  const day = at.toDateString() === new Date().toDateString() ? '' : at.toLocaleDateString() + ' ';
  const clock = at.toLocaleTimeString(undefined, { hour12: false }) + '.' + String(at.getMilliseconds()).padStart(3, '0');
  return make('time', { dateTime: text, title: text }, day + clock);
}

// runsOf names the runs of a row; calls without a run are one run, absent.
export const runsOf = (runs) => (runs && runs.length > 0 ? runs.map((run) => run || 'absent').join(', ') : 'absent');

export const short = (id) => (id && id.length > 12 ? id.slice(0, 12) + '…' : id || '');

// tone says whether an outcome is good news; it is shown by colour beside the word, never by colour alone.
export function tone(outcome) {
  if (['executed', 'execute', 'committed', 'replay', 'coalesced', 'ok', 'released', 'approved', 'joined'].includes(outcome)) return 'good';
  if (['held', 'in_flight', 'wait', 'in_doubt', 'alias', 'reserved'].includes(outcome)) return 'wait';
  if (['denied', 'failed', 'not_sent', 'refused', 'fenced', 'error', 'unavailable', 'unknown', 'definite'].includes(outcome)) return 'bad';
  return '';
}

export const outcomeOf = (word) => make('span', { class: 'outcome ' + tone(word) }, word || '');

let fading;

// notice says what came of an action: good news, which fades, or what is wrong, which stays until it was read.
export function notice(text, good = false) {
  const box = byId('notice');
  byId('notice-text').role = good ? 'status' : 'alert';
  byId('notice-text').textContent = text;
  box.className = good ? 'good-news' : 'bad-news';
  box.hidden = false;
  box.scrollIntoView({ block: 'nearest' }); // on a narrow screen it stands at the top, where it covers nothing
  clearTimeout(fading);
  if (good) fading = setTimeout(hideNotice, 10_000);
}

export function hideNotice() {
  byId('notice').hidden = true;
  byId('notice-text').textContent = '';
}

// rowLink leads to a row: an attempt alone finds the newest ones only, with its intent it is always found.
export function rowLink(attempt, intent) {
  return '#rows/' + encodeURIComponent(attempt + (intent ? '@' + intent : ''));
}
