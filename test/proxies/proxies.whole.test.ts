import { once } from 'node:events';
import { Agent, get as httpGet } from 'node:http';
import { connect } from 'node:net';
import { type Test, test } from 'tap';
import { eventually, pause } from '../../scripts/load/wait.js';
import { codeBlock } from '../pages.js';
import { get, startTestService, type TestService, TestSocket, TOKEN } from '../service/harness.js';
import { freePort, skipWithout, startHaproxy, startNginx } from './running_proxies.js';

// Tests of the service behind nginx and HAProxy, with the configurations of the operator's page.

const PAGE = 'scripts/deploy/README.md';
/** The timeouts of the proxies in these tests. The page has ten times as much. */
const TIMEOUT_S = 3;

/** Starts a service that pings more often than the proxies end connections, as on the page. */
function start(t: Test): Promise<TestService> {
  const listen = { ping_interval: '1s', trusted_proxies: ['127.0.0.1'] };
  return startTestService(t, { listen, limits: { failed_logins_per_minute: 2 } });
}

/** Returns the status of a request with a wrong token, from another address than the proxy's. */
function wrongLogin(url: string, forwardedFor: string): Promise<number | undefined> {
  const headers = { Authorization: 'Basic wrong', 'X-Forwarded-For': forwardedFor };
  return new Promise((resolve, reject) => {
    httpGet(`${url}/v1/taxonomy`, { headers, localAddress: '127.0.0.5' }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    }).on('error', reject);
  });
}

/** Checks what clients notice of a proxy. */
async function check(t: Test, url: string): Promise<void> {
  t.equal((await get(`${url}/v1/taxonomy`)).status, 200);
  const statuses = [];
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    statuses.push(await wrongLogin(url, address));
  t.same(statuses, [401, 401, 429], 'the address that the proxy adds is the one that counts');
  const events = await get(`${url}/v1/stream?assets=BTCUSD`);
  t.equal(events.status, 200);
  await events.body?.cancel();

  const stream = await TestSocket.open(`${url.replace('http', 'ws')}/ws`, TOKEN);
  await pause(2 * TIMEOUT_S * 1_000 + 1_000);
  stream.send({ type: 'subscribe', assets: [1], id: 7 });
  t.match(await stream.nextJson(), { id: 7 }, 'a silent stream is still open');
  await stream.close();
}

test('nginx, as the page says', { skip: skipWithout('nginx') }, async (t) => {
  const service = await start(t);
  const port = await freePort();
  const config = codeBlock(PAGE, 'nginx')
    .replace(/listen .*;/, `listen 127.0.0.1:${port};`)
    .replace(/^ *ssl_.*\n/gm, '')
    .replace('127.0.0.1:8080', `127.0.0.1:${service.port}`)
    .replace(/proxy_read_timeout \d+s/, `proxy_read_timeout ${TIMEOUT_S}s`);
  await startNginx(t, `http://127.0.0.1:${port}`, config);
  await check(t, `http://127.0.0.1:${port}`);
});

test('HAProxy, as the page says', { skip: skipWithout('haproxy') }, async (t) => {
  const service = await start(t);
  const port = await freePort();
  const config = codeBlock(PAGE, 'haproxy')
    .replace(/bind .*/, `bind 127.0.0.1:${port}`)
    .replace('127.0.0.1:8080', `127.0.0.1:${service.port}`)
    .replace('port 9090', `port ${service.adminPort} inter 200ms`)
    .replace(/timeout (client|server) \d+s/g, `timeout $1 ${TIMEOUT_S}s`);
  const url = `http://127.0.0.1:${port}`;
  await startHaproxy(t, url, config);
  await eventually(async () => (await fetch(`${url}/v1/deployments/evm`)).status === 200, {
    what: 'it is up',
  });
  await check(t, url);
  await pause(1_000);
  t.equal((await get(`${url}/v1/taxonomy`)).status, 200, 'the check of health keeps it up');
});

test('a request in HTTP/1.0 is refused in words, as the page says', async (t) => {
  const service = await startTestService(t);
  for (const [port, path] of [
    [service.port, '/v1/deployments/evm'],
    [service.adminPort, '/readyz'],
  ] as const) {
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (data) => {
      received += data;
    });
    socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
    await once(socket, 'close');
    t.match(received, /^HTTP\/1\.1 505 [\s\S]*This server does not support HTTP\/1\.0/);
  }
});

test('an agent of Node uses no connection that the service is about to end', async (t) => {
  const service = await startTestService(t);
  const agents = Array.from({ length: 24 }, () => new Agent({ keepAlive: true }));
  const headers = { Authorization: `Basic ${TOKEN}` };
  const ask = (agent: Agent) =>
    new Promise<string>((resolve) => {
      httpGet({ port: service.port, path: '/v1/taxonomy', headers, agent }, (response) => {
        response.resume().once('end', () => resolve(String(response.statusCode)));
      }).on('error', ({ message }) => resolve(message));
    });
  const answers = agents.map(async (agent, i) => {
    const first = await ask(agent);
    // The service ends a connection 8 to 12 s after its last answer.
    await pause(7_900 + 150 * i);
    return [first, await ask(agent)];
  });
  t.same(new Set((await Promise.all(answers)).flat()), new Set(['200']));
  for (const agent of agents) agent.destroy();
});
