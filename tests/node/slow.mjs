// Calls that take their time, on the fixture plug-in `slow`: it logs `start`, sleeps and logs `end`. What has started and
// was confirmed comes to its end, whatever becomes of the client.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { list, payload, preview, replayed, text, until } from './kit.mjs';

const CALLER = fileURLToPath(new URL('./caller.mjs', import.meta.url));

const started = (place) => until(() => place.read('log') === 'start\n', 'the start of the run');

/** Sends the confirming call again until its run has ended; the outcome that is kept. */
function outcome(session, tool, again) {
  return until(async () => {
    const result = await session.call(tool, again);
    if (!result.isError) return result;
    assert.equal(payload(result, 'rejected', 'unknown_or_used').detail, 'in_flight');
    return undefined;
  }, 'the outcome of the run');
}

export const cases = {
  async 'a cancelled Tier-1 call is stopped'(place, mode) {
    const session = await place.open(mode);
    await list(session);
    const abort = new AbortController();
    const call = session.call('slow', { ms: 20_000 }, { signal: abort.signal });
    const given = assert.rejects(call);
    await started(place);
    abort.abort('given up');
    await given;
    // Calls that write run one at a time: this one had to wait if the other were still there.
    payload(await session.call('slow', { ms: 0 }), 'ok');
    assert.equal(place.read('log'), 'start\nstart\nend\n');
  },

  async 'a cancelled confirmed call comes to its end and its outcome is kept'(place, mode) {
    const session = await place.open(mode);
    await list(session);
    const { confirm_token } = await preview(session, 'slow_dangerous', { ms: 300 });
    const again = { ms: 300, confirm_token };
    const abort = new AbortController();
    const given = assert.rejects(session.call('slow_dangerous', again, { signal: abort.signal }));
    await started(place);
    abort.abort('given up');
    await given;
    const kept = await outcome(session, 'slow_dangerous', again);
    payload(kept, 'ok');
    assert.ok(replayed(kept));
    assert.equal(place.read('log'), 'start\nend\n', 'it ran once, to its end');
  },

  async 'a call that the client gives up by its own time limit comes to its end'(place, mode) {
    const session = await place.open(mode);
    await list(session);
    const { confirm_token } = await preview(session, 'slow_dangerous', { ms: 600 });
    const again = { ms: 600, confirm_token };
    await assert.rejects(session.call('slow_dangerous', again, { timeout: 200 }), /timed out/i);
    payload(await outcome(session, 'slow_dangerous', again), 'ok');
    assert.equal(place.read('log'), 'start\nend\n');
  },

  async 'a client that is killed in the middle of a confirmed run finds its outcome in a new process'(place, mode) {
    const session = await place.open(mode);
    await list(session);
    const { confirm_token } = await preview(session, 'slow_dangerous', { ms: 400 });
    await session.close();
    const again = { ms: 400, confirm_token };
    const call = JSON.stringify({ server: place.server(), tool: 'slow_dangerous', given: again });
    const caller = spawn(process.execPath, [CALLER, place.client, mode, call], { stdio: ['ignore', 'pipe', 'pipe'] });
    const gone = new Promise((resolve) => caller.once('close', (code, signal) => resolve(signal)));
    await started(place);
    caller.kill('SIGKILL');
    assert.equal(await gone, 'SIGKILL', 'it had no answer yet');
    const later = await place.open(mode);
    const kept = await outcome(later, 'slow_dangerous', again);
    payload(kept, 'ok');
    assert.ok(replayed(kept));
    assert.equal(text(await later.call('slow_dangerous', again)), text(kept));
    assert.equal(place.read('log'), 'start\nend\n', 'it ran once, to its end');
  },

  'a client that closes waits two seconds and then ends the program: the run comes to its end all the same': {
    modes: (modes) => modes.slice(-1),
    async test(place, mode) {
      const session = await place.open(mode);
      await list(session);
      const { confirm_token } = await preview(session, 'slow_dangerous', { ms: 2_400 });
      const again = { ms: 2_400, confirm_token };
      const given = assert.rejects(session.call('slow_dangerous', again));
      await started(place);
      await session.close();
      await given;
      const later = await place.open(mode);
      payload(await outcome(later, 'slow_dangerous', again), 'ok');
      assert.equal(place.read('log'), 'start\nend\n');
    },
  },
};
