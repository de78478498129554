// Cases of the offers plug-in that its story cannot tell.

import assert from 'node:assert/strict';
import { begin, payload, preview, text } from './kit.mjs';

export const cases = {
  async 'a token for one campaign deletes no other one, and nothing else that has its id'(place, mode) {
    const session = await place.open(mode);
    await begin(place, session);
    const before = place.digests();
    const { confirm_token } = await preview(session, 'delete_campaign', { id: 42 });
    payload(await session.call('delete_campaign', { id: 43, confirm_token }), 'rejected', 'params_changed');
    for (const other of ['delete_product', 'delete_collection', 'delete_email_list', 'pause_campaign', 'get_campaign']) {
      payload(await session.call(other, { id: 42, confirm_token }), 'rejected', 'wrong_tool');
    }
    assert.deepEqual(place.digests(), before);
    payload(await session.call('delete_campaign', { id: 42, confirm_token }), 'ok');
    payload(await session.call('get_campaign', { id: 42 }), 'rejected', 'refused');
    payload(await session.call('get_campaign', { id: 43 }), 'ok');
  },

  async 'a password is told to nobody: no answer, no log and no data file has it'(place, mode) {
    place.logging = 'trace';
    const [{ arguments: given, masked }] = place.story.dangerous.filter(({ masked }) => masked);
    const session = await place.open(mode);
    await begin(place, session);
    const answers = [];
    const call = async (sent) => answers[answers.push(await session.call('create_email_smtp_server', sent)) - 1];
    const { confirm_token } = payload(await call(given), 'confirmation_required');
    payload(await call({ ...given, password: 'another long password', confirm_token }), 'rejected', 'params_changed');
    payload(await call({ ...given, confirm_token }), 'ok');
    payload(await call({ ...given, confirm_token }), 'ok');
    payload(await call({ ...given, password: 'short' }), 'rejected', 'invalid_arguments');
    await session.close();
    // The store, which only its owner may read, has the arguments for as long as they may be confirmed or replayed.
    const told = [...answers.map(text), ...Object.keys(place.digests()).map((name) => place.read(name)), ...place.said()];
    assert.ok(place.read('offers.json').includes('Newsletter'), 'the server is kept');
    for (const secret of [...masked, 'another long password']) {
      assert.deepEqual(told.filter((content) => content.includes(secret)), []);
    }
  },
};
