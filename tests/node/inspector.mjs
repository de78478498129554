// The contract through the command line of the official Inspector, one process a call.
//
//     node inspector.mjs STORY PROGRAM COMPONENT [CASE...]
//
// What its `--tool-arg key=value` can and cannot say, and the cases over `echo` hold it to this:
// - A value that reads as JSON is sent as that JSON: `n=6.20` is a number, `text=7` is one too, and refused where a text is
//   due; `text="7"` is the text. Anything else is sent as a text.
// - A text becomes a number where the listed schema asks for one, also in `--tool-args-json`: `{"id":"12"}` arrives as 12.
// - A value cannot be empty: write `text=""`.
// - Numbers pass through a double, also in `--tool-args-json`: 9007199254740993 arrives as 9007199254740992. The preview
//   shows what arrived, and the token binds that.
// - The exit code is 5 where a result says `isError`; the result stands on its standard output all the same.
// - A tool that is not listed is not called at all: the Inspector says so itself, on standard error, with the same code.
// - The program and its own options have to stand behind `--`: the Inspector has a `--config` too.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { holds, made, payload, replayed, text } from './kit.mjs';
import { run, tell } from './runner.mjs';

const INSPECTOR = fileURLToPath(new URL('./node_modules/.bin/mcp-inspector', import.meta.url));

/** The Inspector's answer to one request. */
function ask(place, era, ...options) {
  const { command, args, env } = place.server();
  const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  const all = ['--cli', '--quiet', '--format', 'json', '--protocol-era', era, ...variables, ...options, '--', command, ...args];
  // Its own files go to the place, and it looks for no keychain.
  const surroundings = { ...process.env, HOME: place.root, MCP_INSPECTOR_SECRET_STORE: 'memory' };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [INSPECTOR, ...all], { env: surroundings, timeout: 60_000 }, (error, out, said) => {
      if (error && (error.code !== 5 || !out)) return reject(new Error(`${error.message}\n${said}`));
      const { result } = JSON.parse(out);
      assert.equal(error?.code === 5, result.isError ?? false, 'the exit code says whether it is an error');
      return resolve(result);
    });
  });
}

const call = (place, era, tool, ...options) => ask(place, era, '--method', 'tools/call', '--tool-name', tool, ...options);

/** Arguments as pairs: a text stands bare unless it would be read as JSON. */
function pairs(given) {
  return Object.entries(given).flatMap(([key, value]) => {
    let bare = typeof value === 'string' && value !== '';
    try {
      JSON.parse(value);
      bare = false;
    } catch {
      // It reads as nothing but a text.
    }
    return ['--tool-arg', `${key}=${bare ? value : JSON.stringify(value)}`];
  });
}

const json = (given) => ['--tool-args-json', JSON.stringify(given)];

const contract = {
  async 'the tools are listed'(place, era) {
    const { tools } = await ask(place, era, '--method', 'tools/list');
    const levels = Object.fromEntries(tools.map((tool) => [tool.name, tool._meta['counterfoil/declared_level']]));
    assert.deepEqual(levels, place.story.tools);
    for (const { name, inputSchema, _meta } of tools) {
      const dangerous = _meta['counterfoil/level'] === 'approval_required';
      assert.equal(place.parameter in inputSchema.properties, dangerous, name);
    }
  },

  async 'a preview, a changed argument, the confirmed call and its replay'(place, era) {
    const story = await made(place.story, (tool, given) => call(place, era, tool, ...pairs(given)));
    const [{ tool, arguments: given, changed, summary, ok }] = story.dangerous;
    const before = place.digests();
    const asked = payload(await call(place, era, tool, ...pairs(given)), 'confirmation_required');
    if (summary) assert.equal(asked.summary, summary);
    const confirm = ['--tool-arg', `${place.parameter}=${asked.confirm_token}`];
    payload(await call(place, era, tool, ...pairs(changed[0]), ...confirm), 'rejected', 'params_changed');
    assert.deepEqual(place.digests(), before);
    const first = await call(place, era, tool, ...pairs(given), ...confirm);
    holds(payload(first, 'ok'), ok, tool);
    const after = place.digests();
    assert.notDeepEqual(after, before);
    const second = await call(place, era, tool, ...json(place.confirmed(given, asked.confirm_token)));
    assert.equal(text(second), text(first));
    assert.ok(replayed(second) && !replayed(first));
    assert.deepEqual(place.digests(), after);
  },
};

