import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { appendTo, latestIn } from '../../scripts/load/store_records.js';
import { eventually } from '../../scripts/load/wait.js';
import { openStore, type Store } from '../../src/store/store.js';
import { ServeProcess, writeConfig } from '../service/child.js';
import { atSecond, putInputs, START_S, sampleAggregate, storeOptions, units } from '../store/sample.js';

// Tests that the service refuses a damaged data folder, or serves only correct data from it. A SIGBUS or SIGSEGV in lmdb's memory
// map would end this test.

const SECONDS = 300;
const FLIPS = 200;
const PAGE_BYTES = 4096;
const REPORTED_MS_MAX = 10_000;

/** Writes a folder whose file has branch pages, leaf pages, overflow pages and freed pages. */
async function writtenFolder(dir: string): Promise<Buffer> {
  const options = storeOptions(dir);
  const store = await openStore(options);
  for (let s = 0; s < SECONDS; s++) {
    appendAll(store, s);
    if (s % 30 === 0) await store.durable();
  }
  await store.close();
  return readFileSync(join(dir, 'data.mdb'));

  function appendAll(into: Store, s: number): void {
    for (const asset of options.assets) {
      const aggregate = sampleAggregate(asset, options.publishers, units(s + 1), atSecond(START_S + s));
      appendTo(into, aggregate);
      putInputs(into, aggregate);
    }
  }
}

/** Opens and reads a damaged folder. @throws Error when the store returns a value that was never written */
async function outcomeOf(dir: string): Promise<'refused' | 'reported' | 'untouched'> {
  const options = storeOptions(dir);
  let store: Store;
  try {
    store = await openStore(options);
  } catch (error) {
    if (!/data folder .* cannot be opened: .*(?:damaged|format)|is damaged/s.test((error as Error).message))
      throw error;
    return 'refused';
  }
  try {
    // On a slow machine, the check of all records continues after the store was opened.
    const untilReported = (what: string) =>
      eventually(() => !store.health().ok, { what: `report of ${what}`, withinMs: REPORTED_MS_MAX });
    for (const asset of options.assets)
      for (let s = 0; s < SECONDS; s++) {
        const price = readable(() => store.recent(asset, START_S + s)?.aggregate.price);
        if (price === units(s + 1)) continue;
        // If a record is lost, the read finds the record before it, which was also signed.
        const what = `second ${s} of ${asset.symbol}: ${price}`;
        if (price !== undefined && price > units(s + 1)) throw new Error(what);
        await untilReported(what);
      }
    if (store.health().ok && [...store.inputs()].length !== options.assets.length * options.publishers.length)
      await untilReported('missing inputs');
    // New records must not overwrite pages in use.
    const asset = options.assets[0]!;
    appendTo(
      store,
      sampleAggregate(asset, options.publishers, units(SECONDS + 1), atSecond(START_S + SECONDS)),
    );
    await store.durable();
    return store.health().ok ? 'untouched' : 'reported';
  } finally {
    await store.close();
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

test(`a bit flipped at ${FLIPS} places is refused, reported, or in an unused place`, async (t) => {
  const dir = t.testdir();
  const whole = await writtenFolder(dir);
  const path = join(dir, 'data.mdb');
  // The store writes zeros after its last page, to reserve space for the next commits.
  const usedPages = Math.ceil(whole.findLastIndex((byte) => byte !== 0) / PAGE_BYTES);
  const outcomes = { refused: 0, reported: 0, untouched: 0 };
  let seed = 12345;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((seed / 0x80000000) * below);
  };
  for (let i = 0; i < FLIPS; i++) {
    // Half of the damage is in the header of a page, because every bit has a meaning there.
    const page = random(usedPages);
    const place = page * PAGE_BYTES + random(i % 2 === 0 ? 64 : PAGE_BYTES);
    const bit = random(8);
    const damaged = Buffer.from(whole);
    damaged[place]! ^= 1 << bit;
    writeFileSync(path, damaged);
    try {
      outcomes[await outcomeOf(dir)]++;
    } catch (error) {
      t.fail(`bit ${bit} of byte ${place % PAGE_BYTES} of page ${page}: ${(error as Error).message}`);
    }
  }
  t.comment(JSON.stringify(outcomes));
  t.ok(outcomes.refused > 20 && outcomes.reported > 5, JSON.stringify(outcomes));
});

test('a file that was cut off, emptied or replaced', async (t) => {
  const dir = t.testdir();
  const whole = await writtenFolder(dir);
  const path = join(dir, 'data.mdb');
  for (const length of [
    1,
    100,
    PAGE_BYTES,
    2 * PAGE_BYTES,
    3 * PAGE_BYTES + 7,
    whole.length >> 1,
    whole.length - PAGE_BYTES,
    whole.length - 1,
  ]) {
    writeFileSync(path, whole.subarray(0, length));
    t.match(await outcomeOf(dir), /refused|untouched/, `cut to ${length} of ${whole.length}`);
  }
  writeFileSync(path, Buffer.alloc(whole.length));
  t.equal(await outcomeOf(dir), 'refused', 'zeroes');
  writeFileSync(path, 'SQLite format 3\0'.repeat(1_000));
  t.equal(await outcomeOf(dir), 'refused', 'of another program');
  writeFileSync(path, '');
  const fresh = await openStore(storeOptions(dir));
  t.same(fresh.health(), { ok: true }, 'an empty file is a new database');
  t.equal(latestIn(fresh, storeOptions(dir).assets[0]!), undefined);
  await fresh.close();
});

test('a service on a damaged folder names the folder, says what to do, and exits', async (t) => {
  const dir = t.testdir();
  const file = writeConfig(dir);
  mkdirSync(join(dir, 'store'));
  writeFileSync(join(dir, 'store', 'data.mdb'), 'not a database'.repeat(1_000));
  const refused = new ServeProcess(['--config', file]);
  t.teardown(() => refused.kill());
  t.same(await refused.exited, { code: 1, signal: null });
  t.match(
    refused.stderr,
    /the data folder .*store cannot be opened: data\.mdb .*Restore the folder from a backup, or move/,
  );
});
