import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { type PriceUpdate, publishMessage } from '../../src/client/index.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import { ServeProcess, writeConfig } from './child.js';
import { get, publisherSigner, TestSocket } from './harness.js';
import { type Aggregate, latestOf, UNIT } from './publishing.js';

const ROUNDS = 3;
/** The number of updates that the process had not answered when it was killed. */
const PIPELINED = 200;
/** The number of updates that are sent again after a restart. */
const REPLAYED = 50;

for (const threads of [1, 2]) {
  test(`${threads} threads: kill -9 loses nothing that was acknowledged as durable`, async (t) => {
    const dir = t.testdir();
    const config = writeConfig(dir, {
      listen: { port: 0, threads },
      assets: [{ id: 1, symbol: 'BTCUSD', max_age: '600s' }],
    });
    const publisher = publisherSigner(1);
    const signedNow = (price: bigint) =>
      publisher.sign({ symbol: 'BTCUSD', price, timestampNs: BigInt(Date.now()) * 1_000_000n });
    let price = UNIT;
    let acknowledged: { readonly timestamp: bigint; readonly price: bigint } | undefined;
    /** The durable updates in the order of their acknowledgements. */
    const durable: PriceUpdate[] = [];
    let promised: { readonly second: number; readonly text: string } | undefined;

    for (let round = 0; round < ROUNDS; round++) {
      const running = new ServeProcess(['--config', config]);
      t.teardown(() => running.kill());
      const child = await running.ready();
      if (acknowledged !== undefined && promised !== undefined) {
        const least = acknowledged.timestamp;
        const { BTCUSD } = await eventually(async () => {
          const latest = await latestOf(child, 'BTCUSD');
          return latest['BTCUSD'] === undefined ? undefined : (latest as { BTCUSD: Aggregate });
        });
        const found = BTCUSD.signed_prices[0]!;
        t.ok(
          found.timestamped_signature.timestamp >= least,
          `round ${round}: the acknowledged update or a newer one`,
        );
        t.ok(BigInt(found.price) >= acknowledged.price);
        t.equal(BTCUSD.price, found.price, 'and the price that is made of it');
        t.equal(await recentText(child, promised.second), promised.text, 'recent as before, byte by byte');
      }

      const socket = await TestSocket.open(`${child.socketUrl}/evm/publish?ack=durable`);
      for (const update of durable.slice(-REPLAYED)) {
        socket.send(publishMessage('replay', [update]));
        t.match(await socket.nextJson(), { accepted: [], rejected: { BTCUSD: String } }, `round ${round}`);
      }
      const publishNext = async () => {
        price += UNIT;
        const update = signedNow(price);
        socket.send(publishMessage(`${price}`, [update]));
        const answer = await socket.nextJson();
        if (!(answer['accepted'] as string[]).includes('BTCUSD')) return;
        durable.push(update);
        acknowledged = { timestamp: update.signed_price.timestamped_signature.timestamp, price };
      };
      // The loop waits until a second with an aggregate of this process has ended and a newer record is on disk. The killed process may have used
      // times of the next 2 s, so this process signs with later times, and the time until then is a hole of the past.
      const known: bigint | undefined = acknowledged?.timestamp;
      while (acknowledged === undefined || acknowledged.timestamp === known) await publishNext();
      const own: bigint = acknowledged.timestamp;
      const { service_signed_price } = await eventually(async () => {
        const { BTCUSD } = (await latestOf(child, 'BTCUSD')) as { BTCUSD?: Aggregate };
        const input = BTCUSD?.signed_prices[0]?.timestamped_signature;
        return input !== undefined && input.timestamp >= own ? BTCUSD : undefined;
      });
      const second = Number(service_signed_price.timestamped_signature.timestamp / NS_PER_SECOND);
      while (Math.floor(Date.now() / 1_000) <= second) await publishNext();
      promised = { second, text: await recentText(child, second) };
      t.match(promised.text, /"price"/);
      const before: bigint = acknowledged.timestamp;
      while (acknowledged.timestamp === before) await publishNext();

      for (let i = 0; i < PIPELINED; i++) {
        price += UNIT;
        socket.send(publishMessage('unanswered', [signedNow(price)]));
      }
      // Each round kills the process after more of the updates.
      for (let i = 0; i < round * 20; i++) await socket.next();
      await running.kill();
    }
    t.ok(price > UNIT * BigInt(ROUNDS * PIPELINED));
  });
}

async function recentText({ url }: { readonly url: string }, second: number): Promise<string> {
  return (await get(`${url}/v1/prices/recent?assets=BTCUSD&timestamp=${second}`)).text();
}
