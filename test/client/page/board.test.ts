import { test } from 'tap';
import type { TaxonomyAsset, Tick } from '../../../src/client/index.js';
import { assetKey, Board, STALE_MS } from '../../../src/client/page/board.js';

const NOW_MS = 1_800_000_000_000;
const ns = (ms: number) => BigInt(ms) * 1_000_000n;

function asset(id: number, symbol = `A${id}`): TaxonomyAsset {
  return { id, symbol, signatureType: 'evm', aggregation: 'median', calendar: 'none' };
}

/** Makes a tick of an asset without a schedule. */
function tickOf(fields: Pick<Tick, 'symbol' | 'price' | 'timestampNs' | 'ageMs'>) {
  return { ...fields, status: undefined, attributes: {} };
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
    board.apply(tickOf({ symbol: `evm ${symbol}`, price, timestampNs: ns(ms), ageMs }), nowMs);
}

const [A1, A2] = [asset(1), asset(2)];

test('a value is sealed while it is young', async (t) => {
  const board = new Board();
  t.equal(board.seal(A1, NOW_MS), 'waiting');
  take(board, NOW_MS, { A1: 5n });
  t.equal(board.seal(A1, NOW_MS + STALE_MS), 'verified');
  t.equal(board.seal(A1, NOW_MS + STALE_MS + 1), 'stale');
  t.equal(board.seal(A2, NOW_MS), 'waiting');
  t.match(board.quote(A1), { price: 5n, before: 5n, marketStatus: undefined });
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

test('a value has the price before its last change, and the time of the change', async (t) => {
  const board = new Board();
  const seen = [5n, 6n, 6n, -1n].map((price, i) => {
    take(board, NOW_MS + i, { A1: price });
    const { before, changedMs } = board.quote(A1)!;
    return [before, changedMs - NOW_MS];
  });
  t.same(seen, [
    [5n, Number.NEGATIVE_INFINITY],
    [5n, 1],
    [5n, 1],
    [6n, 3],
  ]);
});

test('a frame that fails takes every value away, and the next good one brings its own back', async (t) => {
  const board = new Board();
  take(board, NOW_MS, { A1: 5n, A2: 6n });
  board.blank({ seal: 'failed', reason: 'low s' });
  // These values come late, from a frame that passed before the failed frame.
  board.apply(tickOf({ symbol: 'evm A1', price: 5n, timestampNs: ns(NOW_MS), ageMs: 0 }), NOW_MS);
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
