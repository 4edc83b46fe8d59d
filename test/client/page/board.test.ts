import { test } from 'tap';
import type { TaxonomyAsset } from '../../../src/client/index.js';
import { assetKey, Board, STALE_MS } from '../../../src/client/page/board.js';

function asset(id: number, symbol = `A${id}`): TaxonomyAsset {
  return { id, symbol, signatureType: 'evm', aggregation: 'median', calendar: 'none' };
}

/** Gives a board the values of a frame that passed its checks. */
function take(board: Board, second: bigint, prices: Readonly<Record<string, bigint>>, ageMs = 0): void {
  const timestampNs = second * 1_000_000_000n;
  board.pass(timestampNs);
  for (const [symbol, price] of Object.entries(prices))
    board.apply({
      symbol: `evm ${symbol}`,
      price,
      timestampNs,
      ageMs,
      status: undefined,
      attributes: {},
    });
}

const [A1, A2] = [asset(1), asset(2)];

test('a value is sealed while it is young', async (t) => {
  const board = new Board();
  t.equal(board.seal(A1), 'waiting');
  take(board, 1n, { A1: 5n }, STALE_MS);
  t.equal(board.seal(A1), 'verified');
  take(board, 2n, { A1: 5n }, STALE_MS + 1);
  t.equal(board.seal(A1), 'stale');
  t.equal(board.seal(A2), 'waiting');
  t.equal(board.quote(A1)?.price, 5n);
});

test('a value belongs to its asset, whatever its streaming ID', async (t) => {
  const board = new Board();
  take(board, 1n, { A1: 5n });
  board.setAssets([asset(2, 'A1'), asset(1, 'A2')]);
  t.equal(board.quote(asset(2, 'A1'))?.price, 5n);
  t.equal(board.quote(asset(1, 'A2')), undefined);
  t.equal(board.quote({ ...A1, signatureType: 'stark' }), undefined);
  t.equal(assetKey(A1), 'evm A1');
});

test('a frame that fails takes every value away, and the next good one brings its own back', async (t) => {
  const board = new Board();
  take(board, 1n, { A1: 5n, A2: 6n });
  const late = board.quote(A1)!;
  board.blank({ seal: 'failed', reason: 'low s' });
  // This value comes late, from a frame that passed before the failed frame.
  board.apply(late);
  for (const asset of [A1, A2]) {
    t.equal(board.seal(asset), 'failed');
    t.equal(board.quote(asset), undefined);
  }
  take(board, 2n, { A1: 7n });
  t.equal(board.seal(A1), 'verified');
  t.equal(board.seal(A2), 'waiting');
});
