// The official TypeScript SDKs as clients that tests drive: a JSON command a line on stdin, a JSON answer a line on
// stdout. {id, op: "connect", session, sdk, url, revision, run} opens a session: sdk is v1 (@modelcontextprotocol/sdk) or
// v2 (@modelcontextprotocol/client), revision is one since 2026-07-28, or "legacy" for the handshake, run is sent as a
// header with every request. {id, op, session, …} lets it do something; "close" ends it. It ends with its input.
import { createInterface } from 'node:readline';
import * as v2 from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const say = (what) => process.stdout.write(JSON.stringify(what) + '\n');
const me = { name: 'idem-test', version: '1' };
const elicited = async () => ({ action: 'accept', content: { name: 'Ada', color: 'red' } });
const sampled = async () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } });
const capabilities = { elicitation: { form: {} }, sampling: {} };
const sessions = new Map();

async function connect({ sdk, url, revision, run }) {
  const requestInit = run ? { headers: { 'x-idem-run': run } } : {};
  if (sdk === 'v1') {
    const client = new ClientV1(me, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, elicited);
    client.setRequestHandler(CreateMessageRequestSchema, sampled);
    await client.connect(new TransportV1(new URL(url), { requestInit }));
    return { client, call: (params, options) => client.callTool(params, undefined, options) };
  }
  const mode = revision === 'legacy' ? 'legacy' : { pin: revision };
  const client = new v2.Client(me, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', elicited);
  client.setRequestHandler('sampling/createMessage', sampled);
  await client.connect(new v2.StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return { client, call: (params, options) => client.callTool(params, options) };
}

async function act(c) {
  const { client, call } = sessions.get(c.session) ?? {};
  switch (c.op) {
    case 'connect':
      sessions.set(c.session, await connect(c));
      return {};
    case 'call':
      return call({ name: c.name, arguments: c.args }, {
        timeout: c.timeout_ms ?? 60000,
        onprogress: (p) => say({ id: c.id, progress: p.progress }),
      });
    case 'tools': return client.listTools();
    case 'prompts': return client.listPrompts();
    case 'resources': return client.listResources();
    case 'ping': return client.ping();
    case 'close':
      sessions.delete(c.session);
      return client?.close();
  }
}

async function answer(c) {
  try {
    say({ id: c.id, result: await act(c) });
  } catch (e) { // whatever the SDK makes of it is what the agent sees
    say({ id: c.id, error: `${e.name}: ${e.message}` });
  }
}

for await (const line of createInterface({ input: process.stdin })) answer(JSON.parse(line));
process.exit(0);
