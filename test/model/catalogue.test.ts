import fc from 'fast-check';
import { test } from 'tap';
import { Catalogue } from '../../src/model/catalogue.js';
import { sampleAsset } from './sample.js';

const NAMES = ['A', 'B', 'C'].flatMap((symbol) =>
  (['evm', 'stark'] as const).map((signatureType) => ({ symbol, signatureType })),
);

type Name = (typeof NAMES)[number];

function catalogueOf(names: readonly Name[], before?: Catalogue): Catalogue {
  const assets = names.map((name, index) => sampleAsset({ ...name, index, id: index + 1 }));
  return new Catalogue({ assets, publishers: [] }, before);
}

test('a symbol may be there in both types', async (t) => {
  const [evm, stark, , otherStark] = NAMES as [Name, Name, Name, Name];
  const catalogue = catalogueOf([stark, otherStark, evm]);
  const [starkA, starkB, evmA] = catalogue.listed;
  t.equal(catalogue.findAsset('A', 'stark'), starkA);
  t.equal(catalogue.findAsset('A', 'evm'), evmA);
  t.equal(catalogue.findAsset('A'), evmA, 'EVM unless the type is named');
  t.equal(catalogue.findAsset('B'), starkB, 'the only one');
  t.equal(catalogue.findAsset('B', 'evm'), undefined);
  t.equal(catalogue.findAsset('C'), undefined);
});

test('whatever reloads bring, an asset keeps its index and is found while it is listed', async () => {
  fc.assert(
    fc.property(fc.array(fc.shuffledSubarray(NAMES), { minLength: 1, maxLength: 8 }), (reloads) => {
      const indexes = new Map<string, number>();
      let catalogue: Catalogue | undefined;
      for (const names of reloads) {
        catalogue = catalogueOf(names, catalogue);
        for (const name of NAMES) {
          const asset = catalogue.findAsset(name.symbol, name.signatureType);
          const isListed = names.includes(name);
          const key = `${name.symbol} ${name.signatureType}`;
          // Until the process ends, a removed asset can still be found by its name.
          if (catalogue.placedAsset(name)?.index !== (asset?.index ?? indexes.get(key))) return false;
          if (asset !== undefined && catalogue.assetById(asset.id) !== asset) return false;
          if ((asset !== undefined) !== isListed || catalogue.isListed(sampleAsset(name)) !== isListed)
            return false;
          if (asset === undefined) continue;
          if ((indexes.get(key) ?? asset.index) !== asset.index) return false;
          indexes.set(key, asset.index);
          if (catalogue.assets[asset.index] !== asset) return false;
          if (asset.symbol !== name.symbol || asset.signatureType !== name.signatureType) return false;
        }
        if (catalogue.listed.length !== names.length) return false;
      }
      return new Set(indexes.values()).size === indexes.size;
    }),
  );
});
