import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { withoutInputs } from '../../../src/log/past/kept_line.js';
import { LostRange } from '../../../src/log/past/lost_range.js';
import { stateText } from '../../../src/log/past/past_entry.js';
import type { PastReader } from '../../../src/log/past/past_reader.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { Random } from '../../random.js';
import { aggregatesOf, evmName, HOUR_START_NS, textOf } from './sample_past.js';
import { readerOf, WrittenPast } from './written_past.js';

const HOUR_NS = 3_600_000_000_000n;
const SYMBOLS = ['BTCUSD', 'ETHUSD', 'SLOW'] as const;
const STEPS_NS = [60_000_000_000n, 97_000_000_000n, 2_400_000_000_000n] as const;
const HOURS = 4n;
const END_NS = HOUR_START_NS + HOURS * HOUR_NS;

/** An entry of an asset: the line of an aggregate, or `ended`. */
interface Entry {
  readonly symbol: string;
  readonly timeNs: bigint;
  readonly line: string;
  readonly entry: SignedAggregate | string;
}

/** The entries of each asset, ascending. */
type Truth = ReadonlyMap<string, readonly Entry[]>;

interface Sample {
  /** The folder with the files of three hours, and the segments of another hour in the log. */
  readonly dir: string;
  readonly truth: Truth;
}

/** Writes four hours. The first three are in files of several groups; the segments of the last hour are still in the log. */
async function writeSample(dir: string): Promise<Sample> {
  const endedNs = (HOUR_START_NS + 5_000_000_000_000n) as TimeNs;
  const ended = { symbol: 'SLOW', timeNs: endedNs, line: 'ended' };
  const entries: Entry[] = [{ ...ended, entry: stateText('ended', evmName('SLOW'), endedNs) }];
  for (const [i, symbol] of SYMBOLS.entries())
    for (const entry of aggregatesOf(symbol, HOUR_START_NS, 300, { stepNs: STEPS_NS[i]! }))
      if (entry.signedAtNs < END_NS)
        entries.push({ symbol, timeNs: entry.signedAtNs, line: textOf(entry), entry });
  entries.sort((a, b) => (a.timeNs < b.timeNs ? -1 : 1));
  const ordered = entries.map(({ entry }) => entry);
  const inLog = entries.findIndex(({ timeNs }) => timeNs >= END_NS - HOUR_NS);
  const options = { segmentBytesMax: 20_000 };
  const first = await WrittenPast.open(dir, options);
  await first.write(ordered.slice(0, inLog), 10);
  await first.sealed();
  await first.close();
  // The next process leaves its segments in the log.
  const moved = await WrittenPast.open(dir, options);
  await moved.sealed();
  await moved.close();
  const last = await WrittenPast.open(dir, { ...options, isMoving: false });
  await last.write(ordered.slice(inLog), 6);
  await last.close();
  return { dir, truth: new Map(SYMBOLS.map((one) => [one, entries.filter(({ symbol }) => symbol === one)])) };
}

const FAULTS = ['flip', 'flip', 'flip', 'cut', 'remove', 'double', 'foreign', 'zeros', 'shift', 'pair'];

/** Damages a file. @returns what was done, in words, and how to undo it */
function damage(dir: string, random: Random): { readonly done: string; readonly undo: () => void } {
  const files = [
    ...readdirSync(join(dir, 'past')).map((name) => join(dir, 'past', name)),
    // The end of the last segment is a commit that is being written.
    ...readdirSync(join(dir, 'log'))
      .slice(0, -1)
      .map((name) => join(dir, 'log', name)),
  ];
  const path = random.pick(files);
  const fault = random.pick(FAULTS);
  const pair = fault === 'pair' ? ['jsonl', 'inputs'].map((end) => path.replace(/\.\w+$/, `.${end}`)) : [];
  const changed = [path, ...pair.filter((one) => one !== path && files.includes(one))];
  const before = changed.map((one) => [one, readFileSync(one)] as const);
  const bytes = Buffer.from(before[0]![1]);
  const at = random.below(bytes.length);
  if (fault === 'flip') bytes[at]! ^= 1 << random.below(8);
  if (fault === 'zeros') bytes.fill(0, at, Math.min(bytes.length, at + 512));
  if (fault === 'cut') truncateSync(path, at);
  else if (fault === 'remove' || fault === 'pair') for (const one of changed) rmSync(one);
  else if (fault === 'double') writeFileSync(path, Buffer.concat([bytes, bytes]));
  else if (fault === 'shift')
    writeFileSync(path, Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 100)]));
  else if (fault === 'foreign') writeFileSync(path, readFileSync(random.pick(files)));
  else writeFileSync(path, bytes);
  const undo = () => {
    for (const [one, content] of before) writeFileSync(one, content);
  };
  return { done: `${fault} of ${path} at ${at}`, undo };
}

