import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
import { describeStartError } from '../../src/cli/port_in_use.js';
import { claimPort } from '../../src/server/uws/port_claim.js';

const NAMES = { port: '--port', adminPort: '--admin-port' };

/** Describes the error of a start on the port of a server that answers with a page. */
async function describe(page: string, isAdmin: boolean): Promise<string> {
  const answer: RequestListener = (_request, response) => response.end(page);
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const error = await claimPort({ host: '127.0.0.1', port }).catch((fault) => fault);
    const text = await describeStartError(error, { adminPort: isAdmin ? port : 1, names: NAMES });
    return text.replace(String(port), 'PORT');
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('a port in use names its user and the option for another port', async (t) => {
  const inUse = 'cannot listen on 127.0.0.1:PORT: the address is in use';
  const openApi = '{"info":{"title":"tickseal REST API"}}';
  t.equal(await describe(openApi, false), `${inUse}: a tickseal answers there. --port chooses another port`);
  t.equal(await describe('hello', false), `${inUse}: another program. --port chooses another port`);
  const metrics = 'tickseal_build_info{version="1"} 1';
  t.equal(
    await describe(metrics, true),
    `${inUse}: a tickseal answers there. --admin-port chooses another port`,
  );
});

test('other errors of a start stay as they are', async (t) => {
  const choice = { adminPort: 1, names: NAMES };
  t.equal(await describeStartError(new Error('no key'), choice), 'no key');
  const foreign = await claimPort({ host: '192.0.2.1', port: 5 }).catch((fault) => fault);
  t.match(await describeStartError(foreign, choice), /^cannot listen on 192\.0\.2\.1:5: .* \(--port\)$/);
});
