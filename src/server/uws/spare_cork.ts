import type uWS from 'uWebSockets.js';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { listen } from './app.js';

/** Acts while a socket is corked that has nothing to do with it. */
export interface SpareCork {
  act(what: () => void): void;
  close(): void;
}

/**
 * uWebSockets.js has an upgrade that is decided after its request's handler made under a cork. Under that of the request
 * itself, where the socket stays at its address in memory, the end of the cork takes the WebSocket for an HTTP response and now
 * and then closes it; under none, it complains on standard error. The cork of any other socket of the thread serves, and this
 * keeps one: a request of our own over loopback that is never answered, to a port that closes as soon as the request is there.
 */
export async function openSpareCork(ws: typeof uWS): Promise<SpareCork> {
  const app = ws.App();
  const { port, setAccepting, close } = await listen(ws, app, { host: '127.0.0.1', port: 0 });
  return new Promise((resolve, reject) => {
    const path = `/${randomUUID()}`;
    // Whoever else finds the port in that moment does not know the path.
    app.get(path, (held) => {
      setAccepting(false);
      held.onAborted(() => {});
      resolve({ act: (what) => held.cork(what), close });
    });
    const client = connect(port, '127.0.0.1');
    client.on('error', reject);
    client.unref().write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  });
}
