import { test } from 'tap';
import type { TaxonomyAsset } from '../../../src/client/index.js';
import {
  ALL,
  FAVOURITES,
  Favourites,
  groupsOf,
  type ListChoice,
  listAssets,
  searchAssets,
} from '../../../src/client/page/asset_order.js';

function asset(symbol: string, assetClass?: string): TaxonomyAsset {
  return { id: 1, symbol, signatureType: 'evm', aggregation: 'median', calendar: 'none', assetClass };
}

const ASSETS = [asset('XAU', 'metal'), asset('BTC', 'crypto'), asset('OIL'), asset('ETH', 'crypto')];
const CHANGES: Readonly<Record<string, number>> = { XAU: 0.01, BTC: -0.02, ETH: 0.03 };

/** Returns the symbols of the list for a choice. ETH is a favourite. */
function listed(choice: Partial<ListChoice>): string {
  const facts = {
    isFavourite: ({ symbol }: TaxonomyAsset) => symbol === 'ETH',
    changeOf: ({ symbol }: TaxonomyAsset) => CHANGES[symbol],
  };
  const whole = { group: ALL, order: 'catalogue', search: '', ...choice } as const;
  return listAssets(ASSETS, whole, facts)
    .map(({ symbol }) => symbol)
    .join(' ');
}

test('each class of the catalogue is a group, beside all assets and the favourites', async (t) => {
  t.same(groupsOf(ASSETS), [ALL, FAVOURITES, 'metal', 'crypto']);
  t.same(groupsOf([asset('A', FAVOURITES)]), [ALL, FAVOURITES], 'a class cannot replace a group of the page');
  t.equal(listed({}), 'XAU BTC OIL ETH');
  t.equal(listed({ group: 'crypto' }), 'BTC ETH');
  t.equal(listed({ group: FAVOURITES }), 'ETH');
  t.equal(listed({ group: 'crypto', search: 'e' }), 'ETH');
});

test('a list is sorted by symbol or by change, and an unknown change comes last', async (t) => {
  t.equal(listed({ order: 'symbol' }), 'BTC ETH OIL XAU');
  t.equal(listed({ order: 'rising' }), 'ETH XAU BTC OIL');
  t.equal(listed({ order: 'falling' }), 'BTC XAU ETH OIL');
  t.equal(listed({ order: 'falling', group: 'crypto' }), 'BTC ETH');
  t.equal(ASSETS[0]!.symbol, 'XAU', 'sorting leaves the catalogue as it is');
});

test('favourites last, and a mark is removed by the same key', async (t) => {
  const values = new Map<string, string>();
  const storage = {
    getItem: (name: string) => values.get(name) ?? null,
    setItem: (name: string, value: string) => void values.set(name, value),
    removeItem: (name: string) => void values.delete(name),
  };
  const [gold, bitcoin] = [ASSETS[0]!, ASSETS[1]!];
  const first = new Favourites(storage);
  first.toggle(gold);
  first.toggle(bitcoin);
  first.toggle(bitcoin);
  const later = new Favourites(storage);
  t.same([later.has(gold), later.has(bitcoin)], [true, false]);
  t.notOk(later.has({ ...gold, signatureType: 'stark' }), 'the Stark asset of a symbol is another asset');
  for (const text of ['{', '{}', '[1, null]']) {
    values.set('tickseal.favourites', text);
    t.notOk(new Favourites(storage).has(gold), text);
  }
  const many = new Favourites(storage);
  for (let i = 0; i <= 500; i++) many.toggle(asset(`A${i}`));
  t.same([many.has(asset('A0')), many.has(asset('A1')), many.has(asset('A500'))], [false, true, true]);
});

test('the search finds parts of symbols, the beginnings first', async (t) => {
  const assets = ['USDBTC', 'BTCUSD', 'ETHUSD'].map((symbol) => asset(symbol));
  const found = (text: string) => searchAssets(assets, text).map(({ symbol }) => symbol);
  t.same(found(' btc '), ['BTCUSD', 'USDBTC']);
  t.same(found('usd'), ['USDBTC', 'BTCUSD', 'ETHUSD']);
  t.same(found('x'), []);
  const gold: TaxonomyAsset = { ...asset('XAUUSD'), fullName: 'Gold' };
  t.same(searchAssets([...assets, gold], 'gol'), [gold], 'the name is found too');
  t.equal(searchAssets(assets, ' '), assets);
});
