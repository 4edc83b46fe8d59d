import { test } from 'tap';
import { z } from 'zod';
import { Token } from '../../../src/server/access/tokens.js';
import { assetList, findAsset, findAssets, tokenRoute, unixSeconds } from '../../../src/server/rest/route.js';
import { sampleAsset } from '../../model/sample.js';
import { sampleToken } from '../access/sample_tokens.js';

const all = new Token(sampleToken('all'));
const bitcoinOnly = new Token(sampleToken('some', { assets: new Set(['BTCUSD']) }));
const assets = ['BTCUSD', 'ETHUSD', 'SOLUSD'].map((symbol, index) => sampleAsset({ symbol, index }));
const find = (symbol: string) => assets.find((asset) => asset.symbol === symbol);

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
  return 'error' in result ? `${result.status} ${result.error}` : JSON.parse(result.data);
};

test('a parameter is read or named in the error', async (t) => {
  t.same(ask({ at: '1772460000' }), { at: 1_772_460_000 });
  t.same(ask({ at: '-5', list: ' A ,B,A' }), { at: -5, list: ['A', 'B'] });
  t.equal(ask({}), '400 at is missing');
  for (const at of ['', ' 1', '1.0', '1e3', '0x1', '1772460000000000', '--1', '١'])
    t.equal(ask({ at }), '400 at is not an integer of UNIX seconds', at);
  for (const list of ['', ',', 'A,', 'A,,B', ' , '])
    t.equal(ask({ at: '1', list }), '400 list has an empty element');
});

test('assets are found all or none, and every unknown one is named', async (t) => {
  const symbolsOf = (symbols: string[], token = all, max = 3) => {
    const found = findAssets(symbols, token, max, find);
    return 'error' in found ? `${found.status} ${found.error}` : found.map(({ symbol }) => symbol);
  };
  t.same(symbolsOf(['ETHUSD', 'BTCUSD', 'SOLUSD']), ['ETHUSD', 'BTCUSD', 'SOLUSD']);
  t.equal(symbolsOf(['BTCUSD', 'X', 'btcusd']), '400 assets names unknown assets: X, btcusd');
  t.equal(symbolsOf(['A', 'B', 'C', 'D']), '400 assets names 4 assets, assets_per_request is 3');
  t.equal(
    symbolsOf(['BTCUSD', 'ETHUSD', 'SOLUSD'], bitcoinOnly),
    '403 the access token does not cover these assets: ETHUSD, SOLUSD',
  );
  t.equal(symbolsOf(['X', 'ETHUSD'], bitcoinOnly), '400 assets names unknown assets: X');
});

test('one asset is found, unknown or not covered', async (t) => {
  t.equal(findAsset('symbol', 'BTCUSD', bitcoinOnly, find), assets[0]);
  t.match(findAsset('symbol', 'X', all, find), { status: 400, error: 'symbol names an unknown asset: X' });
  t.match(findAsset('symbol', 'ETHUSD', bitcoinOnly, find), { status: 403 });
});
