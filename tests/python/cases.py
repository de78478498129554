"""What holds for every plug-in, told of the calls in its story. Cases: async functions of a place and a mode."""

import asyncio
import json

from mcp.shared.exceptions import MCPError

from kit import MODERN, Place, begin, holds, made, payload, preview, replayed, request, text


async def what_the_server_says_of_itself(place: Place, mode: str):
    async with place.client(mode) as client:
        assert client.server_info is None or client.server_info.name == "counterfoil"
        if mode != MODERN:  # a client that begins there has asked nothing
            expected = "2025-11-25" if mode == "legacy" else MODERN
            assert client.protocol_version == expected, client.protocol_version
            capabilities = client.server_capabilities
            assert capabilities.tools is not None and capabilities.logging is None, capabilities
            version = capabilities.extensions["counterfoil/risk-model"]["version"]
            assert version and capabilities.experimental["counterfoil/risk-model"]["version"] == version, capabilities
            assert f"risk model version {version}" in client.instructions, client.instructions
            assert f'"{place.parameter}"' in client.instructions, client.instructions
            assert "does not prove that a person" in client.instructions, client.instructions


async def what_is_listed(place: Place, mode: str):
    async with place.client(mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    story = place.story
    assert set(tools) == set(story["tools"]), sorted(tools)
    for name, declared in story["tools"].items():
        level, tool = story.get("raised", {}).get(name, declared), tools[name]
        dangerous, hints, meta = level == "approval_required", tool.annotations, tool.meta
        assert meta["counterfoil/level"] == level and meta["counterfoil/declared_level"] == declared, meta
        assert meta["counterfoil/plugin"] == story["plugin"] and meta["counterfoil/preview_enforced"] is True, meta
        assert (place.parameter in tool.input_schema["properties"]) == dangerous, name
        assert place.parameter not in tool.input_schema.get("required", []), name
        assert hints.read_only_hint == (level == "safe") and hints.destructive_hint == dangerous, tool
        assert bool(hints.idempotent_hint) == dangerous, tool
        if tool.output_schema is not None:
            assert tool.output_schema["type"] == "object" and len(tool.output_schema["anyOf"]) >= 4, tool.output_schema


async def reads_run_at_once_and_change_nothing(place: Place, mode: str):
    async with place.client(mode) as client:
        story = await begin(place, client)
        before = place.digests()
        for call in story["reads"]:
            value = payload(await client.call_tool(call["tool"], call["arguments"]), "ok")
            holds(value, call.get("ok"), call["tool"])
            assert "assurance" not in value, value
        assert place.digests() == before


async def writes_that_are_easy_to_undo_run_at_once(place: Place, mode: str):
    async with place.client(mode) as client:
        story = await begin(place, client)
        for call in story["writes"]:
            before = place.digests()
            value = payload(await client.call_tool(call["tool"], call["arguments"]), "ok")
            holds(value, call.get("ok"), call["tool"])
            assert "assurance" not in value and place.digests() != before, value


async def a_dangerous_call_previews_runs_once_and_is_replayed(place: Place, mode: str):
    done = []
    async with place.client(mode) as client:
        story = await begin(place, client)
        for call in story["dangerous"]:
            tool, given, before = call["tool"], call["arguments"], place.digests()
            asked = await preview(client, tool, given)
            assert asked["summary"] == call.get("summary", asked["summary"]), asked
            assert len(asked["warnings"]) == call.get("warnings", len(asked["warnings"])), asked
            holds(asked["preview"], call.get("preview"), tool)
            assert place.digests() == before, "a first call changes nothing"

            again = place.confirmed(given, asked["confirm_token"])
            first = await client.call_tool(tool, again)
            value = payload(first, "ok")
            holds(value, call.get("ok"), tool)
            assert value["assurance"] == "token_only" and not replayed(first), first
            after = place.digests()
            assert after != before, tool
            for secret in call.get("masked", []):
                assert secret not in json.dumps([asked, value]), tool

            second = await client.call_tool(tool, {**given, place.parameter: asked["confirm_token"]})
            assert text(second) == text(first), "the same payload, byte for byte"
            assert replayed(second) and place.digests() == after, "no second effect"
            done.append((tool, again, text(first)))
    # A replay is for whoever asks with the token, in a new process too.
    async with place.client(mode) as client:
        for tool, again, said in done:
            result = await client.call_tool(tool, again)
            assert text(result) == said and replayed(result), result
    assert place.digests() == after


async def no_refusal_spends_a_token(place: Place, mode: str):
    async with place.client(mode) as client:
        story = await begin(place, client)
        call = story["dangerous"][0]
        tool, given, parameter = call["tool"], call["arguments"], place.parameter
        token = (await preview(client, tool, given))["confirm_token"]
        before = place.digests()

        async def refused(called: str, sent: dict, reason: str):
            value = payload(await client.call_tool(called, sent), "rejected", reason)
            assert value["error"] and token not in json.dumps(value), value
            assert place.digests() == before, reason

        for other in call["changed"]:
            await refused(tool, {**other, parameter: token}, "params_changed")
        for other in call["elsewhere"]:
            await refused(other, {**given, parameter: token}, "wrong_tool")
        for bad in ("cfm_", token[:-1], token.upper(), token + "a", "x", token.replace("cfm_", "confirm_"), 7, ["x"], True):
            await refused(tool, {**given, parameter: bad}, "malformed_token")
        stranger = "cfm_" + "a" * 24
        await refused(tool, {**given, parameter: stranger}, "unknown_or_used")
        await refused("nothing", {}, "unknown_tool")
        await refused("nothing", {parameter: stranger}, "unknown_or_used")
        async with place.client(mode, owner="someone") as other:
            payload(await other.call_tool(tool, {**given, parameter: token}), "rejected", "wrong_owner")
        # null and "" stand for no token: a second preview.
        for empty in (None, ""):
            asked = payload(await client.call_tool(tool, {**given, parameter: empty}), "confirmation_required")
            assert asked["confirm_token"] != token

        assert place.digests() == before
        payload(await client.call_tool(tool, {**given, parameter: token}), "ok")
        assert place.digests() != before


async def what_a_tool_or_its_schema_refuses_gets_no_token(place: Place, mode: str):
    async with place.client(mode) as client:
        story = await begin(place, client)
        before = place.digests()
        for reason, calls in (("refused", story["refused"]), ("invalid_arguments", story["invalid"])):
            for call in calls:
                value = payload(await client.call_tool(call["tool"], call["arguments"]), "rejected", reason)
                assert call.get("error", "") in value["error"] and "confirm_token" not in value, value
        assert place.digests() == before


async def what_changed_since_the_preview_is_not_destroyed(place: Place, mode: str):
    async with place.client(mode) as client:
        story = await begin(place, client)
        call = story["dangerous"][0]
        tool, given, meanwhile = call["tool"], call["arguments"], call["meanwhile"]
        asked = await preview(client, tool, given)
        for other in meanwhile.get("calls", []):
            payload(await client.call_tool(other["tool"], other["arguments"]), "ok")
        for name, content in meanwhile.get("data", {}).items():
            place.write(name, content)
        before = place.digests()
        again = place.confirmed(given, asked["confirm_token"])
        first = await client.call_tool(tool, again)
        assert payload(first, "failed", "tool_error")["effect"] == "none", first
        # A failure is an outcome like any other: it is kept, and the tool does not get another try.
        second = await client.call_tool(tool, again)
        assert text(second) == text(first) and replayed(second), second
        assert place.digests() == before


async def many_at_once_have_one_effect(place: Place, mode: str):
    async with place.client(mode) as one, place.client(mode) as other:
        story = await begin(place, one)
        await other.list_tools()
        call = story["dangerous"][0]
        again = place.confirmed(call["arguments"], (await preview(one, call["tool"], call["arguments"]))["confirm_token"])
        results = await asyncio.gather(*((one, other)[n % 2].call_tool(call["tool"], again) for n in range(32)))
        ran = [text(result) for result in results if not result.is_error]
        assert len(set(ran)) == 1, set(ran)
        assert sum(not replayed(result) for result in results if not result.is_error) == 1
        for result in results:
            if result.is_error:
                assert payload(result, "rejected", "unknown_or_used")["detail"] == "in_flight"
        assert text(await other.call_tool(call["tool"], again)) == ran[0]


async def protocol_errors_leave_the_session_alive(place: Place, mode: str):
    async with place.client(mode) as client:
        story = await begin(place, client)
        try:
            await client.session.list_prompts()
        except MCPError as error:
            assert error.error.code == -32601, error.error
        else:
            raise AssertionError("there are no prompts")
        payload(await client.call_tool(story["reads"][0]["tool"], story["reads"][0]["arguments"]), "ok")


async def two_one_shot_processes(place: Place, mode: str):
    """First call in one process, confirm in the next, each fed by a here-document that holds the whole session."""
    opening = []
    if mode == "legacy":
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1.0.0"}}
        opening = [request(1, mode, "initialize", params), {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    elif mode == "auto":  # here: no opening at all, neither handshake nor metadata
        mode = "legacy"

    def answer(number: object, tool: str, arguments: dict) -> dict:
        answers = place.one_shot(*opening, request(number, mode, "tools/call", {"name": tool, "arguments": arguments}))
        assert not opening or answers[1]["result"]["protocolVersion"] == "2025-06-18", answers[1]
        return answers[number]["result"]

    async def call(tool: str, arguments: dict) -> dict:
        return answer(2, tool, arguments)["structuredContent"]

    told = (await made(place.story, call))["dangerous"][0]
    tool, given, before = told["tool"], told["arguments"], place.digests()
    first = answer(2, tool, given)
    asked = json.loads(first["content"][0]["text"])
    assert asked == first["structuredContent"] and asked["status"] == "confirmation_required", first
    assert place.digests() == before

    again = {**given, place.parameter: asked["confirm_token"]}
    done = answer(3, tool, again)
    assert done["structuredContent"]["status"] == "ok" and done["isError"] is False, done
    after = place.digests()
    assert after != before

    repeated = answer("x", tool, again)
    assert repeated["content"] == done["content"] and repeated["_meta"]["counterfoil/replayed"] is True, repeated
    assert place.digests() == after


CASES = [
    what_the_server_says_of_itself,
    what_is_listed,
    reads_run_at_once_and_change_nothing,
    writes_that_are_easy_to_undo_run_at_once,
    a_dangerous_call_previews_runs_once_and_is_replayed,
    no_refusal_spends_a_token,
    what_a_tool_or_its_schema_refuses_gets_no_token,
    what_changed_since_the_preview_is_not_destroyed,
    many_at_once_have_one_effect,
    protocol_errors_leave_the_session_alive,
    two_one_shot_processes,
]
