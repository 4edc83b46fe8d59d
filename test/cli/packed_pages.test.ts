import { isDeepStrictEqual } from 'node:util';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { signerCheck } from '../../src/cli/export/block_rows.js';
import { BlockVerifier } from '../../src/cli/export/block_verifier.js';
import { PackedRangeClient } from '../../src/cli/packed_range.js';
import { nativePlatform } from '../../src/client/native_platform.js';
import { createClient } from '../../src/client/node.js';
import { systemClock } from '../../src/clock/clock.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';

const PRICES = Array.from({ length: 14 }, (_, index) => 100 + 10 * index);
/** The largest number of aggregates in an answer. */
const ROWS_MAX = 2;

/** Starts a service with an aggregate of each price. Each answer ends soon after its second half began. */
async function startWithPages(t: Test) {
  const clock = new FakeClock(systemClock());
  const service = await startTestService(
    {
      assets: [{ id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' }],
      limits: { range_rows: ROWS_MAX },
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const options = { urls: service.url, token: TOKEN, signers: 'unchecked' } as const;
  const client = createClient(options);
  const feed = await Feed.open(service, { nowNs: () => clock.advance(1n) });
  const times: bigint[] = [];
  for (const [index, price] of PRICES.entries()) {
    clock.advanceMs(index % ROWS_MAX === 0 ? 1_000 : 5_000);
    await feed.accept({ symbol: 'BTCUSD', price: units(price) });
    const { timestampNs } = await eventually(async () => {
      const { BTCUSD } = await client.latest(['BTCUSD']);
      return BTCUSD?.decimal === String(price) && BTCUSD;
    });
    times.push(timestampNs);
  }
  const signer = (await client.taxonomy()).signers.map(({ address }) => address);
  await client.close();
  const [from, to] = [times[0]!, times.at(-1)! + 1n];
  return {
    options,
    times,
    signer,
    query: { symbol: 'BTCUSD', from, to, detail: 'whole', type: undefined } as const,
  };
}

/** Makes a client that counts its answers, and the bodies that it has closed. @param failing the number of a request that fails */
function countingClient(options: Awaited<ReturnType<typeof startWithPages>>['options'], failing = -1) {
  const platform = nativePlatform();
  const counts = { asked: 0, answered: 0, closed: 0 };
  const client = new PackedRangeClient(options, {
    ...platform,
    // The waits between attempts are not part of this test.
    schedule: (run, delayMs) => platform.schedule(run, delayMs < 1_000 ? 0 : delayMs),
    async fetch(address, request) {
      if (counts.asked++ === failing) throw new TypeError('fetch failed');
      const { status, headers, body } = await platform.fetch(address, request);
      counts.answered++;
      const reader = body!.getReader();
      const cancel = async () => {
        counts.closed++;
        await reader.cancel();
      };
      return {
        status,
        headers,
        text: async () => '',
        body: { getReader: () => ({ read: () => reader.read(), cancel }) },
      };
    },
  });
  return { client, counts };
}

const verifierOf = (signer: string[]) =>
  new BlockVerifier('BTCUSD', { oracleId: 'servc', isSigner: signerCheck(signer) });

test('a range of several answers is read whole, also when an answer fails', async (t) => {
  const { options, times, signer, query } = await startWithPages(t);
  const verifier = verifierOf(signer);
  for (const failing of [-1, 0, 1, 2]) {
    const { client, counts } = countingClient(options, failing);
    const read: bigint[] = [];
    for await (const block of client.blocks(query)) {
      const entries = verifier.entriesOf(block);
      t.equal(entries.length, block.rows);
      read.push(...entries.map(({ timeNs }) => timeNs));
    }
    t.same(read, times, `request ${failing} fails`);
    const answers = PRICES.length / ROWS_MAX;
    t.same(counts, { asked: answers + (failing < 0 ? 0 : 1), answered: answers, closed: answers });
    await client.close();
  }
});

test('the next answer is asked for early, and a reader that stops closes it', async (t) => {
  const { options, times, signer, query } = await startWithPages(t);
  const { client, counts } = countingClient(options);
  const verifier = verifierOf(signer);
  const read: bigint[] = [];
  // The rows of an answer are in two blocks if the service has stored them at different times.
  for await (const block of client.blocks(query)) {
    read.push(...verifier.entriesOf(block).map(({ timeNs }) => timeNs));
    if (read.length === ROWS_MAX) break;
  }
  t.same(read, times.slice(0, ROWS_MAX));
  const all = 2;
  await eventually(async () => isDeepStrictEqual(counts, { asked: all, answered: all, closed: all }));
  t.pass('the last answer was asked for before its turn, and closed');
  await client.close();
});
