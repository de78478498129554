// The contract through the official TypeScript SDKs, over stdio, on one plug-in.
//
//     node contract.mjs CLIENT STORY PROGRAM COMPONENT [CASE...]
//
// CLIENT is one of clients.mjs. STORY names a file of ../stories: what the plug-in lists, and calls of it. Each case runs once
// for each way in which this client can begin.

import fs from 'node:fs';
import { cases } from './cases.mjs';
import { clients } from './clients.mjs';
import { run, tell } from './runner.mjs';

const [client, name, program, component, ...wanted] = process.argv.slice(2);
const story = tell(name);
const own = new URL(`./${name}.mjs`, import.meta.url);
const all = { ...(story.dangerous ? cases : {}), ...(fs.existsSync(own) ? (await import(own)).cases : {}) };
await run(all, { story, client, modes: clients[client].modes, program, component, wanted });
