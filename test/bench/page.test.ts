import { test } from 'tap';
import { ROWS } from '../../bench/rows/index.js';
import { firstCells, readPage } from '../pages.js';

test('the page of the bench lists every row', async (t) => {
  t.same(firstCells(readPage('bench/README.md')).sort(), ROWS.map(({ name }) => name).sort());
});
