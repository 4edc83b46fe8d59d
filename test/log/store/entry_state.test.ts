import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'tap';
import { SHOWN } from '../../../scripts/load/store_records.js';
import type { Holding, MinuteCandle } from '../../../src/log/records/holding.js';
import { LatestInput } from '../../../src/log/records/latest_input.js';
import { endingOf, holdingOf } from '../../../src/log/records/next_holding.js';
import { SeenWindow } from '../../../src/log/records/seen_window.js';
import { changedInputEntry, EntryState } from '../../../src/log/store/entry_state.js';
import { closedMinuteEntry, holdingEntry, markEntry } from '../../../src/log/store/log_entries.js';
import {
  encodeSnapshot,
  readSnapshot,
  SNAPSHOT_FILE,
  writeSnapshot,
} from '../../../src/log/store/state_snapshot.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import { NS_PER_SECOND, type TimeNs } from '../../../src/model/time.js';
import { cases } from '../../tier.js';
import {
  atSecond,
  START_S,
  sampleAggregate,
  sampleAsset,
  sampleInput,
  samplePublisher,
  units,
} from './sample.js';

const ASSETS = [
  sampleAsset(0),
  sampleAsset(1, { symbol: 'GRÜN/USD' }),
  sampleAsset(2, { signatureType: 'stark' }),
];
const PUBLISHERS = [
  samplePublisher(0),
  samplePublisher(1),
  samplePublisher(2, { signatureType: 'stark', key: Buffer.alloc(32, 9) }),
];

/** The closed minutes by asset and number. */
type Closed = Map<string, MinuteCandle>;

function newState(closed: Closed = new Map()): EntryState {
  return new EntryState((asset, minute) => {
    closed.set(`${asset.symbol} ${asset.signatureType} ${minute.minute}`, minute);
  });
}

/** A state with the log of its changes, like those of the store. */
class Written {
  readonly log: string[] = [];
  readonly closed: Closed = new Map();
  readonly state = newState(this.closed);
  readonly #pairs = new Map<string, LatestInput<SeenWindow>>();
  nowNs = atSecond(START_S);

  price(asset: (typeof ASSETS)[number], price: number): void {
    const publishers = PUBLISHERS.filter(({ signatureType }) => signatureType === asset.signatureType);
    const aggregate = sampleAggregate(asset, publishers, units(price), this.nowNs);
    this.put(asset, holdingOf(aggregate, SHOWN, this.state.newest(asset)));
  }

  put(asset: AssetName, holding: Holding | undefined): void {
    if (holding === undefined) return;
    this.state.put(asset, holding);
    this.log.push(holdingEntry(asset, holding));
  }

  closeMinute(asset: AssetName): void {
    this.state.closeMinute(this.state.of(asset));
    this.log.push(closedMinuteEntry(asset));
  }

  input(asset: (typeof ASSETS)[number], hashKey: number, isCleared: boolean): void {
    const publisher = PUBLISHERS.find(({ signatureType }) => signatureType === asset.signatureType)!;
    const key = publisher.key.toString('hex');
    const pair = this.#pairs.get(asset.symbol) ?? new LatestInput(new SeenWindow());
    this.#pairs.set(asset.symbol, pair);
    pair.restore(sampleInput(asset, publisher, units(hashKey), this.nowNs));
    const second = Number(this.nowNs / NS_PER_SECOND);
    // An update before the window is accepted only if the window is from a wrong clock, and then it is cleared.
    if (isCleared || this.nowNs < pair.seen.floorNs)
      pair.seen.clear((this.nowNs - 5n * NS_PER_SECOND) as TimeNs);
    const found = pair.seen.find({ hashKey, second });
    if (found !== undefined) pair.seen.refresh(found, found.nanos + 1);
    else {
      pair.seen.raiseFloor((this.nowNs - 3n * NS_PER_SECOND) as TimeNs);
      pair.seen.add({ hashKey, second, nanos: hashKey, sender: `a "${hashKey % 3}"` });
    }
    this.log.push(changedInputEntry(this.state.inputOf(asset, key, pair)));
  }

  mark(value: string): void {
    const mark = { kind: 'aggregates', number: 0, value };
    this.state.putMark(mark);
    this.log.push(markEntry(mark));
  }
}

function textOf(state: EntryState): string[] {
  return [...state.entries()].sort();
}

