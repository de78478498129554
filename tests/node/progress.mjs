// Progress, on the fixture plug-in of that name: its first message is very long, its second has a fraction that is no number.

import assert from 'node:assert/strict';
import { list, payload } from './kit.mjs';

export const cases = {
  async 'a client that asks for progress is told how far a run is, in steps that only rise'(place, mode) {
    const session = await place.open(mode);
    await list(session);
    const told = [];
    const result = await session.call('work', { times: 6, every: 60 }, { onprogress: (step) => told.push(step) });
    payload(result, 'ok');
    assert.ok(told.length > 0, 'it was told something');
    told.reduce((before, { progress, total, message }) => {
      assert.ok(progress > before, `${progress} after ${before}`);
      assert.ok(total === undefined || progress <= total, `${progress} of ${total}`);
      assert.ok(message.length < 10_000, message.slice(0, 100));
      return progress;
    }, -1);
    payload(await session.call('work', { times: 2, every: 1 }), 'ok');
  },
};
