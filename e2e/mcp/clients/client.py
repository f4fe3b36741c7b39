"""The official Python SDK as clients that tests drive: a JSON command a line on stdin, a JSON answer a line on stdout.

{"id", "op": "connect", "session", "url", "revision", "run"} opens a session: revision is one since 2026-07-28, or "legacy"
for the handshake, run is sent as a header with every request. {"id", "op", "session", …} lets it do something; "close"
ends it. It ends with its input.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CreateMessageResult, ElicitResult, TextContent

sessions = {}  # open clients
closing = {}  # what ends them


def say(**what):
    print(json.dumps(what), flush=True)


async def elicited(context, params):
    return ElicitResult(action="accept", content={"name": "Ada", "color": "red"})


async def sampled(context, params):
    return CreateMessageResult(role="assistant", model="none", content=TextContent(type="text", text="sampled"))


async def connect(c):
    headers = {"x-idem-run": c["run"]} if "run" in c else {}
    http = httpx2.AsyncClient(timeout=httpx2.Timeout(60), headers=headers)
    transport = streamable_http_client(c["url"], http_client=http)
    mode = c["revision"]
    async with Client(transport, mode=mode, elicitation_callback=elicited, sampling_callback=sampled) as client:
        sessions[c["session"]], closing[c["session"]] = client, asyncio.Event()
        say(id=c["id"], result={"revision": client.protocol_version})
        await closing[c["session"]].wait()


async def act(c):
    async def progress(done, total, message):
        say(id=c["id"], progress=done)

    client = sessions[c["session"]]
    match c["op"]:
        case "call":
            return await client.call_tool(c["name"], c["args"], c.get("timeout_ms", 60_000) / 1000, progress)
        case "tools":
            return await client.list_tools()
        case "prompts":
            return await client.list_prompts()
        case "resources":
            return await client.list_resources()
        case "ping":
            return await client.send_ping()


async def answer(c):
    try:
        match c["op"]:
            case "connect":
                await connect(c)
            case "close":
                closing[c["session"]].set()
            case _:
                result = await act(c)
                say(id=c["id"], result=result.model_dump(mode="json", by_alias=True, exclude_none=True))
    except Exception as e:  # whatever the SDK makes of it is what the agent sees
        say(id=c["id"], error=f"{type(e).__name__}: {e}")


async def main():
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    running = set()
    while line := await lines.readline():
        task = asyncio.create_task(answer(json.loads(line)))
        running.add(task)
        task.add_done_callback(running.discard)


asyncio.run(main())
