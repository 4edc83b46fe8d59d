import { join } from 'node:path';
import fc from 'fast-check';
import { test } from 'tap';
import { appendTo, endIn, latestIn, SHOWN } from '../../scripts/load/store_records.js';
import type { Asset, SignatureType } from '../../src/model/asset.js';
import { holdingOf } from '../../src/records/next_holding.js';
import { Journal } from '../../src/store/journal.js';
import { openFolder } from '../../src/store/lmdb/folder.js';
import { openTables } from '../../src/store/open_tables.js';
import { RecordKeys, symbolOf } from '../../src/store/record_keys.js';
import { emptySeries, recordHolding } from '../../src/store/series.js';
import { openStore, type Store } from '../../src/store/store.js';
import {
  atSecond,
  putInputs,
  START_S,
  sampleAggregate,
  sampleAsset,
  samplePublisher,
  seenOf,
  storeOptions,
  units,
} from './sample.js';

const PUBLISHERS = {
  evm: samplePublisher(0),
  stark: samplePublisher(2, { signatureType: 'stark', key: Buffer.alloc(32, 7) }),
};
const evm = sampleAsset(0, { symbol: 'BTCUSD' });
const stark = sampleAsset(1, { symbol: 'BTCUSD', signatureType: 'stark' });

function aggregateOf(asset: Asset, price: number, second: number) {
  return sampleAggregate(asset, [PUBLISHERS[asset.signatureType]], units(price), atSecond(second));
}

function put(store: Store, asset: Asset, price: number, second: number) {
  const aggregate = aggregateOf(asset, price, second);
  putInputs(store, aggregate);
  appendTo(store, aggregate);
  return aggregate;
}

function inputsOf(store: Store) {
  return [...store.inputs()]
    .map(({ asset, input }) => `${asset.signatureType} ${input.price / units(1)}`)
    .sort();
}

function candlesOf(store: Store, asset: Asset) {
  const candles = store.history(asset, '1', 0, START_S + 86_400, 1_000);
  return candles === 'too many' ? candles : candles.o;
}

/** Writes a folder of an older version. In that version a symbol had one type, so the symbol alone names the asset. */
async function writeOldFolder(dir: string, aggregates: readonly ReturnType<typeof aggregateOf>[]) {
  const folder = await openFolder({ dir });
  const journal = new Journal(folder);
  const tables = openTables(journal);
  const series = emptySeries('BTCUSD');
  for (const aggregate of aggregates) {
    for (const input of aggregate.inputs)
      tables.inputs.put(['BTCUSD', input.wire.publisherKey.slice(2)], { input, seen: seenOf(input) });
    recordHolding(series, holdingOf(aggregate, SHOWN, series.newest), tables);
  }
  await journal.close();
  await folder.close(true);
}

test('both types of a symbol have records of their own', async (t) => {
  const options = storeOptions(t.testdir(), { assets: [evm, stark] });
  let store = await openStore(options);
  put(store, evm, 1, START_S);
  put(store, stark, 2, START_S);
  const last = [put(store, evm, 3, START_S + 60), put(store, stark, 4, START_S + 60)];
  endIn(store, evm, atSecond(START_S + 61));
  for (const state of ['before', 'after'] as const) {
    t.equal(latestIn(store, evm), undefined, `${state} the restart`);
    t.same(latestIn(store, stark), last[1]);
    t.same(store.recent(evm, START_S + 60)?.aggregate, last[0]);
    t.equal(store.recent(stark, START_S + 1)?.aggregate.price, units(2));
    t.same(candlesOf(store, evm), [1, 3]);
    t.same(candlesOf(store, stark), [2, 4]);
    if (state === 'after') break;
    await store.close();
    store = await openStore(options);
  }
  t.same(inputsOf(store), ['evm 3', 'stark 4']);
  store.reconfigure({ ...options, assets: [stark] });
  await store.durable();
  t.same(inputsOf(store), ['stark 4'], 'of the configured assets alone');
  await store.close();
});

test('an old folder keeps the records of its Stark asset, and an EVM one beside it gets its own', async (t) => {
  const options = storeOptions(t.testdir(), { assets: [evm, stark] });
  const old = [aggregateOf(stark, 1, START_S), aggregateOf(stark, 2, START_S + 60)];
  await writeOldFolder(options.dir, old);

  let store = await openStore({ ...options, assets: [stark] });
  t.same(latestIn(store, stark), old[1]);
  t.equal(latestIn(store, stark)?.symbol, 'BTCUSD');
  t.same(candlesOf(store, stark), [1, 2]);
  t.same(inputsOf(store), ['stark 2']);
  store.reconfigure(options);
  t.equal(latestIn(store, evm), undefined, 'the EVM asset begins with nothing');
  put(store, evm, 10, START_S + 60);
  put(store, stark, 3, START_S + 120);
  await store.close();

  for (const assets of [[evm], [evm, stark]]) {
    store = await openStore({ ...options, assets });
    t.same(candlesOf(store, evm), [10]);
    t.equal(latestIn(store, evm)?.price, units(10));
    t.same(candlesOf(store, stark), [1, 2, 3]);
    t.equal(latestIn(store, stark)?.price, units(3));
    t.same(inputsOf(store), assets.length === 1 ? ['evm 10'] : ['evm 10', 'stark 3']);
    await store.close();
  }
});

test('where the type of an asset was changed, its records are of the type that it had last', async (t) => {
  const [start, later] = [START_S, START_S + 60];
  const dir = t.testdir({ evm: {}, stark: {} });
  for (const [first, last] of [
    [evm, stark],
    [stark, evm],
  ] as const) {
    const options = storeOptions(join(dir, last.signatureType), { assets: [evm, stark] });
    await writeOldFolder(options.dir, [aggregateOf(first, 1, start), aggregateOf(last, 2, later)]);
    const store = await openStore(options);
    t.equal(latestIn(store, last)?.price, units(2), last.signatureType);
    t.equal(latestIn(store, first), undefined);
    t.same(inputsOf(store), [`${last.signatureType} 2`]);
    await store.close();
  }
});

test('no two assets have the same key, and it tells the symbol', async () => {
  const symbol = fc.stringMatching(/^[^\s,"\\]{1,6}$/);
  const type = fc.constantFrom<SignatureType>('evm', 'stark');
  const name = fc.record({ symbol: fc.oneof(symbol, fc.constantFrom('A', 'B')), signatureType: type });
  fc.assert(
    fc.property(name, name, fc.subarray(['A', 'B']), (one, other, starkSymbols) => {
      const keys = new RecordKeys(new Set(starkSymbols));
      const isSame = one.symbol === other.symbol && one.signatureType === other.signatureType;
      return (keys.of(one) === keys.of(other)) === isSame && symbolOf(keys.of(one)) === one.symbol;
    }),
  );
});
