import { test } from 'tap';
import { answerSession, lineSession } from '../../src/sources/json_sessions.js';

test('an HTTP answer: digits and time from their places', async (t) => {
  const session = answerSession('EUR/USD', { price: '$.rates.USD', at: '$.time' });
  const quote = { symbol: 'EUR/USD', bid: undefined, trade: '1.13670', atNs: 1_757_462_551_000_000_000n };
  t.match(session.read('{"rates":{"USD":1.13670},"time":1757462551}'), [{ kind: 'quote', quote }]);
  const colon = answerSession('A', { price: '$.rates.EUR:USD' });
  t.match(colon.read('{"rates":{"EUR:USD":-1e-7}}'), [{ quote: { trade: '-1e-7' } }]);
  const book = answerSession('A', { bid: '$[0].b', ask: '$[0].a' });
  t.match(book.read('[{"b":"1.5","a":2}]'), [{ quote: { bid: '1.5', ask: '2', trade: undefined } }]);
});

test('an answer without the value is malformed, and names no content', async (t) => {
  const session = answerSession('A', { price: '$.price' });
  for (const text of ['{"code":429}', '[]', 'null', '{"price":{}}', '{"__proto__":1}'])
    t.same(session.read(text), [{ kind: 'malformed', reason: 'the answer has nothing at $.price' }], text);
  t.match(session.read('<html>'), [{ kind: 'malformed', reason: 'the answer is not JSON' }]);
});

test('lines of a command, with a time in any unit', async (t) => {
  const session = lineSession(['GOLD', 'OIL']);
  for (const [at, atNs] of [
    ['1757462551', 1_757_462_551_000_000_000n],
    ['1757462551.1234567891', 1_757_462_551_123_456_789n],
    ['1757462551123.25', 1_757_462_551_123_250_000n],
    ['17574625511', 'unreadable'],
    ['1757462551123456', 1_757_462_551_123_456_000n],
    ['1757462551123456789', 1_757_462_551_123_456_789n],
    ['"2025-09-10T00:02:31Z"', 1_757_462_551_000_000_000n],
    ['"tomorrow"', 'unreadable'],
    ['null', undefined],
  ] as const)
    t.match(session.read(`{"symbol":"GOLD","bid":1,"ask":2,"at":${at}}`), [
      { quote: { symbol: 'GOLD', atNs } },
    ]);
  t.match(session.read('{"symbol":"OIL","price":"65.10"}'), [{ quote: { trade: '65.10' } }]);
  t.same(session.read('{"symbol":"TIN","price":1}'), []);
  t.match(session.read('{"price":1}'), [{ kind: 'malformed' }]);
  t.match(session.read('no JSON'), [{ kind: 'malformed' }]);
});
