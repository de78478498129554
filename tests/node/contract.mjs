// The contract through the official TypeScript SDKs, over stdio, on one plug-in.
//
//     node contract.mjs CLIENT STORY PROGRAM COMPONENT [CASE...]
//
// CLIENT is one of clients.mjs. STORY names a file of ../stories: what the plug-in lists, and calls of it. Each case runs once
// for each way in which this client can begin.

import fs from 'node:fs';
import { clients } from './clients.mjs';
import { run, tell } from './runner.mjs';
import { cases as shared } from './shared.mjs';

const [client, name, program, component, ...wanted] = process.argv.slice(2);
const story = tell(name);
const own = new URL(`./${name}.mjs`, import.meta.url);
const cases = { ...(story.dangerous ? shared : {}), ...(fs.existsSync(own) ? (await import(own)).cases : {}) };
await run(cases, { story, client, modes: clients[client].modes, program, component, wanted });
