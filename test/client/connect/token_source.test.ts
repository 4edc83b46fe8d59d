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

test('the same token again is none', async (t) => {
  const source = new TokenSource(undefined, () => 'same');
  await source.token();
  t.ok(source.refuse('same'));
  await source.token();
  t.notOk(source.refuse('same'));
  t.notOk(new TokenSource('fixed', undefined).refuse('fixed'), 'there is no other');
});

test('a getToken that fails, at once or later, is asked again', async (t) => {
  let asked = 0;
  const source = new TokenSource(undefined, () => {
    asked++;
    if (asked === 1) throw new Error('not ready');
    return asked === 2 ? Promise.reject(new Error('still not')) : 'there';
  });
  await t.rejects(source.token(), { message: 'not ready' });
  await t.rejects(source.token(), { message: 'still not' });
  t.equal(await source.token(), 'there');
});
