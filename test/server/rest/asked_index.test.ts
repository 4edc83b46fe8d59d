import { test } from 'tap';
import { AskedIndex, type AskedText } from '../../../src/server/rest/asked_index.js';

const ASKED: AskedText = { caller: 'alice', path: '/v1/prices/latest', query: 'assets=A' };

test('requests are the same only when caller, path and query are the same', async (t) => {
  const index = new AskedIndex<string>();
  const others: AskedText[] = [
    { ...ASKED, caller: 'bob' },
    { ...ASKED, path: '/v1/prices/at' },
    { ...ASKED, query: 'assets=B' },
  ];
  index.set(ASKED, 'alice');
  for (const other of others) t.equal(index.get(other), undefined);
  for (const other of others) index.set(other, JSON.stringify(other));
  index.delete(ASKED);
  index.delete(ASKED);
  t.equal(index.get(ASKED), undefined);
  for (const other of others) t.equal(index.get(other), JSON.stringify(other), 'another request stays');
  index.clear();
  for (const other of others) t.equal(index.get(other), undefined);
});
