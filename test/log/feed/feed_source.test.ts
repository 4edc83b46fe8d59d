import { test } from 'tap';
import type { About } from '../../../src/log/feed/feed.js';
import { FeedSource } from '../../../src/log/feed/feed_source.js';
import type { TimeNs } from '../../../src/model/time.js';
import { livePrice, START_NS, sampleAsset, samplePublisher } from '../../model/sample.js';
import { sampleHolding } from '../records/sample_line.js';
import { sampleAggregate } from '../store/sample.js';

test('an aggregate that is too old is withdrawn, and a newer one is not even read', async (t) => {
  const publisher = samplePublisher();
  const assets = [sampleAsset(), sampleAsset({ index: 1, id: 2, symbol: 'ETHUSD' })];
  const source = new FeedSource(1);
  const withdrawn: string[] = [];
  source.feedTo({
    priced() {},
    recorded() {},
    ended() {},
    withdrawn: ({ asset }: About) => {
      withdrawn.push(asset.symbol);
    },
  } as never);
  const [old, young] = [START_NS, START_NS + 1n] as [TimeNs, TimeNs];
  for (const [i, timeNs] of [old, young].entries()) {
    const asset = assets[i]!;
    const aggregate = sampleAggregate(asset, [publisher], 1n as never, timeNs);
    source.recorded({ asset, holding: sampleHolding(aggregate) });
  }
  const read: string[] = [];
  source.withdraw('all', old, ({ symbol }) => {
    read.push(symbol);
    return true;
  });
  t.same([read, withdrawn], [['BTCUSD'], ['BTCUSD']]);
  source.withdraw('all', young, () => false);
  source.priced({ asset: assets[1]!, ...livePrice(1n) });
  source.withdraw('without a price', young, () => true);
  t.same(withdrawn, ['BTCUSD'], 'an asset with a price may have newer inputs');
  t.same(
    source.snapshot().live.map(({ asset }) => asset.symbol),
    ['ETHUSD'],
  );
});
