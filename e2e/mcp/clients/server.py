"""A server of the official Python SDK, once for each way of serving, whose tools do what a test's bank says.

server.py BANK PORT... serves on five ports: sessions or none, event streams or JSON; and with sessions whose streams are
resumable. Every execution is told to the bank (POST BANK/TOOL with the arguments), which counts it and answers when the
test lets it.
"""

import asyncio
import itertools
import sys

import httpx2
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.streamable_http import EventMessage, EventStore
from pydantic import BaseModel

bank, *ports = sys.argv[1:]
server = MCPServer("idem-test")


class Refund(BaseModel):
    refund_id: str


async def execute(tool, **args):
    async with httpx2.AsyncClient(timeout=60) as http:
        return (await http.post(f"{bank}/{tool}", json=args)).raise_for_status().text


@server.tool()
async def refund(customer: str, amount: str, currency: str) -> Refund:
    """Refunds a customer."""
    return Refund(refund_id=await execute("refund", customer=customer))


@server.tool()
async def fail(customer: str) -> str:
    """Fails."""
    raise ToolError(await execute("fail", customer=customer) + " failed")


@server.tool()
async def steps(customer: str, ctx: Context) -> str:
    """Says how far it is."""
    await ctx.report_progress(1, 2)
    return await execute("steps", customer=customer)


@server.tool()
async def poll(customer: str, ctx: Context) -> str:
    """Says how far it is, and expects to be asked for the rest."""
    await ctx.report_progress(1, 2)
    await ctx.close_sse_stream()
    return await execute("poll", customer=customer)


class Events(EventStore):
    """Keeps every event, in the order of their ids."""

    def __init__(self):
        self.kept = []  # (stream, message)

    async def store_event(self, stream_id, message):
        self.kept.append((stream_id, message))
        return str(len(self.kept))

    async def replay_events_after(self, last_event_id, send_callback):
        last = int(last_event_id)
        stream = self.kept[last - 1][0]
        for i, (of, message) in enumerate(self.kept[last:], last + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(i)))
        return stream


async def main():
    running = []
    ways = [{"stateless_http": s, "json_response": j} for s, j in itertools.product([False, True], [False, True])]
    ways.append({"event_store": Events(), "retry_interval": 500})
    for port, way in zip(ports, ways, strict=True):
        app = server.streamable_http_app(**way)
        running.append(uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=int(port), log_level="warning")).serve())
    await asyncio.gather(*running)


asyncio.run(main())
