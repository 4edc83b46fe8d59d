import { connect, type Socket } from 'node:net';
import { test } from 'tap';
import { writeExactJson } from '../../src/client/index.js';
import { SIGNATURE_TYPES } from '../../src/wire/signatures.js';
import { clientFrame, OPCODES } from '../fire/raw_socket.js';
import { THREAD_COUNTS } from '../tier.js';
import { publisherSigner, startTestService, type TestService } from './harness.js';
import { loginHeaders } from './login_headers.js';
import { latestWhen, UNIT } from './publishing.js';

// Tests with the messages of a publisher agent in use today. The messages are unchanged except keys, times and signatures. The
// agent logs in by signature on a raw socket, asks where to publish, and sends metadata about itself. The agent publishes without
// `trace_id` and never reads its socket.

const SYMBOLS = { evm: 'BTCUSD', stark: 'DYDXUSD' };
const AGENT = 'Go-http-client/1.1';

for (const threads of THREAD_COUNTS)
  for (const type of SIGNATURE_TYPES)
    test(`an agent with a ${type} key, ${threads} threads`, async (t) => {
      const service = await startTestService(t, { listen: { port: 0, threads } });
      const login = loginHeaders(1, type);
      const headers = Object.entries(login)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('');

      const registered = await answerTo(
        service,
        `GET /v1/registry/brokers?publisher_key=${login['X-Public-Key']} HTTP/1.1\r\nHost: 127.0.0.1\r\n` +
          `User-Agent: ${AGENT}\r\n${headers}Accept-Encoding: gzip\r\n\r\n`,
      );
      t.match(registered, /^HTTP\/1\.1 200 /);
      const brokers = JSON.parse(registered.split('\r\n\r\n')[1]!) as {
        publish_url: string;
        asset_ids: string[];
      }[];
      t.same(brokers, [{ publish_url: `${service.socketUrl}/${type}/publish`, asset_ids: [SYMBOLS[type]] }]);

      const about = JSON.stringify({ version: '1.2.3', assets: ['x'.repeat(1_000)] });
      const told = await answerTo(
        service,
        `POST /v1/publisher/metadata HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: ${AGENT}\r\n` +
          `Content-Length: ${about.length}\r\n${headers}Accept-Encoding: gzip\r\n\r\n${about}`,
      );
      t.match(told, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\n\{\}$/);

      const socket = connect(service.port, '127.0.0.1');
      t.teardown(() => socket.destroy());
      socket.write(
        `GET ${new URL(brokers[0]!.publish_url).pathname} HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\n` +
          `User-Agent: ${AGENT}\r\nConnection: Upgrade\r\nSec-WebSocket-Key: 3yMLSWFdF1MH1YDDPW/aYQ==\r\n` +
          `Sec-WebSocket-Version: 13\r\nUpgrade: websocket\r\n${headers}\r\n`,
      );
      t.match(await headOf(socket), /^HTTP\/1\.1 101 /);
      socket.pause();
      const start = BigInt(Date.now()) * 1_000_000n;
      const symbol = SYMBOLS[type];
      const messages = 200;
      for (let i = 0; i < messages; i++) {
        const timestampNs = start + BigInt(i);
        const price = UNIT * BigInt(i + 1);
        const good = publisherSigner(1, type).sign({ symbol, price, timestampNs, trigger: 'clock' });
        // Each message has an update that is refused, so that unread replies accumulate.
        const data = { [symbol]: good, NOUSD: { ...good, asset_id: 'NOUSD' } };
        socket.write(clientFrame(OPCODES.text, writeExactJson({ type: 'signed_prices', data })));
      }
      const last = String(UNIT * BigInt(messages));
      const aggregate = await latestWhen(service, symbol, ({ price }) => price === last);
      t.equal(aggregate.signed_prices.length, 1);
      t.notOk(socket.destroyed);
    });

test('what a publisher says about itself is bounded', async (t) => {
  const service = await startTestService(t);
  const headers = Object.entries(loginHeaders(1, 'evm')).map(([name, value]) => `${name}: ${value}`);
  const post = (body: string, ...more: string[]) =>
    answerTo(
      service,
      [`POST /v1/publisher/metadata HTTP/1.1`, 'Host: x', ...headers, ...more].join('\r\n') +
        `\r\n\r\n${body}`,
    );
  const length = (bytes: number) => `Content-Length: ${bytes}`;
  const max = 64 * 1024;
  t.match(await post('x'.repeat(max), length(max)), /^HTTP\/1\.1 200 /);
  t.match(await post('', length(0)), /^HTTP\/1\.1 200 /);
  t.match(await post('', length(max + 1)), /^HTTP\/1\.1 413 [\s\S]*at most 65536/);
  t.match(await post('ab', length(2), length(2)), /^HTTP\/1\.1 400 /, 'two lengths');
  t.match(await post('2\r\nab\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'), /^HTTP\/1\.1 400 /);
  t.match(await post('ab', length(2), 'X-Timestamp: 1'), /^HTTP\/1\.1 401 [\s\S]*repeated/);
  const smuggled = await post('abGET /v1/taxonomy HTTP/1.1\r\nHost: x\r\n\r\n', length(2));
  t.ok(smuggled.split('HTTP/1.1 ').length <= 2, 'nothing behind the body is answered');
  const other = await answerTo(service, `POST /v1/taxonomy HTTP/1.1\r\nHost: x\r\n${length(2)}\r\n\r\nab`);
  t.match(other, /^HTTP\/1\.1 400 /, 'no other path takes a body');
  const wrongMethod = await answerTo(service, `GET /v1/publisher/metadata HTTP/1.1\r\nHost: x\r\n\r\n`);
  t.match(wrongMethod, /^HTTP\/1\.1 405 [\s\S]*Allow: POST/);
});

/** Returns the received text up to the end of the first answer's body, or until the service closes the connection. */
function answerTo(service: TestService, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(service.port, '127.0.0.1');
    let received = '';
    const finish = () => {
      clearTimeout(deadline);
      socket.destroy();
      resolve(received);
    };
    const deadline = setTimeout(() => reject(new Error(`no whole answer: ${received}`)), 60_000);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const [head = '', body] = received.split('\r\n\r\n', 2);
      const length = /^content-length: (\d+)$/im.exec(head)?.[1];
      const closes = /^connection: close$/im.test(head);
      if (!closes && body !== undefined && length !== undefined && body.length >= Number(length)) finish();
    });
    socket.on('close', finish);
    socket.on('error', () => undefined);
    socket.write(request);
  });
}

/** Returns the head of the answer to an upgrade. */
function headOf(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const take = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      if (!received.includes('\r\n\r\n')) return;
      socket.off('data', take);
      resolve(received);
    };
    socket.on('data', take);
  });
}
