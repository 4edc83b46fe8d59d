import { symbolOf } from '../load/config.js';
import { type ServerProcess, startService } from '../load/server_process.js';
import { median } from '../load/statistics.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Account, changed, enter, missing, servedAccount, storedAccount } from './account.js';
import { type Check, count, measured, NONE, type Scale, SOME, timing } from './check.js';
import { KeptPrices } from './kept_prices.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { readiness, until, writeTortureConfig } from './service.js';
import { SignedValues } from './signed_values.js';

/** The check with `kill -9` of the whole service at random moments, repeated on one data folder. */
export const kill: Check = {
  name: 'kill',
  title: 'kill -9 under load, with durable acknowledgements',
  run: measure,
};

const ROUNDS: Readonly<Record<Scale, number>> = { full: 100, smoke: 2 };
const ASSETS = 20;
const PUBLISHERS = 4;
const ASSETS_PER_PUBLISHER = 10;
const SUBSCRIBERS = 20;
const SEND_INTERVAL_MS = 10;
const LOAD_MS_MAX = 400;
const POLL_MS = 20;
const SYMBOLS = Array.from({ length: ASSETS }, (_, asset) => symbolOf(asset));
/** The time after which an instant of the past is answered without a wait. */
const SETTLED_NS = 500_000_000n;

async function measure(scale: Scale) {
  const rounds = ROUNDS[scale];
  const { file, storageDir } = writeTortureConfig({
    assets: ASSETS,
    publishers: PUBLISHERS,
    clockPeriod: '100ms',
  });
  const updates = new Updates('evm');
  const reader: Reader = { values: new SignedValues(), kept: new KeptPrices() };
  const acknowledged: Account = new Map();
  const pricedMs: number[] = [];
  let answers = 0;
  let lostServed = 0;
  let lostStored = 0;
  let changedPrices = 0;
  let endedOtherwise = 0;
  let comparedNs = 0n;
  const compare = (found: Account): number => {
    changedPrices += changed(acknowledged, found);
    return missing(acknowledged, found);
  };
  for (let round = 0; ; round++) {
    const startMs = performance.now();
    const service = await startService(file);
    const start = new Poll(service.port, reader);
    await until('it is ready', async () => (await readiness(service)).status === 200);
    if (round > 0) {
      await until('a price is served', () => start.pricedMs !== undefined);
      pricedMs.push(start.pricedMs! - startMs);
      lostServed += compare(await servedAccount(service, SYMBOLS, acknowledged));
    }
    await start.stop();
    if (round > 0) {
      // A process that starts soon after a kill signs with times ahead of the clock. These aggregates are compared in a later round.
      const settledNs = nowNs() - SETTLED_NS;
      await reader.kept.compare(service.port, comparedNs, settledNs);
      comparedNs = settledNs;
    }
    if (round === rounds) {
      await until('all shown times are over', () => reader.kept.newestNs < nowNs() - SETTLED_NS);
      await reader.kept.compare(service.port, 0n, nowNs());
      await service.stop();
      break;
    }
    const publishers = await killUnderLoad(service, updates, reader);
    for (const publisher of publishers) {
      enter(acknowledged, publisher);
      answers += publisher.delaysMs.length;
    }
    if ((await service.ended).signal !== 'SIGKILL') endedOtherwise++;
    lostStored += compare(await storedAccount(storageDir));
  }
  return [
    count('kills', rounds),
    count('durable acknowledgements', answers, SOME),
    count('acknowledged and not served after the restart', lostServed, NONE),
    count('acknowledged and not in the store', lostStored, NONE),
    count('acknowledged, and then another price', changedPrices, NONE),
    ...reader.values.findings(),
    ...reader.kept.findings(),
    count('ended otherwise than by the signal', endedOtherwise, NONE),
    measured('start of the process to the first price, median', median(pricedMs), 'ms'),
    timing('  longest', Math.max(...pricedMs), 'ms', { atMost: 10_000 }),
  ];
}

/** The answers that clients read from the service. The clients are the same for all of its processes, so no time may go back. */
interface Reader {
  readonly values: SignedValues;
  readonly kept: KeptPrices;
}

/** Reads the newest aggregates of a process again and again. */
class Poll {
  /** The time of the first answer with a price. */
  pricedMs: number | undefined;
  #isOver = false;
  readonly #done: Promise<void>;

  constructor(port: number, reader: Reader) {
    this.#done = this.#run(port, reader);
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.#done;
  }

  async #run(port: number, { values, kept }: Reader): Promise<void> {
    while (!this.#isOver) {
      // The service may be killed during a request, and has no price before the first update.
      const shown = await values.poll(port, SYMBOLS, 'rest').catch(() => []);
      if (shown.length > 0) this.pricedMs ??= performance.now();
      kept.show(shown);
      await pause(POLL_MS);
    }
  }
}

async function killUnderLoad(
  service: ServerProcess,
  updates: Updates,
  reader: Reader,
): Promise<readonly AckedPublisher[]> {
  const { port } = service;
  const publishers = await Promise.all(
    Array.from({ length: PUBLISHERS }, (_, publisher) => {
      const first = (publisher * ASSETS_PER_PUBLISHER) / 2;
      const assets = Array.from({ length: ASSETS_PER_PUBLISHER }, (__, i) => (first + i) % ASSETS);
      return AckedPublisher.open({ port, publisher, assets, ack: 'durable', updates });
    }),
  );
  await openStreams({
    port,
    query: 'message_type=signed_ecdsa',
    count: SUBSCRIBERS,
    assetsOf: (connection) => [connection % ASSETS, ASSETS - 1],
    onFrame: (frame, connection) => reader.values.takeFrame(frame.toString('latin1'), `stream ${connection}`),
  });
  const poll = new Poll(port, reader);
  const stop = keepSending(publishers, SEND_INTERVAL_MS);
  await until('an acknowledgement', () => publishers.some(({ acknowledged }) => acknowledged.size > 0));
  await pause(Math.random() * LOAD_MS_MAX);
  service.signal('SIGKILL');
  stop();
  await poll.stop();
  // The kernel's buffers may still contain answers that the service sent before its end.
  await until('every connection has ended', () => publishers.every(({ isClosed }) => isClosed));
  return publishers;
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}
