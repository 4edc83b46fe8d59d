import { test } from 'tap';
import { FeedSource } from '../../src/feed/feed_source.js';
import { Catalogue } from '../../src/model/catalogue.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { START_NS, sampleAsset, samplePublisher } from '../model/sample.js';
import { sampleAggregate } from '../store/sample.js';

test('an aggregate that is too old is withdrawn, and a newer one is not even read', async (t) => {
  const publisher = samplePublisher();
  const assets = [sampleAsset(), sampleAsset({ index: 1, id: 2, symbol: 'ETHUSD' })];
  const source = new FeedSource(new Catalogue({ assets, publishers: [publisher] }), 1);
  const withdrawn: string[] = [];
  source.feedTo({
    priced() {},
    recorded() {},
    ended() {},
    withdrawn: ({ symbol }: { readonly symbol: string }) => {
      withdrawn.push(symbol);
    },
  } as never);
  const [old, young] = [START_NS, START_NS + 1n] as [TimeNs, TimeNs];
  for (const [i, timeNs] of [old, young].entries()) {
    const { symbol, signatureType } = assets[i]!;
    const aggregate = sampleAggregate(assets[i]!, [publisher], 1n as never, timeNs);
    const holding = { state: 'priced' as const, timeNs, minute: undefined, aggregate };
    source.recorded({ symbol, signatureType, holding });
  }
  const read: string[] = [];
  source.withdraw('all', old, ({ symbol }) => {
    read.push(symbol);
    return true;
  });
  t.same([read, withdrawn], [['BTCUSD'], ['BTCUSD']]);
  source.withdraw('all', young, () => false);
  source.priced({ streamingId: 2, price: 1n as Price });
  source.withdraw('without a price', young, () => true);
  t.same(withdrawn, ['BTCUSD'], 'an asset with a price may have newer inputs');
  t.same(
    source.snapshot().live.map(({ symbol }) => symbol),
    ['ETHUSD'],
  );
});
