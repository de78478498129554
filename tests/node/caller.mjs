// One call by a client of its own process, so that a test can kill it.
//
//     node caller.mjs CLIENT MODE '{"server":…,"tool":…,"given":…}'

import { clients } from './clients.mjs';

const [client, mode, told] = process.argv.slice(2);
const { server, tool, given } = JSON.parse(told);
const session = await clients[client].open(mode, server);
await session.page();
console.log(JSON.stringify(await session.call(tool, given)));
await session.close();
