import { join } from 'node:path';
import type { Test } from 'tap';
import type { LogBatch } from '../../src/cluster/log/log_batch.js';
import type { OwnReport } from '../../src/cluster/node_report.js';
import type { TickBatch } from '../../src/cluster/ticks/tick_batch.js';
import type { Price } from '../../src/model/price.js';
import type { Clock } from '../../src/model/time.js';
import { ROOT } from '../pages.js';
import { SERVICE_KEYS, startTestService, type TestService } from '../service/harness.js';

/** The folder with one file or folder of each format, as the release with these formats has written them. */
export const RELEASE = join(ROOT, 'test/formats/1.0.0');

/** The times of the recorded prices, in UNIX seconds: two in the first hour of a month, whose log is sealed, and one in the next hour. */
export const FIRST_S = 1_772_325_001;
export const TIMES_S = [FIRST_S, FIRST_S + 900, FIRST_S + 3_700] as const;

/** The archive of the data folder, which keeps the rights of its files and leaves out the zeros in them. */
export const ARCHIVE = join(RELEASE, 'folder.tgz');

/** The requests whose answers the release has recorded. */
export const REQUESTS = [
  ...TIMES_S.map((second) => `/v1/prices/at?assets=BTCUSD&timestamp=${second + 5}000000000`),
  `/v1/prices/at?assets=DYDXUSD&signature_type=stark&timestamp=${FIRST_S + 5}000000000`,
  `/v1/prices/range?asset=BTCUSD&from=${FIRST_S}000000000&to=${TIMES_S[2]}999999999`,
  `/v1/tradingview/history?symbol=BTCUSD&resolution=15&from=0&to=${FIRST_S + 9_000}`,
] as const;

/** Starts the service whose data folder the release has recorded. */
export function startRelease(t: Pick<Test, 'teardown'>, dir: string, clock: Clock): Promise<TestService> {
  const timing = { max_age: '24h', clock_period: '24h' };
  return startTestService(
    t,
    {
      keys: { evm: { file: 'unused' }, stark: { file: 'unused' }, log: { file: 'unused' } },
      assets: [
        { id: 1, symbol: 'BTCUSD', ...timing },
        { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', ...timing },
      ],
      ingest: { max_past: '600s', max_future: '600s' },
      // No retention removes the recorded prices, whatever the clock of the machine says.
      storage: { dir, past: { proofs: '36500d', signatures: '36500d' } },
      log: { origin: 'prices.example.com/tlog', batch: '100ms', checkpoint: '100ms' },
    },
    { dir, clock, keys: { ...SERVICE_KEYS, log: Buffer.alloc(32, 0x33) } },
  );
}

/** A message of each kind between the nodes of a cluster. */
export const MESSAGES: { readonly batch: LogBatch; readonly tick: TickBatch; readonly report: OwnReport } = {
  batch: {
    epoch: 7,
    sequence: 12,
    after: 'a-11',
    claim: {
      node: 2,
      name: 'node-2',
      run: 'a1b2',
      attempt: 1,
      configHash: Uint8Array.of(1, 2),
      resign: false,
    },
    entries: [
      { symbol: 'BTCUSD', signatureType: 'evm', bytes: Uint8Array.of(123, 125) },
      { symbol: 'DYDXUSD', signatureType: 'stark', publisherKey: Uint8Array.of(9), bytes: Uint8Array.of(5) },
    ],
  },
  tick: {
    epoch: 7,
    number: 3,
    full: true,
    prices: new Map([
      [
        1,
        {
          price: -5n as Price,
          quality: { newestNs: 1_772_460_001_000_000_000n, publishers: 3, spreadPpm: 20 },
        },
      ],
    ]),
    ended: [2],
    taxonomy: 2n ** 63n + 1n,
  },
  report: {
    name: 'node-2',
    run: 'a1b2',
    role: 'leader',
    applied: 12,
    configHash: Uint8Array.of(1, 2),
    signers: [{ address: '0x0b', signatureType: 'stark', role: 'aggregate', sinceS: 1 }],
    isFit: true,
  },
};
