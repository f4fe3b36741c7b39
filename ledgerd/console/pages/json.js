// JSON as it was written. A number of the ledger's may have more digits than a browser's number keeps; where the
// browser gives the source text of a number, that is what is shown.

export class NumberText {
  constructor(text) { this.text = text; }
}

export function parse(text) {
  return JSON.parse(text, (name, value, context) => {
    if (typeof value !== 'number' || !context || context.source === undefined || String(value) === context.source) return value;
    return new NumberText(context.source);
  });
}

// write gives a value as indented JSON.
export function write(value, indent = '') {
  if (value instanceof NumberText) return value.text;
  if (value === undefined) return '';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const inner = indent + '  ';
  const parts = Array.isArray(value)
    ? value.map((v) => write(v, inner))
    : Object.entries(value).map(([name, v]) => JSON.stringify(name) + ': ' + write(v, inner));
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (parts.length === 0) return open + close;
  const line = open + parts.join(', ') + close;
  if (line.length + indent.length < 90 && !line.includes('\n')) return line;
  return open + '\n' + parts.map((p) => inner + p).join(',\n') + '\n' + indent + close;
}

export function oneLine(value) {
  if (value instanceof NumberText) return value.text;
  if (value === undefined) return '';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return '[' + value.map(oneLine).join(', ') + ']';
  return '{' + Object.entries(value).map(([name, v]) => JSON.stringify(name) + ': ' + oneLine(v)).join(', ') + '}';
}
