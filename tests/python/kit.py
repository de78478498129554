"""What every contract needs: a place of its own for each case, and the checks that hold for every answer."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters

MODES = ("legacy", "auto", "2026-07-28")
MODERN = "2026-07-28"
TESTS = Path(__file__).resolve().parent.parent
LOCKS: dict[tuple[str, str], str] = {}


class Place:
    """A temporary directory with what a story's plug-in may see, a configuration and a store."""

    def __init__(self, root: str, story: dict, program: Path, component: Path):
        self.root, self.story, self.program, self.locked = Path(root), story, program, component
        self.log, self.logged = "warn", ""
        self.parameter = story.get("parameter", "confirm_token")
        self.data = self.root / "data"
        if "sample" in story:
            shutil.copytree(TESTS.parent / story["sample"], self.data)
        else:
            self.data.mkdir()
        for name, content in story.get("data", {}).items():
            self.write(name, content)
        self.config = self.root / "counterfoil.toml"
        levels = "".join(f"{tool} = {json.dumps(level)}\n" for tool, level in story.get("raised", {}).items())
        self.config.write_text(
            f"""[gate]
confirm_parameter = {json.dumps(self.parameter)}
[store]
url = "sqlite:state.db"
[plugins.{story["plugin"]}]
source = {json.dumps(str(component))}
dirs = [{{ host = "./data", guest = {json.dumps(story["guest"])}, access = "read-write" }}]
[plugins.{story["plugin"]}.levels]
{levels}"""
        )

        self.lock()

    def lock(self):
        """What `plugin lock` writes: once for each component, and copied for the other places."""
        written = self.config.with_suffix(".lock")
        key = (self.story["plugin"], str(self.locked))
        if key not in LOCKS:
            command = [str(self.program), "plugin", "lock", "--yes", "--config", str(self.config)]
            subprocess.run(command, check=True, capture_output=True, timeout=120, env=self.environment())
            LOCKS[key] = written.read_text()
        written.write_text(LOCKS[key])

    def arguments(self, owner: str = "python") -> list[str]:
        return ["serve", "--config", str(self.config), "--owner", owner]

    def environment(self) -> dict[str, str]:
        """Compiled code is kept between the processes of one run."""
        return {"XDG_STATE_HOME": str(self.root), "XDG_CACHE_HOME": os.environ["COUNTERFOIL_TEST_CACHE"]}

    def client(self, mode: str, owner: str = "python") -> Client:
        server = StdioServerParameters(command=str(self.program), args=self.arguments(owner), env=self.environment())
        return Client(server, mode=mode, read_timeout_seconds=60)

    def write(self, name: str, content: str):
        file = self.data / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def digests(self) -> dict[str, str]:
        """What is on disk: every path with the digest of its content."""
        return {
            str(path.relative_to(self.data)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "/"
            for path in sorted(self.data.rglob("*"))
        }

    def confirmed(self, given: dict, token: str) -> dict:
        """A call's arguments with the token, their keys the other way round."""
        return dict(reversed([*given.items(), (self.parameter, token)]))

    def one_shot(self, *messages: dict) -> dict[object, dict]:
        """A process that is fed by a here-document and read to its end: the answers by id."""
        lines = "\n".join(json.dumps(message) for message in messages)
        command = " ".join(f"'{part}'" for part in [str(self.program), *self.arguments()])
        done = subprocess.run(
            ["bash", "-c", f"{command} <<'EOF'\n{lines}\nEOF\n"],
            capture_output=True,
            timeout=120,
            env={**os.environ, **self.environment(), "COUNTERFOIL_LOG": self.log},
        )
        self.logged = done.stderr.decode()
        assert done.returncode == 0, (done.returncode, self.logged)
        answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
        assert len(answers) == sum("id" in message for message in messages), answers
        return {answer["id"]: answer for answer in answers}


def request(number: object, mode: str, method: str, params: dict) -> dict:
    """A message as a client of that generation would write it."""
    if mode != "legacy":
        meta = {"protocolVersion": MODERN, "clientCapabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        params = {**params, "_meta": {f"io.modelcontextprotocol/{key}": value for key, value in meta.items()}}
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def text(result) -> str:
    (block,) = result.content
    assert block.type == "text"
    return block.text


def payload(result, status: str, reason: str | None = None) -> dict:
    """The payload, after checks that hold for every answer."""
    value = json.loads(text(result))
    assert result.structured_content == value, (result.structured_content, value)
    assert value["status"] == status, value
    assert value.get("reason") == reason, value
    assert result.is_error == (status in ("rejected", "failed")), result
    assert list(value)[0] == "status", value
    return value


def replayed(result) -> bool:
    return bool((result.meta or {}).get("counterfoil/replayed", False))


async def preview(client: Client, tool: str, arguments: dict) -> dict:
    """The first call of a dangerous one: a challenge, held to its shape."""
    value = payload(await client.call_tool(tool, arguments), "confirmation_required")
    assert value["tool"] == tool and value["assurance"] == "token_only" and value["level"] == "approval_required", value
    assert value["confirm_token"].startswith("cfm_") and len(value["confirm_token"]) == 28, value
    assert value["confirm_token"] in value["confirm_instructions"], value
    return value


def holds(value, expected, where: str):
    """That `value` holds at least what `expected` says."""
    for key, wanted in (expected or {}).items():
        if isinstance(wanted, dict):
            holds(value[key], wanted, f"{where}, {key}")
        else:
            assert value[key] == wanted, (where, key, value)


async def made(story: dict, call) -> dict:
    """The story after its first calls have made what the others need: `"$key"` stands for what those answered."""
    for step in range(len(story.get("before", []))):
        first = story["before"][step]
        value = await call(first["tool"], first["arguments"])
        whole = json.dumps(story)
        for key in first.get("keep", []):
            whole = whole.replace(f'"${key}"', json.dumps(value[key]))
        story = json.loads(whole)
    return story


async def begin(place: Place, client: Client) -> dict:
    """Lists the tools, so that the client checks results; gives the story, ready to be told."""
    await client.list_tools()

    async def call(tool: str, arguments: dict) -> dict:
        return payload(await client.call_tool(tool, arguments), "ok")

    return await made(place.story, call)
