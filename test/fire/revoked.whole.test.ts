import { test } from 'tap';
import { publishMessage } from '../../src/client/index.js';
import { ServeProcess, writeConfig } from '../service/child.js';
import { Feed, units } from '../service/feed.js';
import { get, publisherSigner, sha256, TOKEN } from '../service/harness.js';
import { latestOf } from '../service/publishing.js';
import { clientFrame, OPCODES, RawSocket } from './raw_socket.js';

// Tests that revoke a token while its clients are connected. The clients ignore the close frame, and continue to send and
// read.

const CLIENTS = 20;
const PATHS = ['/ws', '/ws?channel=10ms', '/evm/publish?ack=true', '/stark/publish'];

function token(name: string) {
  return {
    name,
    sha256: sha256(name),
    scopes: ['rest', 'stream', 'publish'],
    requests_per_second: 100_000,
  };
}

for (const threads of [1, 2]) {
  test(`a client that ignores the close frame of its revoked token has no effect and gets nothing, ${threads} threads`, async (t) => {
    const dir = t.testdir();
    const listen = { port: 0, threads };
    const file = writeConfig(dir, { listen, tokens: [token(TOKEN), token('revoked')] });
    const service = new ServeProcess(['--config', file]);
    t.teardown(() => service.kill());
    const { url, socketUrl } = await service.ready();
    const port = Number(new URL(url).port);
    const feed = await Feed.open({ socketUrl });
    await feed.accept({ symbol: 'BTCUSD', price: units(1) });
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, (_, i) => RawSocket.open(port, PATHS[i % PATHS.length]!, 'revoked')),
    );
    const [stream, ticks, publisher] = clients as [RawSocket, RawSocket, RawSocket];
    for (const one of [stream, ticks]) one.write(text({ type: 'subscribe', assets: [1] }));
    for (const one of [stream, ticks]) await one.next();
    publisher.write(signedPrice(2));
    t.match(await nextText(publisher), '"accepted":["BTCUSD"]', 'it was accepted before');

    writeConfig(dir, { listen, tokens: [token(TOKEN)] });
    const startMs = performance.now();
    service.child.kill('SIGHUP');
    // Frames that were already sent may arrive before the close frame. No frame may arrive after it.
    const closes = await Promise.all(clients.map(closeOf));
    const closedMs = performance.now() - startMs;
    t.same(new Set(closes), new Set([4401]));
    t.comment(`${CLIENTS} sockets closed ${closedMs.toFixed(0)} ms after the signal`);

    publisher.write(signedPrice(666));
    stream.write(text({ type: 'subscribe', assets: [2], id: 'still here' }));
    await feed.accept({ symbol: 'BTCUSD', price: units(3), publisher: 2 });
    await feed.accept({ symbol: 'BTCUSD', price: units(3), publisher: 3 });
    const { BTCUSD: latest } = await latestOf({ url }, 'BTCUSD');
    t.notMatch(latest!.signed_prices, [{ price: String(units(666)) }], 'what it sent has no effect');
    t.same(
      clients.flatMap(({ frames }) => frames),
      [],
      'nothing comes behind the close frame',
    );
    t.equal((await get(`${url}/v1/taxonomy`, { Authorization: 'Basic revoked' })).status, 401);
    for (const client of clients) client.socket.destroy();
    service.child.kill('SIGTERM');
    t.match(await service.exited, { code: 0 }, 'they do not keep the service from exiting');
  });
}

function text(message: object): Buffer {
  return clientFrame(OPCODES.text, JSON.stringify(message));
}

function signedPrice(count: number): Buffer {
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price: units(count), timestampNs });
  return clientFrame(OPCODES.text, publishMessage('revoked', [update]));
}

/** Reads frames up to the close frame. @returns the code of the close frame */
/** Returns the text of the next message; ignores the service's pings. */
async function nextText(client: RawSocket): Promise<string | undefined> {
  let frame = await client.next();
  while (frame?.opcode === OPCODES.ping) frame = await client.next();
  return frame?.payload.toString();
}

async function closeOf(client: RawSocket): Promise<number | undefined> {
  for (;;) {
    const frame = await client.next();
    if (frame === undefined) return undefined;
    if (frame.opcode === OPCODES.close) return frame.payload.readUInt16BE();
  }
}
