import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'tap';
import { createRingMemory, RingReader, RingWriter } from '../../../src/log/feed/byte_ring.js';
import type { FeedMessages, Recorded } from '../../../src/log/feed/feed.js';
import { bytesFeed, fedAsset, readFeedMessage } from '../../../src/log/feed/feed_bytes.js';
import type { Holding } from '../../../src/log/records/holding.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../../../src/model/price.js';
import { PUBLISHERS_MAX, SPREAD_PPM_MAX } from '../../../src/model/price_with_quality.js';
import type { TimeNs } from '../../../src/model/time.js';
import { livePrice } from '../../model/sample.js';
import { cases } from '../../tier.js';
import { sampleHolding } from '../records/sample_line.js';
import { atSecond, START_S, sampleAggregate, sampleAsset, samplePublisher } from '../store/sample.js';

const EPOCH = 7;
const RING_BYTES = 64 * 1024;

type Messages = FeedMessages;
type Kind = keyof Messages;
type Message = { [K in Kind]: { readonly kind: K; readonly about: Parameters<Messages[K]>[0] } }[Kind];

const sequence = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const symbol = fc.oneof(
  fc.constantFrom('BTCUSD', 'GRÜN/USD', '日経225', '🜚USD'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 64 }),
);
const signatureType = fc.constantFrom('evm', 'stark');
const price = fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }) as fc.Arbitrary<Price>;
const timeNs = fc.bigInt({ min: 1_000n, max: 2n ** 62n }) as fc.Arbitrary<TimeNs>;
/** The option for objects with the usual prototype, because the code makes such objects. */
const PLAIN = { noNullPrototype: true } as const;
/** Finite doubles without negative zero, because records have only such. Adding 0 removes the sign. */
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
const minute = fc.option(
  fc.record(
    {
      minute: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      open: double,
      high: double,
      low: double,
      close: double,
    },
    PLAIN,
  ),
  { nil: undefined },
);
const publishers = fc.nat(5).map((count) => Array.from({ length: count }, (_, i) => samplePublisher(i)));
const inside = fc.record({ timeNs, minute, price, publishers });
type Inside = typeof inside extends fc.Arbitrary<infer I> ? I : never;

function priced(
  name: { symbol: string; signatureType: string },
  { timeNs, minute, price, publishers }: Inside,
): Holding {
  const asset = sampleAsset(0, name as Parameters<typeof sampleAsset>[1]);
  return sampleHolding(sampleAggregate(asset, publishers, price, timeNs), minute);
}

const quality = fc.record(
  { newestNs: timeNs, publishers: fc.nat(PUBLISHERS_MAX), spreadPpm: fc.nat(SPREAD_PPM_MAX) },
  PLAIN,
);
const name = fc.record({ symbol, signatureType }, PLAIN);
/** A catalogue in which every ID has an asset, but only one symbol has an asset. */
const CATALOGUE = {
  assetById: (id: number) => sampleAsset(0, { id }),
  placedAsset: ({ symbol, signatureType }: AssetName) =>
    symbol === 'BTCUSD' ? sampleAsset(0, { symbol, signatureType }) : undefined,
};
const asset = name.map((one) => fedAsset(one as AssetName, CATALOGUE));
const message = fc.oneof(
  fc
    .record({ sequence, asset: fc.nat(65_535).map(CATALOGUE.assetById), price, quality })
    .map((about) => ({ kind: 'priced', about: { epoch: EPOCH, ...about } })),
  fc
    .tuple(sequence, asset, inside, fc.constantFrom('priced', 'ended', 'gap'))
    .map(([sequence, asset, inside, state]) => {
      const { timeNs, minute } = inside;
      const holding = state === 'priced' ? priced(asset, inside) : { state, timeNs, minute };
      return { kind: 'recorded', about: { epoch: EPOCH, sequence, asset, holding } };
    }),
  fc
    .tuple(sequence, asset, timeNs)
    .map(([sequence, asset, atNs]) => ({ kind: 'ended', about: { epoch: EPOCH, sequence, asset, atNs } })),
  fc
    .tuple(sequence, asset)
    .map(([sequence, asset]) => ({ kind: 'withdrawn', about: { epoch: EPOCH, sequence, asset } })),
  timeNs.map((about) => ({ kind: 'applied', about })),
) as unknown as fc.Arbitrary<Message>;

