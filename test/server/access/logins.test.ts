import { test } from 'tap';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { Token, TokenDirectory } from '../../../src/server/access/tokens.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleLogins, sampleRequest, sampleToken } from './sample_tokens.js';

function newLogins(failuresPerMinute = 3) {
  const clock = new FakeClock();
  const refused: string[] = [];
  const limited: string[] = [];
  const logins = sampleLogins(new TokenDirectory([sampleToken('alice'), sampleToken('bob')]), {
    clock,
    failuresPerMinute,
    onRefused: (reason) => refused.push(reason),
    onLimited: (client) => limited.push(client),
  });
  const login = (token: string | undefined, address = '198.51.100.1') => {
    const authorization = token === undefined ? [] : [`Basic ${token}`];
    const result = logins.authorize(sampleRequest({ authorization, address }), 'rest');
    return result instanceof Token ? result.name : result.status;
  };
  return { clock, refused, limited, logins, login };
}

test('failed logins of an address are limited and counted', async (t) => {
  const { login, refused, limited, logins, clock } = newLogins();
  t.same([login('x'), login(undefined), login('y y')], [401, 401, 401]);
  t.equal(login('x'), 429);
  const request = sampleRequest({ authorization: ['Basic x'], address: '198.51.100.1' });
  t.match(logins.authorize(request, 'rest'), {
    body: '{"error":"too many failed logins from this address"}',
    headers: [
      ['RateLimit-Limit', '3'],
      ['RateLimit-Remaining', '0'],
      ['RateLimit-Reset', '60'],
      ['Retry-After', '20'],
    ],
  });
  t.equal(login(undefined), 429, 'also without a token');
  t.same(refused, ['unknown', 'missing', 'malformed', 'limited', 'limited', 'limited']);
  t.same(limited, ['198.51.100.1'], 'reported once');
  t.equal(login('x', '198.51.100.2'), 401, 'another address');
  clock.advance(20n * NS_PER_SECOND);
  t.same([login('x'), login('x')], [401, 429]);
  t.same(limited, ['198.51.100.1', '198.51.100.1']);
});

test('past the limit a token comes in where it was used before, and no other is looked up', async (t) => {
  const { login, clock } = newLogins();
  t.equal(login('alice'), 'alice');
  for (let i = 0; i < 100; i++) login(`guess${i}`);
  t.equal(login('alice'), 'alice', 'who shares the address of an attacker is not locked out');
  t.equal(login('bob'), 429, 'a guess that is right looks like one that is wrong');
  t.equal(login('bob', '198.51.100.2'), 'bob');
  t.equal(login('alice', '198.51.100.2'), 'alice', 'another address is not limited');
  clock.advance(20n * NS_PER_SECOND);
  t.equal(login('bob'), 'bob');
});

test('a token that is used all the time is familiar wherever it is used', async (t) => {
  const { login, clock } = newLogins();
  const addresses = Array.from({ length: 20 }, (_, i) => `203.0.113.${i}`);
  for (const address of addresses) {
    t.equal(login('alice', address), 'alice');
    clock.advance(NS_PER_SECOND);
  }
  for (const address of addresses) {
    for (let i = 0; i < 5; i++) login('x', address);
    t.equal(login('alice', address), 'alice');
  }
});

test('right tokens use up nothing', async (t) => {
  const { login, refused } = newLogins(1);
  for (let i = 0; i < 100; i++) t.equal(login('alice'), 'alice');
  t.same(refused, []);
  t.equal(login('x'), 401);
});

test('however many addresses and tokens come, little is remembered', async (t) => {
  const { login, clock } = newLogins(1);
  t.equal(login('alice', 'first'), 'alice');
  for (let i = 0; i < 10_000; i++) {
    clock.advance(NS_PER_SECOND);
    login('alice', `address ${i}`);
  }
  login('x', 'first');
  t.equal(login('alice', 'first'), 429, 'the first address is forgotten');
  login('x', 'address 9999');
  t.equal(login('alice', 'address 9999'), 'alice');
});
