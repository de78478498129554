// Cases of the pdf plug-in that its story cannot tell. The confirm parameter is called `_confirmation_token` here.

import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { begin, payload, preview } from './kit.mjs';

const sha256 = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');

export const cases = {
  async 'what comes back in base64 at once is what the file gets after a confirmation'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    const [{ arguments: given }] = story.dangerous;
    const before = place.digests();
    const value = payload(await session.call('output_pdf', { document_id: given.document_id }), 'ok');
    const pdf = Buffer.from(value.content, 'base64');
    assert.equal(pdf.subarray(0, 5).toString(), '%PDF-');
    assert.deepEqual([pdf.length, sha256(pdf)], [value.bytes, value.sha256]);
    const asked = await preview(session, 'output_pdf', given);
    assert.equal(asked.preview.sha256, value.sha256);
    assert.deepEqual(place.digests(), before);
    payload(await session.call('output_pdf', place.confirmed(given, asked.confirm_token)), 'ok');
    assert.equal(sha256(fs.readFileSync(path.join(place.data, 'out.pdf'))), value.sha256);
  },

  async 'a token that nobody relays stops nothing: the next call gets one of its own'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    const [{ arguments: given }] = story.dangerous;
    const lost = await preview(session, 'output_pdf', given);
    const next = await preview(session, 'output_pdf', given);
    assert.notEqual(next.confirm_token, lost.confirm_token);
    // Under the name that other servers use the token is an argument like any other, and the schema does not know it.
    const misnamed = { ...given, confirm_token: next.confirm_token };
    payload(await session.call('output_pdf', misnamed), 'rejected', 'invalid_arguments');
    payload(await session.call('output_pdf', place.confirmed(given, next.confirm_token)), 'ok');
  },
};
