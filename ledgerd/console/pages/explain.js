// The explain page: how one body is read, step by step, and why two are one call or are not.

import { get, post } from './api.js';
import { byId, facts, make } from './element.js';
import { differenceTable } from './difference.js';
import { write } from './json.js';

export function wireExplain() {
  byId('explain-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const [a, b] = ['body-a', 'body-b'].map((id) => byId(id).value);
    byId('explain-error').textContent = '';
    try {
      show(await post('/api/explain', b.trim() ? { a: call(a), b: call(b) } : { a: call(a) }));
    } catch (error) {
      byId('explanation').replaceChildren();
      byId('explain-error').textContent = error.message;
      byId('explain-fields').open = true; // what is wrong is most likely said there
    }
  });
}

const matching = ''; // the chooser's value for: by method, host and path

// showRules fills the chooser of rules, once; the first is preset, so that a body alone can be explained.
export async function showRules() {
  const chooser = byId('explain-rule');
  if (chooser.options.length > 0) return;
  const { rules } = await get('/api/rules');
  if (rules.length < 2) return;
  chooser.replaceChildren(
    ...rules.map(({ name, guards }) => make('option', { value: name }, guards && guards !== name ? name + ' — ' + guards : name)),
    make('option', { value: matching }, 'the one that matches method, host and path'));
  chooser.selectedIndex = 0;
  byId('explain-rules').hidden = false;
}

function call(body) {
  const given = { body };
  for (const name of ['method', 'path', 'host', 'rule']) {
    const value = byId('explain-' + name).value.trim();
    if (value) given[name] = value;
  }
  const lines = byId('explain-headers').value.split('\n').map((line) => line.match(/^\s*([^:\s]+)\s*:\s*(.*?)\s*$/)).filter(Boolean);
  if (lines.length > 0) given.headers = Object.fromEntries(lines.map(([, name, value]) => [name.toLowerCase(), value]));
  return given;
}

function show(report) {
  const both = report.b !== undefined && report.b !== null;
  byId('explanation').replaceChildren(...[
    make('p', { class: 'verdict ' + (both ? (report.same ? 'good' : report.same_intent ? 'wait' : '') : '') }, report.verdict),
    ...(report.notes || []).map((note) => make('p', { class: 'quiet' }, note)),
    !report.keyed && make('p', { class: 'quiet' }, 'Made without the deployment’s key: the fingerprints are not the filter’s, whether two are equal is.'),
    both && report.differences.length > 0 && differenceTable(report.differences, 'one', 'another'),
    make('div', { class: 'pair' }, form('One body', report.a), both && form('Another body', report.b)),
  ].filter(Boolean));
}

function form(title, f) {
  if (f.problem) {
    return make('article', { class: 'card' }, make('h3', {}, title), make('p', { class: 'bad' }, f.problem.code + ': ' + f.problem.detail),
      facts([['where', f.problem.pointer], ['byte', f.problem.offset >= 0 ? String(f.problem.offset) : '']]));
  }
  return make('article', { class: 'card' }, make('h3', {}, title),
    facts([
      ['fingerprint', make('code', {}, f.fingerprint)], ['intent', f.shared_intent ? make('code', {}, f.intent) : 'the fingerprint itself: customer or amount is missing'],
      ['rule', f.rule], ['tool', f.tool], ['run', f.run || 'absent'], ['customer', write(f.customer)], ['amount', write(f.amount)],
    ]),
    make('h4', {}, 'Steps'),
    (f.changes || []).length === 0
      ? make('p', { class: 'quiet' }, 'It counts as it is written.')
      : make('div', { class: 'scroll' }, make('table', {}, make('thead', {}, make('tr', {}, ['where', 'written', 'counts as', 'why'].map((text) => make('th', { scope: 'col' }, text)))),
        make('tbody', {}, f.changes.map((c) => make('tr', {},
          make('td', { class: 'mono' }, c.part || c.pointer || '(the whole)'), make('td', { class: 'mono' }, c.from),
          c.to ? make('td', { class: 'mono' }, c.to) : make('td', { class: 'none' }, 'dropped'), make('td', {}, c.rule, ': ', c.why, c.setting && ' (in the rule, ' + c.setting + ')')))))),
    make('h4', {}, 'Canonical form'), make('pre', {}, write(f.canonical)));
}
