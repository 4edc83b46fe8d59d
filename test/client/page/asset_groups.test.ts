import { test } from 'tap';
import type { TaxonomyAsset } from '../../../src/client/index.js';
import { groupsOf, listAssets } from '../../../src/client/page/asset_groups.js';

function asset(symbol: string, assetClass?: string, fullName?: string): TaxonomyAsset {
  return {
    id: 1,
    symbol,
    signatureType: 'evm',
    aggregation: 'median',
    calendar: 'none',
    assetClass,
    fullName,
  };
}

const ASSETS = [
  asset('USDBTC', 'forex'),
  asset('BTCUSD', 'crypto'),
  asset('OIL'),
  asset('XAUUSD', 'crypto', 'Gold'),
];

function listed(group: string, search = ''): string {
  return listAssets(ASSETS, group, search)
    .map(({ symbol }) => symbol)
    .join(' ');
}

test('each class of the catalogue is a group, beside all assets', async (t) => {
  t.same(groupsOf(ASSETS), ['all', 'forex', 'crypto']);
  t.equal(listed('all'), 'USDBTC BTCUSD OIL XAUUSD');
  t.equal(listed('crypto'), 'BTCUSD XAUUSD');
});

test('the search finds parts of symbols and names, the beginnings first', async (t) => {
  t.equal(listed('all', ' btc '), 'BTCUSD USDBTC');
  t.equal(listed('all', 'usd'), 'USDBTC BTCUSD XAUUSD');
  t.equal(listed('all', 'x'), 'XAUUSD');
  t.equal(listed('all', 'gol'), 'XAUUSD', 'the name is found too');
  t.equal(listed('forex', 'x'), '');
});
