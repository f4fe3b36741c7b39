// A server of the official TypeScript SDK whose streams are resumable: it ends the stream of a call to poll at once and
// expects to be asked for the rest (revision 2025-11-25). Every execution is told to the bank (POST BANK/TOOL with the
// arguments), which counts it and answers when the test lets it.
//
// server.mjs PACKAGES BANK PORT serves on a port; PACKAGES is the folder that has node_modules.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const [packages, bank, port] = process.argv.slice(2);
const require = createRequire(`${packages}/`);
const { McpServer } = require('@modelcontextprotocol/sdk/server/mcp.js');
const { StreamableHTTPServerTransport } = require('@modelcontextprotocol/sdk/server/streamableHttp.js');
const { z } = require('zod');

// Keeps every event, in the order of their ids. (The SDK's example of a store orders by the millisecond, and replays the
// event that only primes the client as a message.)
class Events {
  kept = []; // {stream, message}

  async storeEvent(stream, message) {
    return String(this.kept.push({ stream, message }));
  }

  async replayEventsAfter(last, { send }) {
    const { stream } = this.kept[last - 1];
    for (const [i, of] of this.kept.entries()) {
      if (i >= last && of.stream === stream && of.message.jsonrpc) await send(String(i + 1), of.message);
    }
    return stream;
  }
}

function newServer() {
  const server = new McpServer({ name: 'idem-test', version: '1' });
  server.registerTool('poll', { inputSchema: { customer: z.string() } }, async (args, extra) => {
    const progressToken = extra._meta?.progressToken;
    if (progressToken !== undefined) {
      await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2 } });
    }
    extra.closeSSEStream();
    const reply = await fetch(`${bank}/poll`, { method: 'POST', body: JSON.stringify(args) });
    return { content: [{ type: 'text', text: await reply.text() }] };
  });
  return server;
}

const sessions = new Map();

async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, transport),
    eventStore: new Events(),
    retryInterval: 200,
  });
  await newServer().connect(transport);
  return transport;
}

createServer(async (request, response) => {
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await open() : sessions.get(id);
  if (transport) await transport.handleRequest(request, response);
  else response.writeHead(404).end();
}).listen(Number(port), '127.0.0.1');
