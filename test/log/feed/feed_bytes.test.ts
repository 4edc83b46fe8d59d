import { test } from 'tap';
import { createRingMemory, RingReader, RingWriter } from '../../../src/log/feed/byte_ring.js';
import type { FeedMessages, Recorded } from '../../../src/log/feed/feed.js';
import { bytesFeed, fedAsset, readFeedMessage } from '../../../src/log/feed/feed_bytes.js';
import type { Holding, MinuteCandle } from '../../../src/log/records/holding.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../../../src/model/price.js';
import { PUBLISHERS_MAX, SPREAD_PPM_MAX } from '../../../src/model/price_with_quality.js';
import type { TimeNs } from '../../../src/model/time.js';
import { sampleHolding } from '../records/sample_line.js';
import { atSecond, START_S, sampleAggregate, sampleAsset, samplePublisher } from '../store/sample.js';

const EPOCH = 7;
const RING_BYTES = 64 * 1024;
/** A catalogue in which every ID has an asset, but only one symbol has an asset. */
const CATALOGUE = {
  assetById: (id: number) => sampleAsset(0, { id }),
  placedAsset: ({ symbol, signatureType }: AssetName) =>
    symbol === 'BTCUSD' ? sampleAsset(0, { symbol, signatureType }) : undefined,
};

/** Returns a feed that keeps its messages. Aggregates in the messages are already read. */
function noting() {
  const told: { kind: string; about: unknown }[] = [];
  const kinds = ['priced', 'recorded', 'withdrawn', 'ended', 'applied'] as const;
  const feed = Object.fromEntries(
    kinds.map((kind) => [kind, (about: unknown) => told.push({ kind, about: read(about) })]),
  );
  return { feed: feed as unknown as FeedMessages, told };
}

function read(about: unknown): unknown {
  if (typeof about !== 'object' || about === null || !('holding' in about)) return about;
  const { holding, ...rest } = about as { readonly holding: Holding };
  const { state, timeNs, minute, aggregate } = holding;
  return { ...rest, holding: { state, timeNs, minute, aggregate } };
}

/** Tells a feed every kind of message, with the extremes of their values. */
function tellAll(feed: FeedMessages): void {
  const timesNs = [1_000n, 2n ** 62n] as TimeNs[];
  const minute: MinuteCandle = { minute: 2 ** 31 - 1, open: 1e-7, high: 2.5e21, low: -0.5, close: 5e-324 };
  const names = ['BTCUSD', 'GRÜN/USD', '日経225', '🜚'.repeat(64)];
  for (const [i, symbol] of names.entries())
    for (const signatureType of ['evm', 'stark'] as const) {
      const timeNs = timesNs[i % 2]!;
      const price = [PRICE_MIN, PRICE_MAX, 0n, -1n][i] as Price;
      const asset = fedAsset({ symbol, signatureType }, CATALOGUE);
      const sequence = [1, 2 ** 32, Number.MAX_SAFE_INTEGER, 7][i]!;
      const about = { epoch: EPOCH, sequence, asset };
      const quality = { newestNs: timeNs, publishers: PUBLISHERS_MAX, spreadPpm: i * SPREAD_PPM_MAX };
      if (i < 2) feed.priced({ ...about, asset: sampleAsset(0, { id: i * 65_535 }), price, quality });
      const publishers = Array.from({ length: 2 * i }, (_, place) => samplePublisher(place));
      const aggregate = sampleAggregate(sampleAsset(0, { symbol, signatureType }), publishers, price, timeNs);
      feed.recorded({ ...about, holding: sampleHolding(aggregate, i % 2 === 0 ? minute : undefined) });
      feed.recorded({ ...about, holding: { state: 'ended', timeNs, minute } });
      feed.recorded({ ...about, holding: { state: 'gap', timeNs, minute: undefined } });
      feed.ended({ ...about, atNs: timeNs });
      feed.withdrawn(about);
      feed.applied(timeNs);
    }
}

test('a feed of bytes through a ring tells what a feed of calls does', async (t) => {
  const [calls, bytes] = [noting(), noting()];
  const memory = createRingMemory(RING_BYTES);
  const [writer, reader] = [new RingWriter(memory), new RingReader(memory)];
  tellAll(calls.feed);
  tellAll(
    bytesFeed((kind, sequence, content) => {
      t.ok(writer.write(kind, sequence, content));
      readFeedMessage(reader.read(), EPOCH, bytes.feed, CATALOGUE);
    }),
  );
  t.same(bytes.told, calls.told);
});

test('what is kept of a message outlives it', async (t) => {
  const kept: Holding[] = [];
  const asset = sampleAsset(0);
  const memory = createRingMemory(RING_BYTES);
  const [writer, reader] = [new RingWriter(memory), new RingReader(memory)];
  const written = bytesFeed((kind, sequence, content) => writer.write(kind, sequence, content));
  for (let i = 1; i <= 2; i++) {
    const aggregate = sampleAggregate(asset, [samplePublisher(0)], BigInt(i) as Price, atSecond(START_S));
    written.recorded({ epoch: EPOCH, sequence: i, asset, holding: sampleHolding(aggregate) });
    const keeping = { ...noting().feed, recorded: (message: Recorded) => kept.push(message.holding) };
    readFeedMessage(reader.read(), EPOCH, keeping, CATALOGUE);
  }
  t.same(
    kept.map(({ aggregate }) => aggregate?.price),
    [1n, 2n],
  );
});
