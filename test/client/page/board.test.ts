import { test } from 'tap';
import { ageMs, assetKey, Board, STALE_MS, searchAssets } from '../../../src/client/page/board.js';
import type { TaxonomyAsset } from '../../../src/client/prices/taxonomy.js';

const NOW_MS = 1_800_000_000_000;
const ns = (ms: number) => BigInt(ms) * 1_000_000n;

function asset(id: number, symbol = `A${id}`): TaxonomyAsset {
  return { id, symbol, signatureType: 'evm', aggregation: 'median', calendar: 'none' };
}

/** Gives a board the values of a frame that passed its checks. */
function take(
  board: Board,
  ms: number,
  prices: Readonly<Record<string, bigint>>,
  ageMs = 0,
  nowMs = ms,
): void {
  board.pass(ns(ms));
  for (const [symbol, price] of Object.entries(prices))
    board.apply({ symbol: `evm ${symbol}`, price, timestampNs: ns(ms), ageMs, status: undefined }, nowMs);
}

const [A1, A2] = [asset(1), asset(2)];

test('a value is sealed while it is young', async (t) => {
  const board = new Board();
  t.equal(board.seal(A1, NOW_MS), 'waiting');
  take(board, NOW_MS, { A1: 5n });
  t.equal(board.seal(A1, NOW_MS + STALE_MS), 'verified');
  t.equal(board.seal(A1, NOW_MS + STALE_MS + 1), 'stale');
  t.equal(board.seal(A2, NOW_MS), 'waiting');
  t.match(board.quote(A1), { price: 5n, direction: 0, marketStatus: undefined });
});

test('the age of a tick counts on by the steady clock', async (t) => {
  const board = new Board();
  take(board, NOW_MS, { A1: 5n }, 59_000, 7_000);
  t.equal(7_000 - board.quote(A1)!.madeMs, 59_000);
  t.equal(board.seal(A1, 7_000), 'stale', 'a frame that was kept back');
  take(board, NOW_MS + 500, { A1: 6n }, 200, 8_000);
  t.equal(board.seal(A1, 8_000 + STALE_MS - 200), 'verified');
  t.equal(board.seal(A1, 8_000 + STALE_MS - 199), 'stale');
});

test('a value belongs to its asset, whatever its streaming ID', async (t) => {
  const board = new Board();
  take(board, NOW_MS, { A1: 5n });
  board.setAssets([asset(2, 'A1'), asset(1, 'A2')]);
  t.equal(board.quote(asset(2, 'A1'))?.price, 5n);
  t.equal(board.quote(asset(1, 'A2')), undefined);
  t.equal(board.quote({ ...A1, signatureType: 'stark' }), undefined);
  t.not(assetKey(A1), assetKey({ ...A1, signatureType: 'stark' }));
});

test('a value says whether it rose', async (t) => {
  const board = new Board();
  const directions = [5n, 6n, 6n, -1n].map((price, i) => {
    take(board, NOW_MS + i, { A1: price });
    return board.quote(A1)?.direction;
  });
  t.same(directions, [0, 1, 0, -1]);
});

test('a frame that fails takes every value away, and the next good one brings its own back', async (t) => {
  const board = new Board();
  take(board, NOW_MS, { A1: 5n, A2: 6n });
  board.blank({ seal: 'failed', reason: 'low s' });
  // These values come late, from a frame that passed before the failed frame.
  const late = { symbol: 'evm A1', price: 5n, timestampNs: ns(NOW_MS), ageMs: 0, status: undefined };
  board.apply(late, NOW_MS);
  for (const asset of [A1, A2]) {
    t.equal(board.seal(asset, NOW_MS), 'failed');
    t.equal(board.quote(asset), undefined);
  }
  take(board, NOW_MS + 1, { A1: 7n });
  t.equal(board.seal(A1, NOW_MS), 'verified');
  t.equal(board.seal(A2, NOW_MS), 'waiting');
});

test('an asset that leaves the taxonomy takes its value with it', async (t) => {
  const board = new Board();
  take(board, NOW_MS, { A1: 5n, A2: 6n });
  board.setAssets([A2]);
  t.equal(board.quote(A1), undefined);
  t.equal(board.quote(A2)?.price, 6n);
});

test('an age is below 0 for a time ahead of the clock', async (t) => {
  t.equal(ageMs(ns(NOW_MS), NOW_MS + 1_500), 1_500);
  t.equal(ageMs(ns(NOW_MS) + 500_000n, NOW_MS), -0.5);
});

test('the search finds parts of symbols, the beginnings first', async (t) => {
  const assets = ['USDBTC', 'BTCUSD', 'ETHUSD'].map((symbol, i) => asset(i, symbol));
  const found = (text: string) => searchAssets(assets, text).map(({ symbol }) => symbol);
  t.same(found(' btc '), ['BTCUSD', 'USDBTC']);
  t.same(found('usd'), ['USDBTC', 'BTCUSD', 'ETHUSD']);
  t.same(found('x'), []);
  const gold: TaxonomyAsset = { ...asset(9, 'XAUUSD'), fullName: 'Gold' };
  t.same(searchAssets([...assets, gold], 'gol'), [gold], 'the name is found too');
  t.equal(searchAssets(assets, ' '), assets);
});
