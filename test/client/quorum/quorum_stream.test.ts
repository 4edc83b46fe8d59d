import { type Test, test } from 'tap';
import { eventually, pause } from '../../../scripts/load/wait.js';
import { createClient, type NoQuorumEvent, type QuorumTick } from '../../../src/client/node_index.js';
import { startOperator, type TestOperator } from './operators.js';

const HOUR_MS = 3_600_000;
const SEND_INTERVAL_MS = 100;
const HONEST = 100_000n;
const NEAR = 100_100n;
const LIE = 105_000n;

/** Opens a quorum stream over three operators, and collects its ticks and events. */
async function open(t: Test, { maxAgeMs = 9_000, symbols = ['BTCUSD'] } = {}) {
  const operators = await Promise.all([0, 1, 2].map((n) => startOperator(n)));
  for (const { server } of operators) t.teardown(() => server.close());
  const quorum = { operators: operators.map(({ options }) => options), maxSpreadPercent: 1, maxAgeMs };
  const client = createClient({ quorum });
  t.teardown(() => client.close());
  const ticks: QuorumTick[] = [];
  const events: NoQuorumEvent[] = [];
  client.on('noQuorum', (event) => events.push(event));
  const stream = client.stream(symbols);
  const done = (async () => {
    for await (const tick of stream) ticks.push(tick);
  })();
  done.catch(() => {});
  await eventually(() => operators.every(({ server }) => server.received.length > 0));
  const [a, b, c] = operators as [TestOperator, TestOperator, TestOperator];
  return { a, b, c, client, stream, done, ticks, events };
}

const verdictsOf = ({ operators }: { operators: QuorumTick['operators'] }) =>
  operators.map(({ verdict }) => verdict);

test('operators with their own keys, taxonomies and IDs are matched by symbol', async (t) => {
  const { a, b, ticks, events } = await open(t, { symbols: ['BTCUSD', 'ETHUSD'] });
  a.send('BTCUSD', HONEST);
  b.send('BTCUSD', NEAR);
  await eventually(() => ticks.length > 0);
  t.match(ticks[0], {
    symbol: 'BTCUSD',
    price: 100_050n,
    verdict: 'verified 2 of 3',
    signers: [...a.options.signers, ...b.options.signers],
    operators: [
      { operator: 'a', verdict: 'agrees', price: HONEST, url: a.server.url.replace('ws', 'http') },
      { operator: 'b', verdict: 'agrees', price: NEAR },
      { operator: 'c', verdict: 'silent', price: undefined },
    ],
  });
  const ofEthereum = () => events.filter(({ symbol }) => symbol === 'ETHUSD');
  await eventually(() => ofEthereum().length > 0);
  t.match(ofEthereum(), [
    { symbol: 'ETHUSD', cause: 'few', reason: /fewer than 2 .*a silent: no price has come/ },
  ]);
});

test('one of three that lies by 5 %, is old, repeats, or has a wrong clock never counts', async (t) => {
  const wrong: readonly [string, (c: TestOperator) => unknown, string, RegExp][] = [
    ['a lie', (c) => c.send('BTCUSD', LIE), 'differs', /4\.94 % above the median/],
    ['an hour behind', (c) => c.send('BTCUSD', HONEST, Date.now() - HOUR_MS), 'old', /./],
    [
      'an hour ahead',
      (c) => c.send('BTCUSD', HONEST, Date.now() + HOUR_MS),
      'ahead',
      /\d ms after the wanted/,
    ],
  ];
  for (const [name, send, verdict, reason] of wrong) {
    // A client drops frames that are not newer than a frame of the same operator, so each case begins with new operators.
    const { a, b, c, ticks } = await open(t);
    send(c);
    // The stream of c has read its frame before both honest operators send theirs.
    await pause(20);
    a.send('BTCUSD', HONEST);
    b.send('BTCUSD', NEAR);
    await eventually(() => ticks.at(-1)?.price === 100_050n);
    t.match(ticks.at(-1), { verdict: 'verified 2 of 3' }, name);
    t.match(ticks.at(-1)!.operators[2], { operator: 'c', verdict, reason }, name);
    t.ok(ticks.every(({ price }) => price < 101_000n));
  }
});

test('a replay is a price only while it is young, and then none with its reason', async (t) => {
  const { a, b, c, ticks, events } = await open(t, { maxAgeMs: 1_500 });
  let recorded = '';
  // On a busy machine, a price may be outdated before the client reads it.
  await eventually(async () => {
    recorded = a.send('BTCUSD', HONEST);
    b.send('BTCUSD', HONEST);
    await pause(SEND_INTERVAL_MS);
    return ticks.length > 0;
  });
  const replay = setInterval(() => a.server.broadcast(recorded), SEND_INTERVAL_MS);
  t.teardown(() => clearInterval(replay));
  await c.server.close();
  const eventWith = (verdicts: string) => events.find((event) => verdictsOf(event).join() === verdicts);
  await eventually(() => eventWith('old,old,down'));
  const prices = ticks.length;
  const event = await eventually(async () => {
    b.send('BTCUSD', HONEST + 1n);
    await pause(SEND_INTERVAL_MS);
    return eventWith('old,alone,down');
  });
  t.match(event, {
    cause: 'few',
    reason: /a old: its price is \d+ ms old.*b alone: too few others.*c down: /,
  });
  t.equal(ticks.length, prices);
});
