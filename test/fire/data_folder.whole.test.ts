import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { seededRandom } from '../../scripts/load/random.js';
import { appendTo, latestIn } from '../../scripts/load/store_records.js';
import { eventually } from '../../scripts/load/wait.js';
import { listSegments, logFolderOf } from '../../src/log/disk/segment.js';
import { openStore, type Store } from '../../src/log/store/store.js';
import { FakeClock } from '../clock/fake_clock.js';
import { atSecond, putInputs, START_S, sampleAggregate, storeOptions, units } from '../log/store/sample.js';
import { ServeProcess, writeConfig } from '../service/child.js';

// Tests that the service refuses a damaged data folder, or serves only correct data from it and says what is damaged.

const MINUTES = 150;
const FAULTS = 180;

/** Writes a folder with candles, a snapshot and two segments after it. */
async function writtenFolder(dir: string): Promise<void> {
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(dir, { clock });
  for (const isLast of [false, true]) {
    const store = await openStore({ ...options, laterMs: isLast ? 1_000_000 : 0 });
    for (let minute = isLast ? MINUTES - 5 : 0; minute < (isLast ? MINUTES : MINUTES - 5); minute++) {
      clock.timeNs = atSecond(START_S + minute * 60);
      for (const asset of options.assets) {
        const aggregate = sampleAggregate(asset, options.publishers, units(minute + 1), clock.nowNs());
        appendTo(store, aggregate);
        putInputs(store, aggregate);
      }
      store.marks.write('a kind', 0, clock.nowNs(), () => {});
      if (minute % 3 === 0) await store.durable();
    }
    await store.durable();
    if (!isLast) await eventually(() => listSegments(logFolderOf(dir)).length === 1);
    await store.close();
  }
}

/**
 * Opens and reads a damaged folder.
 * @throws Error when the store returns a value that was never written, or says nothing about a value that is missing
 */
async function outcomeOf(dir: string): Promise<'refused' | 'reported' | 'untouched'> {
  const options = storeOptions(dir, { laterMs: 1_000_000 });
  let store: Store;
  try {
    store = await openStore(options);
  } catch (error) {
    if (!/data folder .* cannot be opened: .*(?:damaged|format)/s.test((error as Error).message)) throw error;
    return 'refused';
  }
  try {
    const missing: string[] = [];
    for (const asset of options.assets) {
      const price = latestIn(store, asset)?.price;
      if (price !== units(MINUTES)) missing.push(`the newest price: ${price}`);
      if (price !== undefined && (price % units(1) !== 0n || price > units(MINUTES)))
        throw new Error(`${price}`);
      const candles = store.history(asset, '1', 0, START_S + MINUTES * 60, MINUTES);
      if (candles === 'too many') throw new Error(candles);
      for (const [i, s] of candles.t.entries())
        if (candles.c[i] !== (s - START_S) / 60 + 1) throw new Error(`candle of ${s}: ${candles.c[i]}`);
      if (candles.t.length !== MINUTES) missing.push(`candles: ${candles.t.length}`);
      store.history(asset, '60', 0, START_S + MINUTES * 60, MINUTES);
    }
    const inputs = [...store.inputs()];
    if (inputs.length !== options.assets.length * options.publishers.length) missing.push('inputs');
    if (inputs.some(({ input }) => input.price !== units(MINUTES))) missing.push('newest inputs');
    if (store.marks.read('a kind', 0) !== atSecond(START_S + (MINUTES - 1) * 60)) missing.push('mark');
    if (store.health().ok && missing.length > 0) throw new Error(`nothing was said about ${missing}`);
    const asset = options.assets[0]!;
    appendTo(store, sampleAggregate(asset, options.publishers, units(1), atSecond(START_S + MINUTES * 60)));
    await store.durable();
    return store.health().ok ? 'untouched' : 'reported';
  } finally {
    await store.close();
  }
}

/** Returns the files of a folder that a fault may touch, by their path in the folder. */
function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(dir, path)).isFile())
    .sort();
}

test(`${FAULTS} bits flipped in all files are refused, reported, or in an unused place`, async (t) => {
  const dir = t.testdir();
  const whole = join(dir, 'whole');
  await writtenFolder(whole);
  const outcomes = { refused: 0, reported: 0, untouched: 0 };
  const random = seededRandom(12_345);
  const below = (end: number) => Math.floor(random() * end);
  const paths = filesIn(whole);
  t.match(paths.join(), /candles.*format.*log.*state\.snapshot/);
  for (let fault = 0; fault < FAULTS; fault++) {
    const copy = join(dir, 'copy');
    rmSync(copy, { recursive: true, force: true });
    cpSync(whole, copy, { recursive: true });
    const path = paths[fault % paths.length]!;
    const bytes = readFileSync(join(whole, path));
    // A file of candles is empty except for the rows of three hours.
    const used = path.startsWith('candles') ? MINUTES * 40 : bytes.length;
    const at = below(used);
    const bit = below(8);
    bytes[at]! ^= 1 << bit;
    writeFileSync(join(copy, path), bytes);
    try {
      outcomes[await outcomeOf(copy)]++;
    } catch (error) {
      t.fail(`bit ${bit} of byte ${at} of ${path}: ${(error as Error).message}`);
    }
  }
  t.comment(JSON.stringify(outcomes));
  t.ok(outcomes.refused > 30 && outcomes.reported > 30, JSON.stringify(outcomes));
});

test('files that were cut off, emptied, removed or replaced', async (t) => {
  const dir = t.testdir();
  const whole = join(dir, 'whole');
  await writtenFolder(whole);
  const newest = filesIn(whole).findLast((path) => path.startsWith('log'));
  for (const path of filesIn(whole)) {
    const bytes = readFileSync(join(whole, path));
    const faults: Record<string, Buffer | undefined> = {
      emptied: Buffer.alloc(0),
      'cut in half': bytes.subarray(0, bytes.length >> 1),
      'of another program': Buffer.from('SQLite format 3\0'.repeat(1_000)),
      removed: undefined,
    };
    for (const [name, fault] of Object.entries(faults)) {
      const copy = join(dir, 'copy');
      rmSync(copy, { recursive: true, force: true });
      cpSync(whole, copy, { recursive: true });
      if (fault === undefined) rmSync(join(copy, path));
      else writeFileSync(join(copy, path), fault);
      // Nobody knows that the newest segment or a file of candles was there, and the end of a segment looks like that of a kill.
      const isUnknown = path === newest || (path.startsWith('candles') && fault === undefined);
      const isSilent = isUnknown || (path.startsWith('log') && fault !== undefined);
      const outcome = await outcomeOf(copy).catch(({ message }: Error) => message);
      const expected = isSilent || path === 'format' ? /./ : /refused|reported/;
      t.match(outcome, expected, `${path} ${name}: ${outcome}`);
    }
  }
});

test('a service on a damaged folder names the folder, says what to do, and exits', async (t) => {
  const dir = t.testdir();
  const file = writeConfig(dir);
  mkdirSync(join(dir, 'store'));
  await writtenFolder(join(dir, 'store'));
  writeFileSync(join(dir, 'store', 'state.snapshot'), 'not a snapshot'.repeat(1_000));
  const refused = new ServeProcess(['--config', file]);
  t.teardown(() => refused.kill());
  t.same(await refused.exited, { code: 1, signal: null });
  t.match(
    refused.stderr,
    /the data folder .*store cannot be opened: state\.snapshot .*Restore the folder from a backup, or move/,
  );
});