const asset = fc.constantFrom(...ASSETS);
/** Changes of a state. `take` takes entries for the snapshot while the state changes. */
const change = fc.oneof(
  { weight: 8, arbitrary: fc.record({ price: fc.integer({ min: -9, max: 99 }), asset }) },
  { weight: 6, arbitrary: fc.record({ input: fc.nat(9), isCleared: fc.boolean(), asset }) },
  { weight: 1, arbitrary: fc.record({ end: fc.constantFrom('ended', 'gap'), asset }) },
  { weight: 1, arbitrary: fc.record({ close: fc.constant(true), asset }) },
  { weight: 1, arbitrary: fc.record({ mark: fc.nat(99) }) },
  { weight: 3, arbitrary: fc.record({ take: fc.nat(4) }) },
);
/** Negative steps set the clock back. */
const afterMs = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 180_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -180_000, max: 0 }) },
);
const step = fc.tuple(afterMs, change);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function carryOut(written: Written, [afterMs, one]: Step) {
  written.nowNs = (written.nowNs + BigInt(afterMs) * 1_000_000n) as TimeNs;
  if ('price' in one) written.price(one.asset, one.price);
  else if ('input' in one) written.input(one.asset, one.input, one.isCleared);
  else if ('close' in one) written.closeMinute(one.asset);
  else if ('mark' in one) written.mark(`${one.mark}`);
  else if ('end' in one) {
    const newest = written.state.newest(one.asset);
    if (one.end === 'ended') written.put(one.asset, endingOf(written.nowNs, newest));
    else if (newest !== undefined)
      written.put(one.asset, { state: 'gap', timeNs: newest.timeNs, minute: newest.minute });
  }
}

test('a log that is read over a snapshot of any later moments gives the state and the candles', (t) => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 30 }),
      fc.array(step, { maxLength: 60, size: 'max' }),
      (before, after) => {
        const written = new Written();
        for (const one of before) carryOut(written, one);
        // The segments up to here are removed when the snapshot is on disk.
        written.log.length = 0;
        const snapshot: string[] = [];
        const taken = written.state.entries()[Symbol.iterator]();
        for (const one of after) {
          if ('take' in one[1])
            for (let i = 0; i < one[1].take; i++) snapshot.push(...[taken.next().value ?? []].flat());
          else carryOut(written, one);
        }
        for (let next = taken.next(); next.done !== true; next = taken.next()) snapshot.push(next.value);
        const closed = new Map(written.closed);
        const read = newState(closed);
        for (const entry of [...snapshot, ...written.log]) read.apply(entry);
        assert.deepEqual(textOf(read), textOf(written.state));
        // A running minute that an earlier entry closed comes again and replaces its row when it closes.
        for (const { asset, newest } of written.state.assets.values())
          for (const minutes of [closed, written.closed])
            minutes.delete(`${asset.symbol} ${asset.signatureType} ${newest?.minute?.minute}`);
        assert.deepEqual(closed, written.closed);
      },
    ),
    { numRuns: cases(1_000) },
  );
  t.end();
});

test('a snapshot reads back, and every damaged or missing byte is found', async (t) => {
  const dir = t.testdir();
  t.equal(await readSnapshot(dir, () => t.fail()), undefined);
  const entries = Array.from(
    { length: 300 },
    (_, i) => `{"mark":"${'x'.repeat(1_000 + i)}","number":${i},"value":"1"}`,
  );
  await writeSnapshot(dir, await encodeSnapshot(entries, { segment: 7, id: 'abc' }));
  const found: string[] = [];
  t.same(await readSnapshot(dir, (entry) => found.push(entry)), { segment: 7, id: 'abc' });
  t.same(found, entries);

  const path = join(dir, SNAPSHOT_FILE);
  const whole = readFileSync(path);
  const refused =
    /^state\.snapshot is damaged: .*\. Restore the folder from a backup, or move state\.snapshot away to start without/;
  const refuses = async (bytes: Buffer, name: string) => {
    writeFileSync(path, bytes);
    const reading = readSnapshot(dir, () => {});
    await t.rejects(reading, refused, name);
  };
  for (let at = 0; at < whole.length; at += 5 + (at % 7)) {
    const bytes = Buffer.from(whole);
    bytes[at]! ^= 1 << (at % 8);
    await refuses(bytes, `byte ${at}`);
  }
  for (let size = 0; size < whole.length; size += 50) await refuses(whole.subarray(0, size), `${size} bytes`);
});
