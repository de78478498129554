"""Cases of the pdf plug-in that its story cannot tell. The confirm parameter is called `_confirmation_token` here."""

import base64
import hashlib

from kit import Place, begin, payload, preview


async def what_comes_back_in_base64_at_once_is_what_the_file_gets(place: Place, mode: str):
    async with place.client(mode) as client:
        given = (await begin(place, client))["dangerous"][0]["arguments"]
        before = place.digests()
        value = payload(await client.call_tool("output_pdf", {"document_id": given["document_id"]}), "ok")
        pdf = base64.b64decode(value["content"], validate=True)
        assert pdf.startswith(b"%PDF-") and len(pdf) == value["bytes"], value["bytes"]
        assert hashlib.sha256(pdf).hexdigest() == value["sha256"], value["sha256"]
        asked = await preview(client, "output_pdf", given)
        assert asked["preview"]["sha256"] == value["sha256"] and place.digests() == before, asked
        payload(await client.call_tool("output_pdf", place.confirmed(given, asked["confirm_token"])), "ok")
        assert (place.data / "out.pdf").read_bytes() == pdf


async def a_token_that_nobody_relays_stops_nothing(place: Place, mode: str):
    async with place.client(mode) as client:
        given = (await begin(place, client))["dangerous"][0]["arguments"]
        lost = await preview(client, "output_pdf", given)
        token = (await preview(client, "output_pdf", given))["confirm_token"]
        assert token != lost["confirm_token"]
        # Under the name that other servers use the token is an argument like any other, and the schema does not know it.
        misnamed = await client.call_tool("output_pdf", {**given, "confirm_token": token})
        payload(misnamed, "rejected", "invalid_arguments")
        payload(await client.call_tool("output_pdf", place.confirmed(given, token)), "ok")


CASES = [what_comes_back_in_base64_at_once_is_what_the_file_gets, a_token_that_nobody_relays_stops_nothing]
