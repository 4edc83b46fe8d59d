import fc from 'fast-check';
import { test } from 'tap';
import { missingFault, parseQuery } from '../../../src/server/http/query.js';

const entries = (raw: string) => {
  const query = parseQuery(raw);
  return typeof query === 'string' ? query : [...query];
};

test('parameters are decoded once, and only once', async (t) => {
  t.same(entries(''), []);
  t.same(entries('a&&b==c=&'), [
    ['a', ''],
    ['b', '=c='],
  ]);
  t.same(entries('%61=%41%2B+b%26%3D%25'), [['a', 'A+ b&=%']]);
  t.same(entries('a=%C3%A9%20é'), [['a', 'é é']]);
  t.same(entries('__proto__=1&constructor=2'), [
    ['__proto__', '1'],
    ['constructor', '2'],
  ]);
});

test('what is malformed or repeated is named', async (t) => {
  t.equal(entries('a=%'), 'a has a malformed % escape');
  t.equal(entries('a=%C3'), 'a has a malformed % escape');
  t.equal(entries('%=1'), 'a parameter name has a malformed % escape');
  t.equal(entries('assets=1&%61ssets=2'), 'assets is given more than once');
});

test('a missing parameter is named with what the request has instead', async (t) => {
  const query = (text: string) => parseQuery(text) as ReadonlyMap<string, string>;
  t.equal(
    missingFault('assets', query('signature_type=evm'), ['signature_type']),
    'assets is missing: /docs describes it',
  );
  t.equal(missingFault('assets', query('assets%5B%5D=A'), []), 'assets is missing; the request has assets[]');
  t.equal(missingFault('a', query(`${'b'.repeat(200)}=1`), []).length, 130);
});

test('what URLSearchParams writes is read back, and no text makes it throw', async () => {
  const name = fc.string({ minLength: 1, unit: 'binary' });
  const value = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key }), (pairs) => {
      const query = parseQuery(new URLSearchParams(pairs).toString());
      return typeof query !== 'string' && pairs.every(([key, text]) => query.get(key) === text);
    }),
  );
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a=&%0-9+]{0,20}$/)), (raw) => {
      const query = parseQuery(raw);
      return typeof query === 'string' ? query.length > 0 : query.size <= raw.length;
    }),
  );
});
