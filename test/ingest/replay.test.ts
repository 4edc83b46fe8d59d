import fc from 'fast-check';
import { test } from 'tap';
import { ReplayWindow, UPDATES_PER_SECOND_MAX } from '../../src/ingest/replay.js';
import type { Price } from '../../src/model/price.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { START_NS, sampleAsset, samplePublisher } from '../model/sample.js';

const asset = sampleAsset();
const publisher = samplePublisher();

function hashOf(n: number): Buffer {
  const hash = Buffer.alloc(32);
  hash.writeUInt32BE(n, 28);
  return hash;
}

test('the rules agree with a memory of everything that was ever accepted', async () => {
  const step = fc.record({
    pair: fc.nat(3),
    hash: fc.nat(4),
    // Mostly within one second, sometimes back, sometimes on to the next.
    moveNs: fc.oneof(
      fc.bigInt({ min: -2n, max: 3n }),
      fc.constantFrom(NS_PER_SECOND / 3n, NS_PER_SECOND, -NS_PER_SECOND),
    ),
  });
  const assets = [asset, sampleAsset({ index: 0xffff })];
  const publishers = [publisher, samplePublisher({ index: 70_000 })];
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const window = new ReplayWindow();
      const accepted = [0, 1, 2, 3].map(() => [] as { timeNs: bigint; hash: number }[]);
      let timeNs: bigint = START_NS;
      for (const { pair, hash, moveNs } of steps) {
        timeNs += moveNs;
        const of = [assets[pair >> 1]!, publishers[pair & 1]!] as const;
        const past = accepted[pair]!;
        const last = past.at(-1);
        const second = timeNs / NS_PER_SECOND;
        const isReplay =
          last !== undefined &&
          hash !== last.hash &&
          past.some((update) => update.hash === hash && update.timeNs / NS_PER_SECOND === second);
        const isAllowed = last === undefined || (timeNs > last.timeNs && !isReplay);
        const refusal = window.check(...of, timeNs as TimeNs, hashOf(hash));
        if ((refusal === undefined) !== isAllowed) return false;
        if (!isAllowed) continue;
        past.push({ timeNs, hash });
        window.record(...of, timeNs as TimeNs, hashOf(hash));
      }
      return true;
    }),
    { numRuns: 500 },
  );
});

test('one update’s refresh is not a replay, an earlier one’s is, and in the next second neither', async (t) => {
  const window = new ReplayWindow();
  const send = (hash: number, timeNs: bigint) => {
    const refusal = window.check(asset, publisher, timeNs as TimeNs, hashOf(hash));
    if (refusal === undefined) window.record(asset, publisher, timeNs as TimeNs, hashOf(hash));
    return refusal;
  };
  t.equal(send(1, START_NS + 1n), undefined);
  t.equal(send(1, START_NS + 2n), undefined);
  t.equal(send(2, START_NS + 3n), undefined);
  t.equal(send(1, START_NS + 4n), 'replay of an earlier update of the same second');
  t.equal(send(2, START_NS + 5n), undefined);
  t.equal(send(2, START_NS + 5n), 'timestamp is not newer than the last accepted one');
  t.equal(send(1, START_NS + NS_PER_SECOND), undefined);
  t.equal(send(2, START_NS + NS_PER_SECOND + 1n), undefined);
});

test('so many different updates fit into one second, and refreshes besides', async (t) => {
  const window = new ReplayWindow();
  let timeNs: bigint = START_NS;
  const send = (hash: number) => {
    const refusal = window.check(asset, publisher, ++timeNs as TimeNs, hashOf(hash));
    if (refusal === undefined) window.record(asset, publisher, timeNs as TimeNs, hashOf(hash));
    return refusal;
  };
  let refused = 0;
  for (let i = 1; i <= UPDATES_PER_SECOND_MAX; i++) if (send(i) !== undefined) refused++;
  t.equal(refused, 0);
  t.equal(send(UPDATES_PER_SECOND_MAX + 1), 'more than 10000 updates in one second');
  t.equal(send(UPDATES_PER_SECOND_MAX), undefined, 'a refresh of the current one');
  t.equal(send(1), 'replay of an earlier update of the same second');
  timeNs = START_NS + NS_PER_SECOND - 1n;
  t.equal(send(UPDATES_PER_SECOND_MAX + 1), undefined, 'the next second');
});

test('what is current is compared in everything that the signature covers', async (t) => {
  const window = new ReplayWindow();
  const update = {
    timestampNs: START_NS,
    price: 5n as Price,
    externalAssetId: 'BTCUSD',
    msgHash: hashOf(1),
    signature: Buffer.alloc(64, 7),
    recovery: 0 as const,
  };
  t.equal(window.isCurrent(asset, publisher, update), false);
  window.record(asset, publisher, START_NS, update.msgHash, update);
  t.equal(window.isCurrent(asset, publisher, update), true);
  const later = { ...update, timestampNs: (START_NS + 1n) as TimeNs };
  t.equal(window.isCurrent(asset, publisher, later), true);
  t.equal(window.isCurrent(asset, samplePublisher({ index: 1 }), later), false);
  t.equal(window.isCurrent(sampleAsset({ index: 1 }), publisher, later), false);
});

test('after a restart the second of the last update takes its refresh and nothing else', async (t) => {
  const window = new ReplayWindow();
  window.restore(asset, publisher, START_NS, hashOf(1));
  const check = (hash: number, timeNs: bigint) =>
    window.check(asset, publisher, timeNs as TimeNs, hashOf(hash));
  t.match(check(2, START_NS + 1n), 'restarted within this second');
  t.equal(check(1, START_NS + 1n), undefined);
  window.record(asset, publisher, (START_NS + 1n) as TimeNs, hashOf(1));
  t.match(check(2, START_NS + 2n), 'restarted within this second');
  t.equal(check(2, START_NS + NS_PER_SECOND), undefined);
});
