import { test } from 'tap';
import { ageMs, assetKey, Board, STALE_MS, searchAssets } from '../../../src/client/page/board.js';
import type { TaxonomyAsset } from '../../../src/client/prices/taxonomy.js';

const NOW_MS = 1_800_000_000_000;
const ns = (ms: number) => BigInt(ms) * 1_000_000n;

function asset(id: number, symbol = `A${id}`): TaxonomyAsset {
  return { id, symbol, signatureType: 'evm', aggregation: 'median', calendar: 'none' };
}

function frame(timestampNs: bigint, ...prices: readonly (readonly [id: number, price: bigint])[]) {
  return { timestampNs, assets: prices.map(([id, value]) => ({ id, value, marketStatus: null })) };
}

function boardWith(...ids: readonly number[]): Board {
  const board = new Board();
  board.setAssets(ids.map((id) => asset(id)));
  return board;
}

test('a value is sealed while it is young', async (t) => {
  const board = boardWith(1, 2);
  t.equal(board.seal(1, NOW_MS), 'waiting');
  t.equal(board.apply(frame(ns(NOW_MS), [1, 5n]), NOW_MS), undefined);
  t.equal(board.seal(1, NOW_MS + STALE_MS), 'verified');
  t.equal(board.seal(1, NOW_MS + STALE_MS + 1), 'stale');
  t.equal(board.seal(2, NOW_MS), 'waiting');
  t.match(board.quote(1), { price: 5n, direction: 0, marketStatus: undefined });
});

test('whether a value is young does not depend on how the clocks stand', async (t) => {
  for (const aheadMs of [-3_600_000, 0, 3_600_000]) {
    const board = boardWith(1);
    const nowMs = NOW_MS + aheadMs;
    board.apply(frame(ns(NOW_MS), [1, 5n]), nowMs);
    t.equal(board.seal(1, nowMs), 'verified');
    t.equal(nowMs + 1_200 - board.quote(1)!.madeMs, 1_200, 'its age');
    t.equal(board.seal(1, nowMs + STALE_MS + 1), 'stale', 'nothing has come since');
  }
});

test('a frame that was held back is stale when it comes', async (t) => {
  const board = boardWith(1);
  board.apply(frame(ns(NOW_MS), [1, 5n]), NOW_MS + 80);
  board.apply(frame(ns(NOW_MS + 500), [1, 6n]), NOW_MS + 520);
  board.apply(frame(ns(NOW_MS + 1_000), [1, 7n]), NOW_MS + 60_020);
  t.equal(NOW_MS + 60_020 - board.quote(1)!.madeMs, 59_000, 'counted from the quickest frame');
  t.equal(board.seal(1, NOW_MS + 60_020), 'stale');
  board.restart();
  board.apply(frame(ns(NOW_MS + 2_000), [1, 7n]), NOW_MS + 60_020);
  t.equal(board.seal(1, NOW_MS + 60_020), 'verified', 'another connection begins anew');
});

test('a value does not follow its streaming ID to another asset', async (t) => {
  const board = boardWith(1, 2, 3);
  board.apply(frame(ns(NOW_MS), [1, 5n], [2, 6n], [3, 7n]), NOW_MS);
  board.setAssets([asset(1, 'A2'), asset(2, 'A1'), asset(3)]);
  t.same(
    [1, 2, 3].map((id) => board.quote(id)?.price),
    [undefined, undefined, 7n],
  );
  t.not(assetKey(asset(1)), assetKey({ ...asset(1), signatureType: 'stark' }));
});

test('a value says whether it rose', async (t) => {
  const board = boardWith(1);
  const directions = [5n, 6n, 6n, -1n].map((price, i) => {
    board.apply(frame(ns(NOW_MS + i), [1, price]), NOW_MS + i);
    return board.quote(1)?.direction;
  });
  t.same(directions, [0, 1, 0, -1]);
});

test('a frame that fails takes every value away, and the next good one brings its own back', async (t) => {
  const board = boardWith(1, 2);
  board.apply(frame(ns(NOW_MS), [1, 5n], [2, 6n]), NOW_MS);
  board.blank({ seal: 'failed', reason: 'low s' });
  for (const id of [1, 2]) {
    t.equal(board.seal(id, NOW_MS), 'failed');
    t.equal(board.quote(id), undefined);
  }
  board.apply(frame(ns(NOW_MS + 1), [1, 7n]), NOW_MS + 1);
  t.equal(board.seal(1, NOW_MS), 'verified');
  t.equal(board.seal(2, NOW_MS), 'waiting');
});

test('a frame that comes again, or an older one, is refused', async (t) => {
  const board = boardWith(1);
  const good = frame(ns(NOW_MS), [1, 5n]);
  board.apply(good, NOW_MS);
  for (const again of [good, frame(ns(NOW_MS - 1), [1, 4n])]) {
    t.match(board.apply(again, NOW_MS), { seal: 'failed', reason: /not newer/ });
    t.equal(board.quote(1), undefined);
  }
  board.clear();
  t.match(board.apply(good, NOW_MS), { seal: 'failed' }, 'times go on when streaming IDs change');
  board.restart();
  t.equal(board.apply(good, NOW_MS), undefined, 'on another connection times start again');
});

test('an asset that leaves the taxonomy takes its value with it', async (t) => {
  const board = boardWith(1, 2);
  board.apply(frame(ns(NOW_MS), [1, 5n], [2, 6n]), NOW_MS);
  board.setAssets([asset(2)]);
  t.equal(board.quote(1), undefined);
  t.equal(board.quote(2)?.price, 6n);
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
  t.equal(searchAssets(assets, ' '), assets);
});
