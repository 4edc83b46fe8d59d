import { test } from 'tap';
import { LatestInput } from '../../../src/log/records/latest_input.js';
import type { TimeNs } from '../../../src/model/time.js';
import { latestOf, START_NS, sampleAsset, sampleInput, samplePublisher } from '../../model/sample.js';

test('the latest input recognises its own texts, and no others', async (t) => {
  const { price, wire } = sampleInput(sampleAsset(), samplePublisher(), 5n, START_NS);
  const latest = new LatestInput({ floorNs: START_NS, updates: [] });
  t.equal(latest.is(START_NS, wire), false, 'there is none yet');
  for (const metadata of [undefined, '{}']) {
    const texts = { ...wire, metadata };
    latest.put('0x1', price, START_NS, texts);
    t.equal(latest.is(START_NS, texts), true);
    t.equal(latest.is((START_NS + 1n) as TimeNs, texts), false);
    for (const name of ['r', 's', 'v', 'msgHash', 'externalAssetId', 'price'] as const) {
      const changed = { ...texts, [name]: `${texts[name]}0` };
      t.equal(latest.isSigned(changed), false, name);
      t.equal(latest.is(START_NS, changed), false, name);
    }
    t.equal(latest.is(START_NS, { ...texts, metadata: '[]' }), false);
    t.equal(latest.isSigned({ ...texts, metadata: '[]' }), true, 'the signature does not cover metadata');
  }
});

test('an input that was taken stays as it was', async (t) => {
  const [asset, publisher] = [sampleAsset(), samplePublisher()];
  const first = sampleInput(asset, publisher, 5n, START_NS);
  const latest = latestOf(first);
  const taken = latest.take();
  const next = sampleInput(asset, publisher, 6n, (START_NS + 1n) as TimeNs);
  latest.put(next.wire.publisherKey, next.price, next.timestampNs, next.wire);
  t.same(taken, first);
  t.same(latest.take(), next);
});
