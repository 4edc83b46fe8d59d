import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'tap';
import type { Scope } from '../../../src/config/config.js';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { Token, TokenDirectory } from '../../../src/server/access/tokens.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleLogins, sampleRequest, sampleToken } from './sample_tokens.js';

const tokens = new TokenDirectory([
  sampleToken('alice-token'),
  sampleToken('rest-only', { scopes: new Set(['rest']), assets: new Set(['BTCUSD']) }),
]);

function authorize(directory: TokenDirectory, authorization: readonly string[], scope: Scope) {
  return sampleLogins(directory).authorize(sampleRequest({ authorization }), scope);
}

function answer(authorization: readonly string[], scope: Scope = 'rest'): string | number {
  const result = authorize(tokens, authorization, scope);
  return result instanceof Token ? result.name : result.status;
}

test('missing, repeated, malformed and unknown are 401, each with its reason', async (t) => {
  t.equal(answer(['BASIC   alice-token  ']), 'alice-token', 'the scheme comes in any case');
  const errorOf = (authorization: readonly string[]) => {
    const result = authorize(tokens, authorization, 'rest');
    return result instanceof Token
      ? result.name
      : `${result.status} ${JSON.parse(String(result.body)).error}`;
  };
  t.equal(errorOf([]), '401 the Authorization header is missing: send "Authorization: Basic <TOKEN>"');
  t.equal(errorOf(['Basic alice-token', 'Basic alice-token']), '401 the Authorization header is repeated');
  const malformed = ['', 'Basic ', 'alice-token', 'Bearer alice-token', 'Basicalice-token', ' Basic a'];
  for (const header of [...malformed, 'Basic a b', 'Basic\talice-token', 'Basic é'])
    t.equal(errorOf([header]), '401 the Authorization header is not "Basic <TOKEN>"', header);
  for (const token of ['alice', 'ALICE-TOKEN', 'alice-token1', Buffer.from('alice-token').toString('base64')])
    t.equal(
      errorOf([`Basic ${token}`]),
      '401 the access token is not known: ask the operator for one, and send it without a user name',
    );
});

test('the token may be the user or the password of RFC 7617, as curl and browsers send it', async (t) => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  t.equal(answer([basic('alice-token:')]), 'alice-token', 'curl -u alice-token:');
  t.equal(answer([basic(':alice-token')]), 'alice-token');
  for (const text of ['alice-token', 'alice:token', ':', 'alice-token::', 'alice-token:x', ' alice-token:'])
    t.equal(answer([basic(text)]), 401, text);
  // A token that already has this form is used unchanged.
  const encoded = Buffer.from('alice-token:').toString('base64');
  const directory = new TokenDirectory([sampleToken('alice-token'), sampleToken(encoded)]);
  t.match(authorize(directory, [`Basic ${encoded}`], 'rest'), { name: encoded });
});

test('a known token without the scope is 403', async (t) => {
  t.match(authorize(tokens, ['Basic rest-only'], 'stream'), {
    status: 403,
    body: '{"error":"the access token has no scope \\"stream\\""}',
  });
  t.equal(answer(['Basic rest-only'], 'rest'), 'rest-only');
});

test('a token covers the assets and keys that it names', async (t) => {
  const key = (digits: string) => ({ key: Buffer.from(digits.padStart(40, '0'), 'hex') });
  const all = new Token(sampleToken('x'));
  t.ok(all.maySee('ANY') && all.mayPublishAs(key('1')));
  const some = new Token(
    sampleToken('x', { assets: new Set(['BTCUSD']), publisherKeys: new Set(['0xabc']) }),
  );
  t.same([some.maySee('BTCUSD'), some.maySee('btcusd'), some.maySee('*')], [true, false, false]);
  t.same([some.mayPublishAs(key('abc')), some.mayPublishAs(key('abcd'))], [true, false]);
  t.equal(new Token(sampleToken('x', { publisherKeys: new Set() })).mayPublishAs(key('abc')), false);
});

test('after a reload a token that stayed has its new rights, and one that is gone has none', async (t) => {
  const directory = new TokenDirectory([sampleToken('a'), sampleToken('b')]);
  const [a, b] = ['a', 'b'].map((text) => authorize(directory, [`Basic ${text}`], 'stream') as Token);
  directory.reload([
    sampleToken('a', { name: 'renamed', scopes: new Set(['rest', 'stream']), assets: new Set() }),
  ]);
  t.equal(directory.isValid(a!, 'stream'), true);
  t.equal(directory.isValid(a!, 'publish'), false);
  t.equal(directory.isValid(b!, 'stream'), false);
  t.equal(a!.maySee('BTCUSD'), false);
  t.equal(a!.name, 'renamed');
  const key = { key: Buffer.alloc(20, 1) };
  t.same([a!.mayPublishAs(key), b!.mayPublishAs(key)], [false, false], 'nor what still waits');
  t.match(authorize(directory, ['Basic b'], 'rest'), { status: 401 });
  directory.reload([sampleToken('b')]);
  t.equal(directory.isValid(b!, 'stream'), false, 'what was revoked stays so for its sockets');
  t.equal(directory.isValid(a!, 'stream'), false);
});

test('nobody is let in whom a comparison in constant time has not let in', async (t) => {
  const compared: { readonly lengths: number[]; readonly isSame: boolean }[] = [];
  let isRefusing = false;
  const { timingSafeEqual } = crypto;
  const watch = (compare: typeof timingSafeEqual) => {
    crypto.timingSafeEqual = compare;
    syncBuiltinESMExports();
  };
  t.teardown(() => watch(timingSafeEqual));
  watch((a, b) => {
    const isSame = timingSafeEqual(a, b);
    compared.push({ lengths: [a.byteLength, b.byteLength], isSame });
    return isSame && !isRefusing;
  });
  const texts = ['a', 'alice-token', 'x'.repeat(4_000)];
  const configs = texts.map((text) => sampleToken(text));
  const directory = new TokenDirectory(configs);
  const statusOf = (text: string) => {
    const result = authorize(directory, [`Basic ${text}`], 'rest');
    return 'status' in result ? result.status : result.name;
  };
  for (const text of texts) t.equal(statusOf(text), text);
  t.same(
    compared,
    texts.map(() => ({ lengths: [32, 32], isSame: true })),
    'hashes are compared, of one length whatever the length of the token',
  );
  directory.reload(configs);
  isRefusing = true;
  for (const text of texts) t.equal(statusOf(text), 401, 'the comparison has the last word');
});

test('a header is recent for a second, and until a reload', async (t) => {
  const directory = new TokenDirectory([sampleToken('alice')]);
  const clock = new FakeClock();
  const logins = sampleLogins(directory, { clock });
  const isRecent = (header: string) => directory.findRecent(header, clock.nowNs()) !== undefined;
  const login = (header: string) => logins.authorize(sampleRequest({ authorization: [header] }), 'rest');
  const headers = ['Basic alice', 'Basic bob'];
  for (const header of headers) login(header);
  t.same(headers.map(isRecent), [true, false], 'no unknown token');
  t.match(login('Basic alice'), { name: 'alice' });
  clock.advance(NS_PER_SECOND - 1n);
  t.ok(isRecent('Basic alice'));
  clock.advance(1n);
  t.notOk(isRecent('Basic alice'), 'a second later');
  login('Basic alice');
  directory.reload([sampleToken('alice', { scopes: new Set(['stream']) })]);
  t.notOk(isRecent('Basic alice'));
  t.match(login('Basic alice'), { status: 403 }, 'the new rights');
  directory.reload([]);
  t.match(login('Basic alice'), { status: 401 }, 'no token any more');
});
