"""Drives a stdio gateway with the official Python SDK (2.x): list, one cell that yields, and its wait.

    sdk_client.py MODE CELL -- COMMAND [ARGUMENT ...]

MODE is what the SDK calls it: `legacy` begins with a handshake, a revision such as `2026-07-28` does without.
CELL is a program that suspends once. Prints one line of JSON; a protocol error is a traceback and a non-zero exit.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

TIME_LIMIT_SECONDS = 60


async def main() -> None:
    mode, cell, separator, command, *arguments = sys.argv[1:]
    assert separator == "--", __doc__
    progress = []

    async def on_progress(done, total, message):
        progress.append(done)

    server = StdioServerParameters(command=command, args=arguments)
    async with Client(server, mode=mode, read_timeout_seconds=TIME_LIMIT_SECONDS) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        suspended = await client.call_tool("exec", {"code": cell}, progress_callback=on_progress)
        run = suspended.structured_content["runId"]
        finished = await client.call_tool("wait", {"runId": run})
        refused = await client.call_tool("wait", {"runId": run})
        report = {
            "protocol": client.protocol_version,
            "tools": tools,
            "suspended": suspended.structured_content,
            "finished": finished.structured_content,
            "refused": refused.structured_content,
            "isError": [suspended.is_error, finished.is_error, refused.is_error],
            "progress": len(progress),
        }
        print(json.dumps(report))


asyncio.run(main())
