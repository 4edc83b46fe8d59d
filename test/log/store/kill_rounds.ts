import { deepStrictEqual } from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { appendTo, latestIn, SHOWN } from '../../../scripts/load/store_records.js';
import { writeAggregateLine } from '../../../src/log/records/signed_line.js';
import type { CandleColumns } from '../../../src/log/store/candle_fold.js';
import { openStore } from '../../../src/log/store/store.js';
import { PRICE_SCALE } from '../../../src/model/price.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import { intervalAt } from '../../../src/wire/resolution.js';
import type { Resolution } from '../../../src/wire/rest_values.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { linesOf, openWriter, textOfEntry } from '../past/written_past.js';
import {
  atSecond,
  putInputs,
  type SampleOptions,
  START_S,
  sampleAggregate,
  storeOptions,
  units,
} from './sample.js';

/**
 * Returns the time of a tick in a series that any test can recompute. Tick `n` has a price of `n + 1` units, so a store's answers
 * show how many ticks it has. Ticks are up to three minutes apart, so that minutes, hours and days close often.
 */
function tickS(n: number): number {
  return START_S + n * 61 + ((n * 7_919) % 59);
}

function tick(n: number, { assets, publishers }: SampleOptions): SignedAggregate {
  return sampleAggregate(assets[0]!, publishers, units(n + 1), atSecond(tickS(n), BigInt(n % 1_000)));
}

function ticksOf(aggregate: SignedAggregate | undefined): number {
  return aggregate === undefined ? 0 : Number(aggregate.price / PRICE_SCALE);
}

export interface KillReport {
  readonly rounds: number;
  /** The number of ticks that were acknowledged before the last kill. */
  readonly acknowledged: number;
  /** The number of ticks that were found after the last restart, which is at least {@link acknowledged}. */
  readonly recovered: number;
  /** The number of rounds in which more ticks were found than had been acknowledged. */
  readonly roundsAhead: number;
}

/**
 * Starts a process that writes as fast as it can, and kills it with SIGKILL at a random moment. Then opens the folder and
 * compares all answers with the recovered ticks. Does this `rounds` times on the same folder.
 * @throws AssertionError when an acknowledged tick is missing or an answer is wrong
 */
export async function killRounds(
  dir: string,
  rounds: number,
  onRound: (round: number, acknowledged: number, recovered: number) => void = () => {},
): Promise<KillReport> {
  let acknowledged = 0;
  let recovered = 0;
  let roundsAhead = 0;
  for (let round = 0; round < rounds; round++) {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    // Each third round kills the process during its start. The other rounds kill it while it writes.
    acknowledged = await killAtRandom(child, acknowledged, round % 3 === 2);
    recovered = await verify(dir);
    deepStrictEqual(recovered >= acknowledged, true, `${acknowledged} acknowledged, ${recovered} recovered`);
    if (recovered > acknowledged) roundsAhead++;
    onRound(round, acknowledged, recovered);
  }
  return { rounds, acknowledged, recovered, roundsAhead };
}

/** Kills the child. @returns the last acknowledgement that the child sent before its end */
async function killAtRandom(
  child: ChildProcess,
  acknowledgedBefore: number,
  isStartKilled: boolean,
): Promise<number> {
  let acknowledged = acknowledgedBefore;
  let isArmed = isStartKilled;
  if (isStartKilled) setTimeout(() => child.kill('SIGKILL'), Math.random() * 200);
  const lines = createInterface({ input: child.stdout! });
  lines.on('line', (line) => {
    acknowledged = Number(line);
    if (isArmed) return;
    isArmed = true;
    setTimeout(() => child.kill('SIGKILL'), Math.random() * 120);
  });
  const [[, signal]] = await Promise.all([once(child, 'exit'), once(lines, 'close')]);
  deepStrictEqual(signal, 'SIGKILL', 'the writer ended by itself');
  return acknowledged;
}

async function verify(dir: string): Promise<number> {
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(dir, { clock });
  const store = await openStore(options);
  const asset = options.assets[0]!;
  await verifyPast(dir, ticksOf(latestIn(store, asset)), options);
  const count = ticksOf(latestIn(store, asset));
  const lastS = tickS(count - 1);
  deepStrictEqual(latestIn(store, asset), tick(count - 1, options));
  for (const { input } of store.inputs()) deepStrictEqual(Number(input.price / PRICE_SCALE), count);
  for (const resolution of ['1', '60', 'D', 'M'] as const)
    deepStrictEqual(
      store.history(asset, resolution, 0, lastS + 1, Number.MAX_SAFE_INTEGER),
      expectedHistory(count, resolution),
      resolution,
    );
  await store.close();
  return count;
}

/** Compares the whole past, which must contain every tick of the store once and in order. */
async function verifyPast(dir: string, count: number, options: SampleOptions): Promise<void> {
  const texts = (await linesOf(dir, options.assets[0]!)).map(textOfEntry);
  deepStrictEqual(texts.length >= count, true, `${texts.length} in the past, ${count} in the store`);
  deepStrictEqual(
    texts,
    texts.map((_, n) => writeAggregateLine(tick(n, options), SHOWN)),
  );
}

function expectedHistory(count: number, resolution: Resolution): CandleColumns {
  const candles: CandleColumns = { t: [], o: [], h: [], l: [], c: [] };
  for (let n = 0; n < count; n++) {
    const { startS } = intervalAt(resolution, tickS(n));
    if (candles.t.at(-1) !== startS) {
      candles.t.push(startS);
      candles.o.push(n + 1);
      candles.l.push(n + 1);
      candles.h.push(n + 1);
      candles.c.push(n + 1);
    }
    // Prices only rise, so the newest price is the highest. The property test also uses falling prices.
    candles.h[candles.h.length - 1] = n + 1;
    candles.c[candles.c.length - 1] = n + 1;
  }
  return candles;
}

/** Runs in the process that will be killed. Continues after the last record of the folder, and prints each acknowledgement. */
async function writeUntilKilled(dir: string): Promise<never> {
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(dir, { clock });
  const store = await openStore({ ...options, openFollower: () => openWriter(dir, { clock }) });
  const asset = options.assets[0]!;
  let n = ticksOf(latestIn(store, asset));
  while (true) {
    // Some commits are several frames of the log.
    const burst = n % 3 === 0 ? 1_500 : 1 + (n % 40);
    for (let i = 0; i < burst; i++) {
      const aggregate = tick(n++, options);
      clock.timeNs = atSecond(tickS(n));
      appendTo(store, aggregate);
      putInputs(store, aggregate);
    }
    await store.durable();
    writeSync(1, `${n}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeUntilKilled(process.argv[2]!);
