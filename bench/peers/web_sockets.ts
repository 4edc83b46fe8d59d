import type uWS from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { listen } from '../../src/server/uws/app.js';
import { STREAM_PATH } from '../../src/wire/paths.js';

/** The package uWebSockets.js, without any part of the service. */
export const webSockets = createRequire(import.meta.url)('uWebSockets.js') as typeof uWS;

/** The options of each WebSocket. */
export const SOCKET_OPTIONS = { idleTimeout: 960, maxPayloadLength: 1024 * 1024 };

/** The topic of all subscribers. */
export const ALL = 'all';

/** Accepts subscribers of `/ws`: the server answers each message with the same message, and publishes the topic to the sender. */
export function acceptSubscribers(app: uWS.TemplatedApp): void {
  app.ws(STREAM_PATH, {
    ...SOCKET_OPTIONS,
    message(ws, message) {
      ws.send(message, false);
      ws.subscribe(ALL);
    },
  });
}

/** Listens on a free loopback port, prints the port, and exits on SIGTERM. */
export async function serve(app: uWS.TemplatedApp): Promise<void> {
  announce((await listen(webSockets, app, { host: '127.0.0.1', port: 0 })).port);
}

/** Prints that the server is ready, in the form that the service uses, and exits on SIGTERM. */
export function announce(port: number): void {
  process.once('SIGTERM', () => process.exit(0));
  process.stdout.write(`${JSON.stringify({ port })}\n`);
}
