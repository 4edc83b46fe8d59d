import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { type Test, test } from 'tap';
import { NODE } from '../../../src/client/connect/node_platform.js';
import { makeCertificate } from '../../certificate.js';

// Errors of the network say what to do.

test('TLS where there is none, none where there is TLS, a private certificate, and nothing at all', async (t) => {
  const dir = t.testdir();
  const missing = makeCertificate(dir, 'private');
  if (missing !== undefined) return t.comment(missing);
  const [key, cert] = ['private.key', 'private.pem'].map((name) => readFileSync(join(dir, name)));
  const plain = await listening(
    t,
    createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  );
  const tls = await listening(
    t,
    createTlsServer({ key, cert }).on('tlsClientError', (_error, socket) => socket.destroy()),
  );
  const dead = createServer();
  const deadPort = await listening(t, dead);
  dead.close();
  for (const [address, reason] of [
    [`s://127.0.0.1:${plain}`, /^no TLS answers at this address; .*ws:\/\/ or http:/],
    [`://127.0.0.1:${tls}`, /^the connection ended without an answer; .*wss:\/\/ or https:/],
    [`s://127.0.0.1:${tls}`, /^no authority .*NODE_EXTRA_CA_CERTS/],
    [`://127.0.0.1:${deadPort}`, /^nothing listens at this address \(ECONNREFUSED\)/],
    ['://nosuch.invalid', /^the name of this host has no address/],
  ] as const) {
    const { cause } = (await NODE.fetch(`http${address}`, {} as never).catch(
      (error: Error) => error,
    )) as Error;
    t.match((cause as Error).message, reason, `http${address}`);
  }
});

/** Listens on a free port. @returns the port */
async function listening(t: Test, server: Server): Promise<number> {
  t.teardown(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}