/** What has to be refused, told of one plug-in: each call is a process of its own. */
const refusals = {
  async 'no refusal spends a token'(place, era) {
    const story = await made(place.story, (tool, given) => call(place, era, tool, ...pairs(given)));
    const [{ tool, arguments: given, changed, elsewhere, ok }] = story.dangerous;
    const { confirm_token: token } = payload(await call(place, era, tool, ...pairs(given)), 'confirmation_required');
    const before = place.digests();
    const refused = async (reason, called, sent, confirm, from = place) => {
      const result = await call(from, era, called, ...pairs({ ...sent, [place.parameter]: confirm }));
      const value = payload(result, 'rejected', reason);
      assert.ok(value.error && !JSON.stringify(value).includes(token), value.error);
      assert.deepEqual(place.digests(), before, reason);
    };
    for (const other of changed) await refused('params_changed', tool, other, token);
    for (const other of elsewhere) {
      if (other in story.tools) await refused('wrong_tool', other, given, token);
      else await assert.rejects(refused('wrong_tool', other, given, token), /tool_not_found/);
    }
    for (const bad of ['cfm_', `${token}a`, token.toUpperCase(), 7]) await refused('malformed_token', tool, given, bad);
    await refused('unknown_or_used', tool, given, `cfm_${'a'.repeat(24)}`);
    const stranger = Object.assign(Object.create(place), { server: () => place.server('someone') });
    await refused('wrong_owner', tool, given, token, stranger);
    const last = await call(place, era, tool, ...pairs(place.confirmed(given, token)));
    holds(payload(last, 'ok'), ok, tool);
    assert.notDeepEqual(place.digests(), before);
  },

  async 'what a tool or its schema refuses gets no token'(place, era) {
    const before = place.digests();
    for (const [reason, calls] of [['refused', place.story.refused], ['invalid_arguments', place.story.invalid]]) {
      for (const { tool, arguments: given, error } of calls) {
        const result = await call(place, era, tool, ...json(given));
        if (given.offer_id === '12') {
          assert.equal(payload(result, 'confirmation_required').preview.offer_id, 12, 'it never arrives as a text');
          continue;
        }
        const value = payload(result, 'rejected', reason);
        assert.ok(value.error.includes(error ?? ''), value.error);
        assert.equal(value.confirm_token, undefined, tool);
      }
    }
    assert.deepEqual(place.digests(), before);
  },
};

/** What arrives when it is written so. */
const given = async (place, ...options) => payload(await call(place, 'modern', 'echo', ...options), 'ok').given;

const spelling = {
  async 'a pair whose value reads as JSON is sent as JSON, anything else as a text'(place) {
    const written = ['n=6.20', 'text="7"', 'a=b=c', 'list=[1,{"x":null}]', 'yes=true', 'no=null', 'empty=""'];
    const sent = await given(place, ...written.flatMap((pair) => ['--tool-arg', pair]));
    assert.deepEqual(sent, { n: 6.2, text: '7', a: 'b=c', list: [1, { x: null }], yes: true, no: null, empty: '' });
  },

  async 'a text that reads as a number has to be quoted, or the schema refuses it'(place) {
    const bare = payload(await call(place, 'modern', 'echo', '--tool-arg', 'text=7'), 'rejected', 'invalid_arguments');
    assert.match(bare.error, /\/text/);
    assert.deepEqual(await given(place, ...json({ text: '7' })), { text: '7' });
    await assert.rejects(call(place, 'modern', 'echo', '--tool-arg', 'text='), /key=value/);
  },

  async 'a number that a double cannot hold is another one when it arrives'(place) {
    const sent = await call(place, 'modern', 'echo', '--tool-args-json', '{"n":9007199254740993}');
    assert.match(text(sent), /"n":9007199254740992\b/);
  },
};

const [name, program, component, ...wanted] = process.argv.slice(2);
const modes = { echo: ['modern'], files: ['legacy', 'auto', 'modern'] }[name] ?? ['legacy', 'modern'];
const cases = { echo: spelling, offers: { ...contract, ...refusals } }[name] ?? contract;
await run(cases, { story: tell(name), modes, program, component, wanted });
