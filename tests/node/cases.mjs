// What holds for every plug-in, told of the calls in its story.

import assert from 'node:assert/strict';
import { OLDER, clients } from './clients.mjs';
import { begin, holds, list, payload, preview, replayed, text } from './kit.mjs';

const STRANGER = `cfm_${'a'.repeat(24)}`;

export const cases = {
  async 'the server says what it is and which risk model it speaks'(place, mode) {
    const session = await place.open(mode);
    assert.equal(session.protocol, clients[place.client].newest(mode));
    const { capabilities, instructions } = session;
    assert.ok(capabilities.tools && !capabilities.logging && !capabilities.prompts, JSON.stringify(capabilities));
    const { version } = capabilities.experimental['counterfoil/risk-model'];
    assert.ok(version);
    assert.equal(capabilities.extensions['counterfoil/risk-model'].version, version);
    assert.equal(session.name, 'counterfoil');
    assert.ok(instructions.includes(`risk model version ${version}`), instructions);
    assert.ok(instructions.includes(`"${place.parameter}"`), instructions);
    await session.close();
    assert.deepEqual(place.said(), [], 'a client that goes is no error, nor is the probe of one that asks first');
  },

  async 'the tools are listed with their levels, and the confirm parameter where a call may ask'(place, mode) {
    const session = await place.open(mode);
    const tools = Object.fromEntries((await list(session)).map((tool) => [tool.name, tool]));
    const { story, parameter } = place;
    assert.deepEqual(Object.keys(tools).sort(), Object.keys(story.tools).sort());
    for (const [name, declared] of Object.entries(story.tools)) {
      const { inputSchema: schema, outputSchema, annotations: hints, _meta: meta } = tools[name];
      const level = story.raised?.[name] ?? declared;
      assert.equal(meta['counterfoil/level'], level, name);
      assert.equal(meta['counterfoil/declared_level'], declared, name);
      assert.equal(meta['counterfoil/plugin'], story.plugin, name);
      assert.equal(meta['counterfoil/preview_enforced'], true, name);
      const dangerous = level === 'approval_required';
      assert.equal(parameter in schema.properties, dangerous, name);
      if (dangerous) assert.equal(schema.properties[parameter].type, 'string', name);
      assert.ok(!(schema.required ?? []).includes(parameter), name);
      assert.equal(hints.readOnlyHint, level === 'safe', name);
      assert.equal(hints.destructiveHint, dangerous, name);
      if (dangerous) assert.equal(hints.idempotentHint, true, name);
      if (outputSchema) {
        assert.equal(outputSchema.type, 'object', name);
        assert.ok(outputSchema.anyOf.length >= 4, name);
      }
    }
    await assert.rejects(session.page('no such page'), /unknown cursor/);
    assert.equal((await list(session)).length, Object.keys(tools).length, 'an error leaves the session alive');
  },

  async 'the client holds every result against the listed schema'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    const [{ tool, arguments: given }] = story.reads;
    const listed = (await list(session)).find(({ name }) => name === tool);
    assert.ok(listed.outputSchema, `${tool} has an output schema, so that there is something to hold it against`);
    payload(await session.call(tool, given), 'ok');
    session.falsify((message) => {
      if (message.result?.structuredContent) message.result.structuredContent.status = 'anything';
      return message;
    });
    await assert.rejects(session.call(tool, given), /schema/);
  },

  async 'reads run at once and change nothing'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    const before = place.digests();
    for (const { tool, arguments: given, ok } of story.reads) {
      const value = payload(await session.call(tool, given), 'ok');
      holds(value, ok, tool);
      assert.equal(value.assurance, undefined, tool);
    }
    assert.deepEqual(place.digests(), before);
  },

  async 'writes that are easy to undo run at once'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    for (const { tool, arguments: given, ok } of story.writes) {
      const before = place.digests();
      const value = payload(await session.call(tool, given), 'ok');
      holds(value, ok, tool);
      assert.equal(value.assurance, undefined, tool);
      assert.notDeepEqual(place.digests(), before, tool);
    }
  },

  async 'a dangerous call previews, runs once with its keys in another order, and is replayed'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    const confirmed = [];
    for (const { tool, arguments: given, summary, preview: seen, warnings, ok, masked } of story.dangerous) {
      const before = place.digests();
      const asked = await preview(session, tool, given);
      if (summary) assert.equal(asked.summary, summary);
      if (warnings) assert.equal(asked.warnings.length, warnings, JSON.stringify(asked.warnings));
      holds(asked.preview, seen, tool);
      assert.deepEqual(place.digests(), before, 'a first call changes nothing');

      const again = place.confirmed(given, asked.confirm_token);
      const first = await session.call(tool, again);
      const value = payload(first, 'ok');
      holds(value, ok, tool);
      assert.equal(value.assurance, 'token_only', tool);
      assert.ok(!replayed(first), tool);
      const after = place.digests();
      assert.notDeepEqual(after, before, tool);
      for (const secret of masked ?? []) assert.ok(!JSON.stringify([asked, value]).includes(secret), tool);

      const second = await session.call(tool, { ...given, [place.parameter]: asked.confirm_token });
      assert.equal(text(second), text(first), 'the same payload, byte for byte');
      assert.ok(replayed(second), tool);
      assert.deepEqual(place.digests(), after, 'no second effect');
      confirmed.push([tool, again, text(first)]);
    }
    // A replay is for whoever asks with the token, in a new process too.
    await session.close();
    const after = place.digests();
    const later = await place.open(mode);
    await list(later);
    for (const [tool, again, said] of confirmed) {
      const result = await later.call(tool, again);
      assert.equal(text(result), said, tool);
      assert.ok(replayed(result), tool);
    }
    assert.deepEqual(place.digests(), after);
    assert.deepEqual(place.said(), []);
  },

  async 'no refusal spends a token'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    const { parameter } = place;
    const [{ tool, arguments: given, changed, elsewhere }] = story.dangerous;
    const { confirm_token: token } = await preview(session, tool, given);
    const before = place.digests();
    const refused = async (called, sent, reason) => {
      const value = payload(await session.call(called, sent), 'rejected', reason);
      assert.ok(value.error && !JSON.stringify(value).includes(token), value.error);
      assert.deepEqual(place.digests(), before, reason);
    };
    for (const other of changed) await refused(tool, { ...other, [parameter]: token }, 'params_changed');
    for (const other of elsewhere) await refused(other, { ...given, [parameter]: token }, 'wrong_tool');
    const malformed = ['cfm_', token.slice(0, -1), token.toUpperCase(), `${token}a`, 'x', token.replace('cfm_', 'confirm_')];
    for (const bad of [...malformed, 7, ['x'], true]) await refused(tool, { ...given, [parameter]: bad }, 'malformed_token');
    await refused(tool, { ...given, [parameter]: STRANGER }, 'unknown_or_used');
    await refused('nothing', {}, 'unknown_tool');
    const other = await place.open(mode, 'someone');
    payload(await other.call(tool, { ...given, [parameter]: token }), 'rejected', 'wrong_owner');
    // null and an empty text stand for no token: a second preview.
    for (const empty of [null, '']) {
      const asked = payload(await session.call(tool, { ...given, [parameter]: empty }), 'confirmation_required');
      assert.notEqual(asked.confirm_token, token);
    }
    assert.deepEqual(place.digests(), before);
    payload(await session.call(tool, { ...given, [parameter]: token }), 'ok');
    assert.notDeepEqual(place.digests(), before);
  },

  async 'what a tool or its schema refuses gets no token'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    const before = place.digests();
    for (const [reason, calls] of [['refused', story.refused], ['invalid_arguments', story.invalid]]) {
      for (const { tool, arguments: given, error } of calls) {
        const value = payload(await session.call(tool, given), 'rejected', reason);
        assert.ok(value.error.includes(error ?? ''), value.error);
        assert.equal(value.confirm_token, undefined, tool);
      }
    }
    assert.deepEqual(place.digests(), before);
  },

  async 'two clients with one token have one effect'(place, mode) {
    const sessions = await Promise.all([place.open(mode), place.open(mode)]);
    const story = await begin(place, sessions[0]);
    await list(sessions[1]);
    const [{ tool, arguments: given }] = story.dangerous;
    const { confirm_token: token } = await preview(sessions[0], tool, given);
    const again = place.confirmed(given, token);
    const calls = Array.from({ length: 16 }, (_, number) => sessions[number % 2].call(tool, again));
    const results = await Promise.all(calls);
    const ran = results.filter((result) => !result.isError);
    assert.equal(new Set(ran.map(text)).size, 1, 'all who get an outcome get the same');
    assert.equal(ran.filter((result) => !replayed(result)).length, 1, 'one call ran');
    for (const result of results.filter(({ isError }) => isError)) {
      assert.equal(payload(result, 'rejected', 'unknown_or_used').detail, 'in_flight');
    }
    assert.equal(text(await sessions[1].call(tool, again)), text(ran[0]));
  },

  async 'what changed since the preview is not destroyed'(place, mode) {
    const session = await place.open(mode);
    const story = await begin(place, session);
    const [{ tool, arguments: given, meanwhile }] = story.dangerous;
    const { confirm_token: token } = await preview(session, tool, given);
    for (const call of meanwhile.calls ?? []) payload(await session.call(call.tool, call.arguments), 'ok');
    for (const [name, content] of Object.entries(meanwhile.data ?? {})) place.write(name, content);
    const before = place.digests();
    const again = place.confirmed(given, token);
    const first = await session.call(tool, again);
    assert.equal(payload(first, 'failed', 'tool_error').effect, 'none');
    // A failure is an outcome like any other: it is kept, and the tool does not get another try.
    const second = await session.call(tool, again);
    assert.equal(text(second), text(first));
    assert.ok(replayed(second));
    assert.deepEqual(place.digests(), before);
  },

  'an older version of the protocol carries the contract too': {
    modes: () => OLDER,
    async test(place, version) {
      const session = await place.open(version);
      assert.equal(session.protocol, version);
      const story = await begin(place, session);
      const [read] = story.reads;
      payload(await session.call(read.tool, read.arguments), 'ok');
      const [{ tool, arguments: given }] = story.dangerous;
      const again = place.confirmed(given, (await preview(session, tool, given)).confirm_token);
      const first = await session.call(tool, again);
      payload(first, 'ok');
      const second = await session.call(tool, again);
      assert.equal(text(second), text(first));
      assert.ok(replayed(second));
    },
  },
};
