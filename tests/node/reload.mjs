// A server that reads its configuration anew, seen through the official TypeScript SDKs in both generations.
//
//     node reload.mjs CLIENT NEXT PROGRAM COMPONENT
//
// The server starts with COMPONENT; then NEXT is put in its place, locked, and the server is told by SIGHUP.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { clients } from './clients.mjs';
import { payload, preview, until } from './kit.mjs';

const [name, next, program, component] = process.argv.slice(2);
const cache = process.env.COUNTERFOIL_TEST_CACHE;

class Place {
  constructor() {
    this.root = fs.mkdtempSync(path.join(os.tmpdir(), 'counterfoil-'));
    this.config = path.join(this.root, 'counterfoil.toml');
    fs.mkdirSync(path.join(this.root, 'data'));
    this.news = [];
    this.put(component);
    this.write('');
    this.lock();
  }

  put(file) {
    fs.copyFileSync(file, path.join(this.root, 'new.wasm'));
    fs.renameSync(path.join(this.root, 'new.wasm'), path.join(this.root, 'stamp.wasm'));
  }

  write(more) {
    const dirs = '[{ host = "./data", guest = "/data", access = "read-write" }]';
    const plugin = `[plugins.stamp]\nsource = "stamp.wasm"\ndirs = ${dirs}\n`;
    fs.writeFileSync(this.config, `[store]\nurl = "memory:"\n${plugin}${more}`, { mode: 0o600 });
  }

  get env() {
    return { XDG_STATE_HOME: this.root, XDG_CACHE_HOME: cache };
  }

  lock() {
    execFileSync(program, ['plugin', 'lock', '--yes', '--config', this.config], { env: this.env, stdio: 'ignore' });
  }

  /** A client that lists anew whenever it hears that the list has changed. */
  async open(mode) {
    // The shell becomes the program: its id is the server's.
    const line = `echo $$ > pid; exec '${program}' serve --config '${this.config}' 2>> log`;
    const server = { command: '/bin/sh', args: ['-c', line], cwd: this.root, env: this.env };
    const onChanged = (error, tools) => this.news.push(error ?? tools.map((tool) => tool.name));
    this.session = await clients[name].open(mode, server, { listChanged: { tools: { onChanged } } });
    assert.equal(this.session.capabilities.tools.listChanged, true);
    return this.session;
  }

  hangUp() {
    process.kill(Number(fs.readFileSync(path.join(this.root, 'pid'), 'utf8')), 'SIGHUP');
  }

  said(words) {
    return until(() => fs.readFileSync(path.join(this.root, 'log'), 'utf8').includes(words), words);
  }

  async remove() {
    await this.session?.close();
    fs.rmSync(this.root, { recursive: true });
  }
}

const listed = async (session) => (await session.page()).tools.map((tool) => tool.name);

const cases = {
  'the client hears of another list and sees it': async (place, mode) => {
    const session = await place.open(mode);
    assert.deepEqual(await listed(session), ['stamp', 'wipe', 'look']);
    const asked = await preview(session, 'wipe', {});
    place.put(next);
    place.lock();
    place.hangUp();
    assert.deepEqual(await until(() => place.news[0], 'the news'), ['stamp', 'wipe', 'shred']);
    const confirm = { confirm_token: asked.confirm_token };
    payload(await session.call('wipe', confirm), 'rejected', 'tool_changed');
    assert.equal(payload(await session.call('wipe', {}), 'ok').message, 'wipe of the second');
  },

  'a bad configuration changes nothing and the client goes on': async (place, mode) => {
    const session = await place.open(mode);
    const before = await listed(session);
    place.write('colour = 1\n');
    place.hangUp();
    await place.said('unknown key');
    assert.deepEqual(await listed(session), before);
    assert.equal(payload(await session.call('stamp', {}), 'ok').message, 'stamp of the first');
    place.write('[plugins.stamp.levels]\nstamp = 3\n');
    place.hangUp();
    assert.deepEqual(await until(() => place.news[0], 'the news'), before);
    await preview(session, 'stamp', {});
    assert.equal(place.news.length, 1);
  },
};

let [failed, ran] = [0, 0];
for (const [title, test] of Object.entries(cases)) {
  for (const mode of clients[name].modes) {
    ran += 1;
    const place = new Place();
    try {
      await test(place, mode);
      console.log(`ok      ${title} (${mode})`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${title} (${mode})`);
      console.error(error);
      console.error(fs.existsSync(path.join(place.root, 'log')) ? fs.readFileSync(path.join(place.root, 'log'), 'utf8') : '');
    } finally {
      await place.remove();
    }
  }
}
console.log(`${ran - failed} of ${ran} passed`);
process.exitCode = failed ? 1 : 0;