/**
 * Damages one file at a time, and compares each answer with the truth: it is right, or it names what is lost.
 * @returns the number of answers, and of those that named a loss
 */
export async function tryFaults(
  t: Test,
  faults: number,
  seed: number,
): Promise<{ answers: number; lost: number }> {
  const { dir, truth } = await writeSample(t.testdir());
  const random = new Random(seed);
  const counts = { answers: 0, lost: 0 };
  for (let i = 0; i < faults; i++) {
    const { done, undo } = i === 0 ? { done: 'nothing', undo() {} } : damage(dir, random);
    const told: string[] = [];
    const reader = readerOf(dir, { onDamage: (reason) => told.push(reason) });
    const wrong = await new Answers(reader, truth, told, counts).wrong(random);
    if (wrong.length > 0 || i === 0) t.strictSame(wrong, [], `fault ${i}: ${done}`);
    if (i === 0) t.equal(counts.lost, 0, 'without damage nothing is lost');
    await reader.close();
    undo();
  }
  return counts;
}

/** The answers of a reader, compared with the truth. */
class Answers {
  constructor(
    readonly reader: PastReader,
    readonly truth: Truth,
    readonly told: readonly string[],
    readonly counts: { answers: number; lost: number },
  ) {}

  async wrong(random: Random): Promise<string[]> {
    const wrong: string[] = [];
    for (const symbol of SYMBOLS) {
      for (let i = 0; i < 4; i++) {
        // Every other instant is beside an entry.
        const nearNs = random.pick(this.truth.get(symbol)!).timeNs + BigInt(random.below(3) - 1);
        const anyNs = HOUR_START_NS + BigInt(random.below(14_400)) * 1_000_000_000n;
        const atNs = i % 2 === 0 ? nearNs : anyNs;
        const fault = await this.#instant(symbol, atNs);
        if (fault !== undefined) wrong.push(`${symbol} at ${atNs}: ${fault}`);
      }
      const withInputs = random.chance(0.5);
      const fault = await this.#range(symbol, withInputs);
      if (fault !== undefined) wrong.push(`range of ${symbol}, inputs ${withInputs}: ${fault}`);
    }
    return wrong;
  }

  async #instant(symbol: string, atNs: bigint): Promise<string | undefined> {
    this.counts.answers++;
    const expected = this.truth.get(symbol)!.findLast(({ timeNs }) => timeNs <= atNs)?.line;
    try {
      const entry = await this.reader.inForce(evmName(symbol), atNs);
      const line = entry?.kind === 'priced' ? entry.line : entry?.kind;
      if (line === expected) return undefined;
      const isBare = this.told.length > 0 && expected !== undefined && line === withoutInputs(expected);
      return isBare ? undefined : `another answer: ${line?.slice(0, 80)}`;
    } catch (error) {
      if (!(error instanceof LostRange)) return (error as Error).stack;
      this.counts.lost++;
      return error.firstNs <= atNs && error.lastNs >= atNs
        ? undefined
        : `lost ${error.firstNs} to ${error.lastNs}`;
    }
  }

  /** Walks through a range as a client does that follows each `Link`. */
  async #range(symbol: string, withInputs: boolean): Promise<string | undefined> {
    this.counts.answers++;
    const expected = this.truth.get(symbol)!;
    const found = new Map<bigint, string>();
    const lost: LostRange[] = [];
    let fromNs: bigint = HOUR_START_NS;
    while (fromNs < END_NS) {
      try {
        const blocks = this.reader.blocks(evmName(symbol), { fromNs, toNs: END_NS }, withInputs);
        for (let few = await blocks.nextFew(); few.length > 0; few = await blocks.nextFew())
          for (const block of few)
            for (const entry of block.entries())
              if (entry.kind === 'priced') {
                if (found.has(entry.timeNs)) return `${entry.timeNs} twice`;
                found.set(entry.timeNs, entry.line);
                fromNs = entry.timeNs + 1n;
              }
        break;
      } catch (error) {
        if (!(error instanceof LostRange)) return (error as Error).stack;
        if (error.firstNs < fromNs || error.lastNs < error.firstNs) return `no way on behind ${error.lastNs}`;
        lost.push(error);
        fromNs = error.lastNs + 1n;
      }
    }
    if (lost.length > 0) this.counts.lost++;
    for (const { timeNs, line } of expected) {
      if (line === 'ended') continue;
      const shown = withInputs ? line : withoutInputs(line);
      if (found.get(timeNs) === shown) found.delete(timeNs);
      else if (found.has(timeNs)) return `another row at ${timeNs}`;
      else if (!lost.some(({ firstNs, lastNs }) => firstNs <= timeNs && lastNs >= timeNs))
        return `${timeNs} is missing`;
    }
    return found.size === 0 ? undefined : `${found.size} rows that were never signed`;
  }
}
