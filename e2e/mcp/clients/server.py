"""A server of the official Python SDK, once for each way of serving, whose tools do what a test's bank says.

server.py BANK PORT... serves on four ports: sessions or none, event streams or JSON. Every execution is told to the bank
(POST BANK/TOOL with the arguments), which counts it and answers when the test lets it.
"""

import asyncio
import itertools
import sys

import httpx2
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
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


async def main():
    running = []
    for port, (stateless, json) in zip(ports, itertools.product([False, True], [False, True])):
        app = server.streamable_http_app(stateless_http=stateless, json_response=json)
        running.append(uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=int(port), log_level="warning")).serve())
    await asyncio.gather(*running)


asyncio.run(main())
