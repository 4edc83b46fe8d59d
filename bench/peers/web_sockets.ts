import type uWS from 'uWebSockets.js';
import { createRequire } from 'node:module';
import { listen, type OpenPort } from '../../src/server/uws/app.js';

/** The package uWebSockets.js, without any part of the service. */
export const webSockets = createRequire(import.meta.url)('uWebSockets.js') as typeof uWS;

/** Listens on a free loopback port, prints the port, and exits on SIGTERM. */
export async function serve(app: uWS.TemplatedApp): Promise<OpenPort> {
  const listening = await listen(webSockets, app, { host: '127.0.0.1', port: 0 });
  announce(listening.port);
  process.once('SIGTERM', () => process.exit(0));
  return listening;
}

/** Prints that the server is ready, in the form that the service uses. */
export function announce(port: number): void {
  process.stdout.write(`${JSON.stringify({ port })}\n`);
}
