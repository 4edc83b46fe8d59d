import { open } from 'node:fs/promises';
import { test } from 'tap';
import { appendTo, latestIn } from '../../../scripts/load/store_records.js';
import { eventually } from '../../../scripts/load/wait.js';
import { readContents } from '../../../src/log/store/contents.js';
import { openStore, type Store } from '../../../src/log/store/store.js';
import { NS_PER_SECOND, type TimeNs } from '../../../src/model/time.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { firstOf } from '../../tier.js';
import { atSecond, putInputs, START_S, sampleAggregate, storeOptions, units } from './sample.js';

const STEPS = 8;
/** The number of writes in a row that fail. */
const FAILURES = 3;

/** A file as the service writes it. */
interface Written {
  write(bytes: Uint8Array, offset: number, length: number, position: number): Promise<unknown>;
}

/** Lets writes to files fail from a write on, the first of them after half of its bytes. */
class FailingDisk {
  writes = 0;
  failAt = Number.POSITIVE_INFINITY;
  readonly #prototype: Written;
  readonly #write: Written['write'];

  constructor(prototype: Written) {
    this.#prototype = prototype;
    this.#write = prototype.write;
    const disk = this;
    prototype.write = async function (this: Written, bytes, offset, length, position) {
      const write = disk.writes++;
      if (write < disk.failAt || write >= disk.failAt + FAILURES)
        return disk.#write.call(this, bytes, offset, length, position);
      if (write === disk.failAt)
        await disk.#write.call(this, bytes, offset, Math.floor(length / 2), position);
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    };
  }

  restore(): void {
    this.#prototype.write = this.#write;
  }
}

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
  const probe = await open('/dev/null');
  const disk = new FailingDisk(Object.getPrototypeOf(probe));
  await probe.close();
  t.teardown(() => disk.restore());
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
      const { c } = store.history(asset, '1', 0, START_S * 2, 100) as { c: number[] };
      t.same(
        c,
        Array.from({ length: STEPS }, (_, i) => i + 1),
      );
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
