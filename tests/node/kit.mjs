// What every contract needs: a place of its own for each case, and the checks that hold for every answer.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { clients } from './clients.mjs';

const locks = new Map();

/** A temporary directory with what a story's plug-in may see, a configuration and a store. */
export class Place {
  constructor(story, { program, component, client, cache }) {
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), 'counterfoil-'));
    Object.assign(this, { story, program, cache, client });
    this.data = path.join(this.root, 'data');
    fs.mkdirSync(this.data);
    if (story.sample) {
      fs.cpSync(new URL(`../../${story.sample}`, import.meta.url), this.data, { recursive: true });
    }
    for (const [name, content] of Object.entries(story.data ?? {})) this.write(name, content);
    this.config = path.join(this.root, 'counterfoil.toml');
    const parameter = story.parameter ?? 'confirm_token';
    const levels = Object.entries(story.raised ?? {}).map(([tool, level]) => `${tool} = ${JSON.stringify(level)}\n`);
    fs.writeFileSync(
      this.config,
      `[gate]
confirm_parameter = ${JSON.stringify(parameter)}
[store]
url = "sqlite:state.db"
[plugins.${story.plugin}]
source = ${JSON.stringify(component)}
dirs = [{ host = "./data", guest = ${JSON.stringify(story.guest)}, access = "read-write" }]
[plugins.${story.plugin}.levels]
${levels.join('')}`,
      { mode: 0o600 },
    );
    this.parameter = parameter;
    this.lock(component);
    this.log = path.join(this.root, 'log');
    this.sessions = new Set();
  }

  /** What `plugin lock` writes: once for each component, and copied for the other places. */
  lock(component) {
    const key = `${this.story.plugin} ${component}`;
    const { args, env } = this.server();
    const config = args.slice(1, 3);
    const file = this.config.replace(/toml$/, 'lock');
    if (!locks.has(key)) {
      execFileSync(this.program, ['plugin', 'lock', '--yes', ...config], { env, stdio: 'ignore' });
      locks.set(key, fs.readFileSync(file));
    }
    fs.writeFileSync(file, locks.get(key), { mode: 0o600 });
  }

  /** How a client starts the program; what it says goes to a file, also what a probe of the client's makes it say. */
  server(owner = 'node') {
    return {
      command: this.program,
      args: ['serve', '--config', this.config, '--owner', owner],
      env: { XDG_STATE_HOME: this.root, XDG_CACHE_HOME: this.cache, COUNTERFOIL_LOG: this.logging ?? 'warn' },
    };
  }

  async open(mode, owner) {
    const stderr = fs.openSync(this.log, 'a');
    try {
      const session = await clients[this.client].open(mode, { ...this.server(owner), stderr });
      this.sessions.add(session);
      return session;
    } finally {
      fs.closeSync(stderr);
    }
  }

  /** What the program has said on standard error, but for the one line about compiled code. */
  said() {
    const lines = fs.existsSync(this.log) ? fs.readFileSync(this.log, 'utf8').split('\n') : [];
    return lines.filter((line) => line && !line.startsWith('note: compiling'));
  }

  write(name, content) {
    const file = path.join(this.data, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }

  read(name) {
    const file = path.join(this.data, name);
    return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined;
  }

  /** What is on disk: every path with the digest of its content. */
  digests() {
    const found = {};
    for (const entry of fs.readdirSync(this.data, { withFileTypes: true, recursive: true })) {
      const file = path.join(entry.parentPath ?? entry.path, entry.name);
      const content = entry.isFile() ? crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex') : '/';
      found[path.relative(this.data, file)] = content;
    }
    return found;
  }

  /** A call's arguments with the token, their keys the other way round. */
  confirmed(given, token) {
    return Object.fromEntries(Object.entries({ ...given, [this.parameter]: token }).reverse());
  }

  async remove() {
    await Promise.all([...this.sessions].map((session) => session.close()));
    fs.rmSync(this.root, { recursive: true });
  }
}

/** The text of a result: its only content. */
export function text(result) {
  assert.deepEqual(result.content.map((block) => block.type), ['text']);
  return result.content[0].text;
}

/** The payload, after checks that hold for every answer. */
export function payload(result, status, reason) {
  const value = JSON.parse(text(result));
  assert.deepEqual(result.structuredContent, value, 'structured content says what the text says');
  const shown = JSON.stringify(value);
  assert.equal(Object.keys(value)[0], 'status', shown);
  assert.equal(value.status, status, shown);
  assert.equal(value.reason, reason, shown);
  assert.equal(result.isError ?? false, status === 'rejected' || status === 'failed', shown);
  return value;
}

export const replayed = (result) => result._meta?.['counterfoil/replayed'] === true;

/** The first call of a dangerous one: a challenge, held to its shape. */
export async function preview(session, tool, given) {
  const asked = payload(await session.call(tool, given), 'confirmation_required');
  const shown = JSON.stringify(asked);
  assert.equal(asked.tool, tool, shown);
  assert.equal(asked.level, 'approval_required', shown);
  assert.equal(asked.assurance, 'token_only', shown);
  assert.match(asked.confirm_token, /^cfm_[a-z2-7]{24}$/);
  assert.ok(asked.confirm_instructions.includes(asked.confirm_token), shown);
  assert.ok(asked.summary && asked.expires_at && Array.isArray(asked.warnings), shown);
  return asked;
}

/** Every page of the listing. */
export async function list(session) {
  const tools = [];
  for (let cursor; ; ) {
    const page = await session.page(cursor);
    tools.push(...page.tools);
    if ((cursor = page.nextCursor) === undefined) return tools;
  }
}

/** That `value` holds at least what `expected` says. */
export function holds(value, expected, where) {
  for (const [key, wanted] of Object.entries(expected ?? {})) {
    const message = `${where}: ${key} in ${JSON.stringify(value)}`;
    if (wanted !== null && typeof wanted === 'object' && !Array.isArray(wanted)) holds(value[key] ?? {}, wanted, message);
    else assert.deepEqual(value[key], wanted, message);
  }
}

/** Asks until `condition` gives a value, for at most as long as a run may take. */
export async function until(condition, what) {
  const start = Date.now();
  for (;;) {
    const value = await condition();
    if (value) return value;
    assert.ok(Date.now() - start < 30_000, `waited too long for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** The story after its first calls have made what the others need: `"$key"` in them stands for what those answered. */
export async function made(story, call) {
  let bound = story;
  for (let step = 0; step < (story.before ?? []).length; step += 1) {
    const { tool, arguments: given, keep } = bound.before[step];
    const value = payload(await call(tool, given), 'ok');
    let whole = JSON.stringify(bound);
    for (const key of keep ?? []) whole = whole.replaceAll(`"$${key}"`, JSON.stringify(value[key]));
    bound = JSON.parse(whole);
  }
  return bound;
}

/** Lists the tools, so that the client checks results; gives the story, ready to be told. */
export async function begin(place, session) {
  await list(session);
  return made(place.story, session.call);
}
