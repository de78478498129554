"""A server that reads its configuration anew, seen through the official Python SDK, in both generations.

    reload.py NEXT PROGRAM COMPONENT

The server starts with COMPONENT; then NEXT is put in its place, locked, and the server is told by SIGHUP. Prints a line a case.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import AsyncExitStack
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ToolListChangedNotification

from kit import MODES, payload, preview


class Place:
    """A configuration with one plug-in, locked, and the client's way to start the server and to hear of changes."""

    def __init__(self, root: str, program: Path, component: Path, following: Path):
        self.root, self.program, self.following = Path(root), program, following
        self.plugin, self.config, self.pid = self.root / "stamp.wasm", self.root / "counterfoil.toml", self.root / "pid"
        (self.root / "data").mkdir()
        self.put(component)
        self.write("")
        self.lock()
        self.changed = asyncio.Queue()

    def put(self, component: Path):
        shutil.copyfile(component, self.root / "new.wasm")
        (self.root / "new.wasm").rename(self.plugin)

    def write(self, more: str):
        self.config.write_text(
            '[store]\nurl = "memory:"\n[plugins.stamp]\nsource = "stamp.wasm"\n'
            f'dirs = [{{ host = "./data", guest = "/data", access = "read-write" }}]\n{more}'
        )

    def environment(self) -> dict[str, str]:
        return {"XDG_STATE_HOME": str(self.root), "XDG_CACHE_HOME": os.environ["COUNTERFOIL_TEST_CACHE"]}

    def lock(self):
        command = [str(self.program), "plugin", "lock", "--yes", "--config", str(self.config)]
        subprocess.run(command, check=True, capture_output=True, timeout=120, env=self.environment())

    async def client(self, stack: AsyncExitStack, mode: str) -> Client:
        """A client that puts every news of the list into `changed`."""
        # The shell becomes the program: its id is the server's.
        line = f"echo $$ > '{self.pid}'; exec '{self.program}' serve --config '{self.config}' 2>> '{self.root}/log'"
        server = StdioServerParameters(command="/bin/sh", args=["-c", line], env=self.environment())

        async def heard(message):
            # The client passes on here what comes for a subscription, too.
            if mode == "legacy" and isinstance(message, ToolListChangedNotification):
                self.changed.put_nowait("legacy")

        client = await stack.enter_async_context(
            Client(server, mode=mode, read_timeout_seconds=60, message_handler=heard)
        )
        if mode != "2026-07-28":  # which asks for nothing before it begins
            assert client.server_capabilities.tools.list_changed is True
        if mode != "legacy":
            subscription = await stack.enter_async_context(client.listen(tools_list_changed=True))
            assert subscription.honored.tools_list_changed is True

            async def follow():
                async for _ in subscription:
                    self.changed.put_nowait("modern")

            task = asyncio.create_task(follow())
            stack.callback(task.cancel)
        return client

    def hang_up(self):
        os.kill(int(self.pid.read_text()), signal.SIGHUP)

    async def said(self, words: str):
        """Waits until the server has said it on standard error."""
        while words not in (self.root / "log").read_text():
            await asyncio.sleep(0.01)

    async def news(self, mode: str):
        assert await asyncio.wait_for(self.changed.get(), 60) == ("legacy" if mode == "legacy" else "modern")


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


async def the_client_hears_of_another_list_and_sees_it(place: Place, mode: str):
    async with AsyncExitStack() as stack:
        client = await place.client(stack, mode)
        assert await names(client) == ["stamp", "wipe", "look"]
        asked = await preview(client, "wipe", {})
        place.put(place.following)
        place.lock()
        place.hang_up()
        await place.news(mode)
        assert await names(client) == ["stamp", "wipe", "shred"]
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed["wipe"].meta["counterfoil/level"] == "caution"
        assert "confirm_token" not in listed["wipe"].input_schema.get("properties", {})
        # What was previewed of the old one does not run; the confirmation itself is still there, in the same store.
        confirm = {"confirm_token": asked["confirm_token"]}
        payload(await client.call_tool("wipe", confirm), "rejected", "tool_changed")
        assert payload(await client.call_tool("wipe", {}), "ok")["message"] == "wipe of the second"


async def a_confirmation_outlives_a_reload_that_changes_something_else(place: Place, mode: str):
    async with AsyncExitStack() as stack:
        client = await place.client(stack, mode)
        asked = await preview(client, "wipe", {})
        place.write("[plugins.stamp.levels]\nstamp = 3\n")
        place.hang_up()
        await place.news(mode)
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert listed["stamp"].meta["counterfoil/level"] == "approval_required"
        await preview(client, "stamp", {})
        confirm = {"confirm_token": asked["confirm_token"]}
        ran = payload(await client.call_tool("wipe", confirm), "ok")
        assert ran["message"] == "wipe of the first"
        assert payload(await client.call_tool("wipe", confirm), "ok") == ran


async def a_bad_configuration_changes_nothing_and_the_client_goes_on(place: Place, mode: str):
    async with AsyncExitStack() as stack:
        client = await place.client(stack, mode)
        before = await names(client)
        place.write("colour = 1\n")
        place.hang_up()
        await place.said("unknown key")
        assert await names(client) == before
        assert payload(await client.call_tool("stamp", {}), "ok")["message"] == "stamp of the first"
        # A swapped file is refused with the difference, and what is in force stays.
        place.write("")
        place.put(place.following)
        place.hang_up()
        await place.said("the tool wipe: level approval_required → caution")
        assert await names(client) == before
        assert payload(await client.call_tool("stamp", {}), "ok")["message"] == "stamp of the first"
        place.lock()
        place.hang_up()
        await place.news(mode)
        assert place.changed.empty()
        assert payload(await client.call_tool("stamp", {}), "ok")["message"] == "stamp of the second"


CASES = [
    the_client_hears_of_another_list_and_sees_it,
    a_confirmation_outlives_a_reload_that_changes_something_else,
    a_bad_configuration_changes_nothing_and_the_client_goes_on,
]


def main() -> int:
    following, program, component = (Path(path).resolve() for path in sys.argv[1:])
    failed = run = 0
    with tempfile.TemporaryDirectory(prefix="counterfoil-cache-") as kept:
        os.environ.setdefault("COUNTERFOIL_TEST_CACHE", kept)
        for case, mode in [(case, mode) for case in CASES for mode in MODES]:
            run += 1
            title = f"{case.__name__.replace('_', ' ')} ({mode})"
            with tempfile.TemporaryDirectory(prefix="counterfoil-") as root:
                try:
                    place = Place(root, program, component, following)
                    asyncio.run(asyncio.wait_for(case(place, mode), 120))
                    print(f"ok      {title}", flush=True)
                except BaseException:
                    failed += 1
                    print(f"FAILED  {title}", flush=True)
                    traceback.print_exc()
                    log = Path(root) / "log"
                    print(log.read_text() if log.exists() else "", file=sys.stderr)
    print(f"{run - failed} of {run} passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
