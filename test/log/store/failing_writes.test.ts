import { cpSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import t, { test } from 'tap';
import { appendTo, latestIn, SHOWN } from '../../../scripts/load/store_records.js';
import { eventually } from '../../../scripts/load/wait.js';
import { writeAggregateLine } from '../../../src/log/records/signed_line.js';
import type { CandleColumns } from '../../../src/log/store/candle_fold.js';
import { readContents } from '../../../src/log/store/contents.js';
import { openStore, type Store } from '../../../src/log/store/store.js';
import { NS_PER_SECOND, type TimeNs } from '../../../src/model/time.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { firstOf } from '../../tier.js';
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

const STEPS = 8;
/** The number of writes in a row that fail, if the process lives on. */
const FAILURES = 3;

/** A file as the service writes it. */
interface Written {
  write(bytes: Uint8Array, offset: number, length: number, position: number): Promise<unknown>;
}

/** Lets writes to files fail from a write on, the first of them after half of its bytes. */
class FailingDisk {
  writes = 0;
  failAt = Number.POSITIVE_INFINITY;
  failures = FAILURES;
  /** Called after half of the first write that fails. */
  onFailure = () => {};
  readonly #prototype: Written;
  readonly #write: Written['write'];

  constructor(prototype: Written) {
    this.#prototype = prototype;
    this.#write = prototype.write;
    const disk = this;
    prototype.write = async function (this: Written, bytes, offset, length, position) {
      const write = disk.writes++;
      if (write < disk.failAt || write >= disk.failAt + disk.failures)
        return disk.#write.call(this, bytes, offset, length, position);
      if (write === disk.failAt) {
        await disk.#write.call(this, bytes, offset, Math.floor(length / 2), position);
        disk.onFailure();
      }
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    };
  }

  restore(): void {
    this.#prototype.write = this.#write;
  }
}

// All files of a process have this prototype, so these tests have a process of their own.
const probe = await open('/dev/null');
const disk = new FailingDisk(Object.getPrototypeOf(probe));
await probe.close();
t.teardown(() => disk.restore());

/** Tries until the disk works again. */
async function isWritten(store: Store, write: () => Promise<void>): Promise<void> {
  while (
    !(await write().then(
      () => true,
      () => false,
    ))
  )
    await eventually(() => store.health().ok);
}

/** Writes aggregates, inputs, marks and candles in several hours, so that segments are moved into their files. */
async function write(dir: string): Promise<void> {
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(dir, { clock });
  const store = await openStore(options);
  for (let step = 1; step <= STEPS; step++) {
    clock.timeNs = (clock.timeNs + 1_200n * NS_PER_SECOND) as TimeNs;
    for (const asset of options.assets) {
      const aggregate = sampleAggregate(asset, options.publishers, units(step), clock.nowNs());
      appendTo(store, aggregate);
      putInputs(store, aggregate);
    }
    store.marks.write('a kind', 0, clock.nowNs(), () => {});
    await isWritten(store, () => store.durable());
  }
  await isWritten(store, () => store.written());
  // Everything is durable. A write that fails now is not repeated, and the caller learns of it.
  await store.close().catch((error: Error) => {
    if (!error.message.includes('ENOSPC')) throw error;
  });
}

test('a write that fails in its middle is repeated, and nothing is lost or damaged', async (t) => {
  await write(t.testdir());
  const writes = disk.writes;
  t.ok(writes > 40, `${writes} writes`);
  const [every] = firstOf([12, 3]).slice(-1);
  for (let failAt = 0; failAt < writes; failAt += every!) {
    const dir = t.testdir();
    disk.writes = 0;
    disk.failAt = failAt;
    await write(dir);
    disk.failAt = Number.POSITIVE_INFINITY;
    const options = storeOptions(dir);
    const store = await openStore(options);
    for (const asset of options.assets) {
      t.equal(latestIn(store, asset)?.price, units(STEPS), `write ${failAt}`);
      t.match(store.history(asset, '1', 0, START_S * 2, 100), { c: [1, 2, 3, 4, 5, 6, 7, 8] });
    }
    t.equal(store.marks.read('a kind', 0), atSecond(START_S + STEPS * 1_200));
    t.same(
      [...store.inputs()].map(({ input }) => input.price),
      Array(4).fill(units(STEPS)),
    );
    t.same(store.health(), { ok: true });
    await store.close();
    t.same((await readContents(dir)).damage, []);
  }
});

/** The numbers of aggregates in the commits. Long commits are several frames of the log. */
const COMMITS = [1, 900, 40, 1, 450, 3];

const aggregateAt = (n: number, { assets, publishers }: SampleOptions) =>
  sampleAggregate(assets[0]!, publishers, units(n + 1), atSecond(START_S + n * 61));

/** Writes aggregates until a write fails. @param onAcknowledged receives the number of durable aggregates */
async function writeUntilFailure(dir: string, onAcknowledged: (count: number) => void): Promise<void> {
  const clock = new FakeClock(atSecond(START_S));
  const options = storeOptions(dir, { clock });
  const store = await openStore({ ...options, openFollower: () => openWriter(dir, { clock }) });
  let written = 0;
  try {
    for (const commit of COMMITS) {
      for (const end = written + commit; written < end; written++) {
        const aggregate = aggregateAt(written, options);
        clock.timeNs = aggregate.signedAtNs;
        appendTo(store, aggregate);
        putInputs(store, aggregate);
      }
      await store.durable();
      onAcknowledged(written);
    }
  } finally {
    await store.close().catch(() => {});
  }
}

test('a process that is killed in the middle of any write loses nothing acknowledged, and leaves nothing in part', async (t) => {
  disk.failures = Number.POSITIVE_INFINITY;
  await writeUntilFailure(t.testdir(), () => {});
  const writes = disk.writes;
  const [every] = firstOf([7, 2]).slice(-1);
  const ahead: number[] = [];
  for (let failAt = 0; failAt < writes; failAt += every!) {
    const dir = t.testdir();
    const killed = join(dir, 'killed');
    let acknowledged = 0;
    let leftAcknowledged = 0;
    disk.onFailure = () => {
      cpSync(join(dir, 'store'), killed, { recursive: true, filter: (path) => !path.endsWith('.sock') });
      leftAcknowledged = acknowledged;
    };
    disk.writes = 0;
    disk.failAt = failAt;
    await writeUntilFailure(join(dir, 'store'), (count) => {
      acknowledged = count;
    }).catch(() => {});
    disk.failAt = Number.POSITIVE_INFINITY;
    const options = storeOptions(killed);
    const [asset] = options.assets;
    const store = await openStore(options);
    const found = Number((latestIn(store, asset!)?.price ?? 0n) / units(1));
    t.ok(found >= leftAcknowledged, `write ${failAt}: ${found} found, ${leftAcknowledged} acknowledged`);
    ahead.push(found - leftAcknowledged);
    if (found > 0) {
      const numbers = Array.from({ length: found }, (_, n) => n);
      t.strictSame(latestIn(store, asset!), aggregateAt(found - 1, options));
      const minutes = store.history(asset!, '1', 0, 2 * START_S, 10_000) as CandleColumns;
      t.same(
        minutes.c,
        numbers.map((n) => n + 1),
      );
      const hours = store.history(asset!, '60', 0, 2 * START_S, 10_000) as CandleColumns;
      t.same(
        hours.h,
        hours.t.map((startS) => minutes.c[minutes.t.findLastIndex((s) => s < startS + 3_600)]),
      );
      for (const { input } of store.inputs()) t.equal(input.price, units(found));
      t.same(
        (await linesOf(killed, asset!)).map(textOfEntry),
        numbers.map((n) => writeAggregateLine(aggregateAt(n, options), SHOWN)),
        `write ${failAt}: the past`,
      );
    }
    await store.close();
  }
  t.comment(
    `${writes} writes, of which ${ahead.length} were the last; found above what was acknowledged: ${ahead}`,
  );
});
