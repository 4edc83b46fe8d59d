import { test } from 'tap';
import { NewestPrices } from '../../src/cli/newest_prices.js';

test('a move comes before the lines of an interval, and only the newest line of an asset is left', async (t) => {
  const prices = new NewestPrices();
  prices.put('A', 'A clock 1', false);
  prices.put('B', 'B clock 1', false);
  prices.put('C', 'C clock 1', false);
  prices.put('B', 'B delta 2', true);
  prices.put('A', 'A clock 3', false);
  prices.put('D', 'D delta 3', true);
  prices.put('D', 'D clock 4', false);
  prices.put('C', 'C clock 4', false);
  prices.delete('C');
  t.same(
    [prices.take(), prices.take(), prices.take(), prices.take()],
    ['B delta 2', 'D clock 4', 'A clock 3', undefined],
  );
});
