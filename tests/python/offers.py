"""Cases of the offers plug-in that its story cannot tell."""

from kit import Place, begin, payload, preview, text


async def a_token_for_one_campaign_deletes_no_other_one_and_nothing_else_that_has_its_id(place: Place, mode: str):
    async with place.client(mode) as client:
        await begin(place, client)
        before = place.digests()
        token = (await preview(client, "delete_campaign", {"id": 42}))["confirm_token"]
        other = await client.call_tool("delete_campaign", {"id": 43, "confirm_token": token})
        payload(other, "rejected", "params_changed")
        for tool in ("delete_product", "delete_collection", "delete_email_list", "pause_campaign", "get_campaign"):
            payload(await client.call_tool(tool, {"id": 42, "confirm_token": token}), "rejected", "wrong_tool")
        assert place.digests() == before
        payload(await client.call_tool("delete_campaign", {"id": 42, "confirm_token": token}), "ok")
        payload(await client.call_tool("get_campaign", {"id": 42}), "rejected", "refused")
        payload(await client.call_tool("get_campaign", {"id": 43}), "ok")


async def a_password_is_told_to_nobody(place: Place, mode: str):
    """No answer and no data file has it. What is logged is held to it by the contract for Node."""
    (call,) = (call for call in place.story["dangerous"] if "masked" in call)
    given, told = call["arguments"], []
    async with place.client(mode) as client:
        await begin(place, client)

        async def answer(more: dict, status: str, reason: str | None = None) -> dict:
            result = await client.call_tool(call["tool"], {**given, **more})
            told.append(text(result))
            return payload(result, status, reason)

        token = (await answer({}, "confirmation_required"))["confirm_token"]
        await answer({"password": "another long password", "confirm_token": token}, "rejected", "params_changed")
        for _ in range(2):
            await answer({"confirm_token": token}, "ok")
        await answer({"password": "short"}, "rejected", "invalid_arguments")
    told += [file.read_text() for file in place.data.rglob("*") if file.is_file()]
    assert "Newsletter" in told[-1], "the server is kept"
    for secret in (*call["masked"], "another long password"):
        assert not [content for content in told if secret in content], secret


CASES = [
    a_token_for_one_campaign_deletes_no_other_one_and_nothing_else_that_has_its_id,
    a_password_is_told_to_nobody,
]
