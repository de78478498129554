// The two generations of the official TypeScript SDK behind one shape. They keep their own ways: how a version is agreed,
// how results are checked, how a call is given up. Nothing is switched off.

const ME = { name: 'counterfoil-tests', version: '1.0.0' };
const MODERN = '2026-07-28';
export const OLDER = ['2025-06-18', '2025-03-26', '2024-11-05'];

export const clients = {
  // `@modelcontextprotocol/client`: with `initialize` unless it is told otherwise; `auto` asks first, in a process that it
  // ends at once.
  client: {
    modes: ['legacy', 'auto', MODERN],
    newest: (mode) => (mode === 'legacy' ? '2025-11-25' : MODERN),
    async open(mode, server, more = {}) {
      const { Client } = await import('@modelcontextprotocol/client');
      const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
      const options = OLDER.includes(mode)
        ? { supportedProtocolVersions: [mode] }
        : { versionNegotiation: { mode: mode === MODERN ? { pin: MODERN } : mode } };
      const client = new Client(ME, { ...options, ...more });
      const transport = new StdioClientTransport(server);
      await client.connect(transport);
      return {
        ...session(client, transport),
        protocol: client.getNegotiatedProtocolVersion(),
        call: (name, given, options) => client.callTool({ name, arguments: given }, options),
      };
    },
  },

  // `@modelcontextprotocol/sdk`: always with `initialize`. It asks for its newest version only; for an older one the
  // message is changed on its way, as a server that knows no more would make it come out.
  sdk: {
    modes: ['2025-11-25', '2025-06-18'],
    newest: (mode) => mode,
    async open(mode, server, more = {}) {
      const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
      const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
      const client = new Client(ME, more);
      const transport = new StdioClientTransport(server);
      const send = transport.send.bind(transport);
      transport.send = (message, ...more) => {
        const first = message.method === 'initialize';
        const params = first ? { ...message.params, protocolVersion: mode } : message.params;
        return send(first ? { ...message, params } : message, ...more);
      };
      let protocol;
      transport.setProtocolVersion = (version) => (protocol = version);
      await client.connect(transport);
      return {
        ...session(client, transport),
        protocol,
        call: (name, given, options) => client.callTool({ name, arguments: given }, undefined, options),
      };
    },
  },
};

function session(client, transport) {
  return {
    name: client.getServerVersion()?.name,
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    page: (cursor) => client.listTools(cursor === undefined ? undefined : { cursor }),
    /** Changes what the server sends before the client sees it. */
    falsify(change) {
      const receive = transport.onmessage;
      transport.onmessage = (message, ...more) => receive(change(message), ...more);
    },
    close: () => client.close(),
  };
}
