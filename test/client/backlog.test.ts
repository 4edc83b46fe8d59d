import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { createStreamClient, type Tick } from '../../src/client/node_index.js';
import { startContractServer, TOKEN } from './contract_server.js';
import { bodyOf, SIGNER, signed } from './signed_payload.js';

const FRAMES = 300;
const BTCUSD = 1;
const ETHUSD = 2;

/** Returns the frame of a 10 ms tick. */
function frameOf(tick: number, ...ids: readonly number[]): string {
  const timestampNs = 1_765_215_119_000_000_000n + BigInt(tick) * 10_000_000n;
  const assets = ids.map((id) => [id, BigInt(tick), 1] as const);
  return JSON.stringify({
    type: 'signed_ecdsa',
    p: signed(bodyOf({ taxonomyId: 1, timestampNs, assets }, false)),
  });
}

test('of the frames that arrived while the process was busy, only the newest are verified', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const client = createStreamClient({ urls: server.url, token: TOKEN, signers: [SIGNER] });
  t.teardown(() => client.close());
  const errors: Error[] = [];
  client.on('error', (error) => errors.push(error));
  const stream = client.stream(['BTCUSD', 'ETHUSD'], { channel: '10ms', maxAgeMs: Number.POSITIVE_INFINITY });
  const ticks: Tick[] = [];
  const done = (async () => {
    for await (const tick of stream) ticks.push(tick);
  })();
  const sawLast = (symbol: string, price: number) =>
    eventually(() => ticks.findLast((tick) => tick.symbol === symbol)?.price === BigInt(price));
  const passed = () => ticks.length + stream.conflated;
  await eventually(() => server.received.length === 1);

  // The server sends all of these frames before the client reads the first frame.
  const both = Array.from({ length: FRAMES }, (_, tick) => frameOf(tick, BTCUSD, ETHUSD));
  for (const frame of both) server.broadcast(frame);
  await sawLast('BTCUSD', FRAMES - 1);
  await sawLast('ETHUSD', FRAMES - 1);
  t.ok(passed() < FRAMES / 3, `${passed()} prices of ${2 * FRAMES} were verified`);

  const ether = Array.from({ length: FRAMES }, (_, i) => frameOf(FRAMES + 1 + i, ETHUSD));
  const before = passed();
  server.broadcast(frameOf(FRAMES, BTCUSD));
  for (const frame of ether) server.broadcast(frame);
  await sawLast('ETHUSD', 2 * FRAMES);
  t.equal(
    ticks.findLast(({ symbol }) => symbol === 'BTCUSD')?.price,
    BigInt(FRAMES),
    'the older frame of another asset counts',
  );
  t.ok(passed() - before < FRAMES / 3, `${passed() - before} of ${FRAMES + 1}`);

  const isLater = (tick: Tick, i: number) =>
    ticks
      .slice(0, i)
      .every(({ symbol, timestampNs }) => symbol !== tick.symbol || timestampNs < tick.timestampNs);
  t.ok(ticks.every(isLater), 'times grow');
  t.same(errors, []);
  await client.close();
  await done;
});
