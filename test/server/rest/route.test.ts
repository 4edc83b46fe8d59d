import { test } from 'tap';
import { z } from 'zod';
import { AssetMap } from '../../../src/model/asset_map.js';
import { Token } from '../../../src/server/access/tokens.js';
import { type FindAsset, findAsset, findAssets } from '../../../src/server/rest/asked_assets.js';
import { assetList, unixSeconds } from '../../../src/server/rest/parameters.js';
import { tokenRoute } from '../../../src/server/rest/route.js';
import { sampleAsset } from '../../model/sample.js';
import { sampleToken } from '../access/sample_tokens.js';

const all = new Token(sampleToken('all'));
const bitcoinOnly = new Token(sampleToken('some', { assets: new Set(['BTCUSD']) }));
const assets = ['BTCUSD', 'ETHUSD', 'SOLUSD'].map((symbol, index) => sampleAsset({ symbol, index }));
const starkBitcoin = sampleAsset({ symbol: 'BTCUSD', index: 3, signatureType: 'stark' });
const starkOnly = sampleAsset({ symbol: 'DYDXUSD', index: 4, signatureType: 'stark' });
const byName = new AssetMap([starkBitcoin, ...assets, starkOnly]);
const find: FindAsset = (symbol, signatureType) => byName.find(symbol, signatureType);

const route = tokenRoute({
  summary: 'Both kinds of parameters',
  parameters: {
    at: { description: 'A time', required: true, schema: unixSeconds },
    list: { description: 'Symbols', required: false, schema: assetList },
  },
  response: z.unknown(),
  handle: ({ at, list }) => ({ data: JSON.stringify({ at, list }) }),
});
const ask = (query: Record<string, string>) => {
  const result = route.handle(new Map(Object.entries(query)), all);
  if ('error' in result) return `${result.status} ${result.error}`;
  if (!('data' in result)) throw new Error('the route answers at once, with a text');
  return JSON.parse(result.data);
};

test('a parameter is read or named in the error', async (t) => {
  t.same(ask({ at: '1772460000' }), { at: 1_772_460_000 });
  t.same(ask({ at: '-5', list: ' A ,B,A' }), { at: -5, list: ['A', 'B'] });
  t.equal(ask({}), '400 at is missing: /docs describes it');
  for (const at of ['', ' 1', '1.0', '1e3', '1772460000000000', '--1', '١'])
    t.equal(ask({ at }), '400 at is not an integer of UNIX seconds', at);
  for (const list of ['', ',', 'A,', 'A,,B', ' , '])
    t.equal(ask({ at: '1', list }), '400 list has an empty element: leave out a comma');
});

test('assets are found all or none, and every unknown one is named', async (t) => {
  const symbolsOf = (symbols: string[], token = all, max = 3) => {
    const found = findAssets({ symbols, signatureType: undefined }, token, max, find);
    return 'error' in found ? `${found.status} ${found.error}` : found.map(({ symbol }) => symbol);
  };
  t.same(symbolsOf(['ETHUSD', 'BTCUSD', 'SOLUSD']), ['ETHUSD', 'BTCUSD', 'SOLUSD']);
  t.equal(
    symbolsOf(['BTCUSD', 'X', 'btcusd']),
    '400 assets names unknown assets: X, btcusd; did you mean BTCUSD?',
  );
  t.equal(symbolsOf(['A', 'B', 'C', 'D']), '400 assets names 4 assets, assets_per_request is 3');
  t.equal(
    symbolsOf(['BTCUSD', 'ETHUSD', 'SOLUSD'], bitcoinOnly),
    '403 the access token does not cover these assets: ETHUSD, SOLUSD',
  );
});

test('one asset is found, unknown or not covered', async (t) => {
  const one = (symbol: string, token = all) =>
    findAsset({ parameter: 'symbol', symbol, signatureType: undefined }, token, find);
  t.equal(one('BTCUSD', bitcoinOnly), assets[0]);
  for (const name of ['btc/usd', 'BTC-USDT'])
    t.match(one(name), { error: `symbol names an unknown asset: ${name}; did you mean BTCUSD?` });
  t.match(one('BTCUSD;ETHUSD'), { error: /; \/v1\/taxonomy lists all names; commas separate names$/ });
  t.match(one('eth-usd', bitcoinOnly), { status: 400, error: 'symbol names an unknown asset: eth-usd' });
  t.match(one('ETHUSD', bitcoinOnly), { status: 403 });
});

test('the signature type decides between two assets of a symbol', async (t) => {
  const wanted = (symbols: string[], signatureType?: 'evm' | 'stark', token = all) => {
    const several = findAssets({ symbols, signatureType }, token, 3, find);
    if (symbols.length === 1) {
      const one = findAsset({ parameter: 'symbol', symbol: symbols[0]!, signatureType }, token, find);
      t.same([one], 'error' in several ? [several] : several);
    }
    return 'error' in several ? `${several.status} ${several.error}` : several;
  };
  t.same(wanted(['BTCUSD']), [assets[0]]);
  t.same(wanted(['BTCUSD'], 'stark'), [starkBitcoin]);
  t.same(wanted(['DYDXUSD']), [starkOnly]);
  t.same(wanted(['BTCUSD', 'DYDXUSD']), [assets[0], starkOnly]);
  t.same(wanted(['BTCUSD', 'DYDXUSD'], 'stark'), [starkBitcoin, starkOnly]);
  t.equal(
    wanted(['ETHUSD', 'BTCUSD', 'SOLUSD'], 'stark'),
    '400 signature_type is stark, in which there is no ETHUSD, SOLUSD',
  );
  t.same(wanted(['BTCUSD'], 'stark', bitcoinOnly), [starkBitcoin], 'a token names symbols');
});
