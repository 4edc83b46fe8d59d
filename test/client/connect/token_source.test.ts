import { test } from 'tap';
import { TokenSource } from '../../../src/client/connect/token_source.js';

test('a new token is for all whose request was refused with the old one', async (t) => {
  let give: (token: string) => void = () => {};
  let asked = 0;
  const source = new TokenSource(undefined, () => {
    asked++;
    return asked === 1
      ? 'old'
      : new Promise((resolve) => {
          give = resolve;
        });
  });
  t.equal(await source.token(), 'old');
  t.ok(source.refuse('old'), 'the first');
  const next = source.token();
  t.ok(source.refuse('old'), 'another, before there is a new one');
  t.equal(source.token(), next, 'for which is asked once');
  give('new');
  t.equal(await next, 'new');
  t.ok(source.refuse('old'), 'and one that comes late');
  t.equal(await source.token(), 'new');
  t.equal(asked, 2);
});