function tell(feed: Messages, { kind, about }: Message): void {
  (feed[kind] as (about: unknown) => void)(about);
}

/** Returns a feed that keeps its messages. Aggregates in the messages are already read. */
function noting(): { readonly feed: Messages; readonly told: { kind: string; about: unknown }[] } {
  const told: { kind: string; about: unknown }[] = [];
  const kinds = ['priced', 'recorded', 'withdrawn', 'ended', 'applied'] as const;
  const feed = Object.fromEntries(
    kinds.map((kind) => [kind, (about: unknown) => told.push({ kind, about: read(about) })]),
  );
  return { feed: feed as unknown as Messages, told };
}

function read(about: unknown): unknown {
  if (typeof about !== 'object' || about === null || !('holding' in about)) return about;
  const { holding, ...rest } = about as { readonly holding: Holding };
  const { state, timeNs, minute, aggregate } = holding;
  return { ...rest, holding: { state, timeNs, minute, aggregate } };
}

test('a feed of bytes through a ring tells what a feed of calls does', async () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 20 }), (messages) => {
      const [calls, bytes] = [noting(), noting()];
      const memory = createRingMemory(RING_BYTES);
      const [writer, reader] = [new RingWriter(memory), new RingReader(memory)];
      const written = bytesFeed((kind, sequence, content) => {
        if (!writer.write(kind, sequence, content)) throw new Error('the ring is full');
      });
      for (const one of messages) {
        tell(calls.feed, one);
        tell(written, one);
        readFeedMessage(reader.read(), EPOCH, bytes.feed, CATALOGUE);
      }
      return isDeepStrictEqual(bytes.told, calls.told);
    }),
    { numRuns: cases(300) },
  );
});

test('what is kept of a message outlives it', async (t) => {
  const { feed, told } = noting();
  const kept: Holding[] = [];
  const asset = sampleAsset(0);
  const memory = createRingMemory(RING_BYTES);
  const [writer, reader] = [new RingWriter(memory), new RingReader(memory)];
  const written = bytesFeed((kind, sequence, content) => writer.write(kind, sequence, content));
  for (let i = 1; i <= 2; i++) {
    const aggregate = sampleAggregate(asset, [samplePublisher(0)], BigInt(i) as Price, atSecond(START_S));
    const holding = sampleHolding(aggregate);
    written.recorded({ epoch: EPOCH, sequence: i, asset, holding });
    const keeping = { ...feed, recorded: (message: Recorded) => kept.push(message.holding) };
    readFeedMessage(reader.read(), EPOCH, keeping, CATALOGUE);
  }
  t.same(
    kept.map(({ aggregate }) => aggregate?.price),
    [1n, 2n],
  );
  t.same(told, []);
});

test('a message that a feed does not have is an error', async (t) => {
  const { feed } = noting();
  t.throws(
    () => readFeedMessage({ kind: 99, sequence: 1, bytes: new Uint8Array(8) }, EPOCH, feed, CATALOGUE),
    /no message 99/,
  );
});

test('a price of an ID that no asset has here is an error', async (t) => {
  const { feed } = noting();
  const priced = { sequence: 1, epoch: EPOCH, asset: sampleAsset(0, { id: 7 }), ...livePrice(1n) };
  const none = { assetById: () => undefined, placedAsset: () => undefined };
  const written = bytesFeed((kind, sequence, bytes) => {
    t.throws(() => readFeedMessage({ kind, sequence, bytes }, EPOCH, feed, none), /a price of ID 7/);
  });
  written.priced(priced);
});
