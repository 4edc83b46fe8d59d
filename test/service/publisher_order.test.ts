import { test } from 'tap';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { FakeClock } from '../clock/fake_clock.js';
import { publisherSigner, sha256, startTestService, TOKEN } from './harness.js';
import { altered, latestWhen, openPublisher, publish, refusalOf, UNIT } from './publishing.js';

/** The text of a second token that may also publish for every key. */
const STRANGER = 'stranger-token';

test('the order of updates in time', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService(
    {
      assets: [
        { id: 1, symbol: 'BTCUSD', clock_period: '100ms' },
        { id: 2, symbol: 'ETHUSD' },
        { id: 3, symbol: 'DYDXUSD', signature_type: 'stark', clock_period: '100ms' },
      ],
      ingest: { max_past: '10s', max_future: '2s', max_backward: '1s' },
      tokens: [TOKEN, STRANGER].map((token) => ({
        name: token,
        sha256: sha256(token),
        scopes: ['rest', 'publish'],
        requests_per_second: 100_000,
      })),
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const socket = await openPublisher(service);
  const sign = (timestampNs: bigint, price = UNIT, n = 1, symbol = 'BTCUSD') =>
    publisherSigner(n).sign({ symbol, price, timestampNs });
  /** Returns the start of a second in which no update was signed yet. */
  const nextSecond = () => {
    clock.advanceMs(5_000 - Number((clock.nowNs() / NS_PER_MS) % 1_000n));
    return clock.nowNs();
  };

  await t.test('the window around the clock', async (t) => {
    const nowNs = nextSecond();
    t.match(await refusalOf(socket, sign(nowNs - 10n * NS_PER_SECOND - 1n)), /too old/);
    t.match(await refusalOf(socket, sign(nowNs + 2n * NS_PER_SECOND + 1n)), /future/);
    t.equal(await refusalOf(socket, sign(nowNs - 10n * NS_PER_SECOND)), undefined);
    t.equal(await refusalOf(socket, sign(nowNs + 2n * NS_PER_SECOND)), undefined);
  });

  await t.test(
    'a little older than the newest of the same publisher and asset, and never twice',
    async (t) => {
      const atNs = nextSecond();
      t.equal(await refusalOf(socket, sign(atNs)), undefined);
      t.match(await refusalOf(socket, sign(atNs)), /not newer/, 'the same once more');
      t.equal(await refusalOf(socket, sign(atNs, 2n * UNIT)), undefined, 'another price of the same time');
      t.equal(await refusalOf(socket, sign(atNs - 1n)), undefined);
      t.equal(await refusalOf(socket, sign(atNs - NS_PER_SECOND, 2n * UNIT)), undefined, 'at the edge');
      const tooOld = atNs - NS_PER_SECOND - 1n;
      t.match(await refusalOf(socket, sign(tooOld)), /ingest\.max_backward/);
      t.equal(await refusalOf(socket, sign(tooOld, UNIT, 2)), undefined, 'another publisher');
      t.equal(await refusalOf(socket, sign(tooOld, UNIT, 1, 'ETHUSD')), undefined, 'another asset');
      const other = await openPublisher(service);
      t.match(await refusalOf(other, sign(atNs)), /not newer/, 'over another socket');
      await other.close();
      clock.advanceMs(100);
      const last = await latestWhen(service, 'BTCUSD', ({ signed_prices }) => signed_prices.length === 2);
      t.equal(
        last.signed_prices.find(({ price }) => price === `${2n * UNIT}`)?.timestamped_signature.timestamp,
        atNs - NS_PER_SECOND,
      );
    },
  );

  await t.test('a refused update leaves no trace', async (t) => {
    const atNs = nextSecond();
    const forged = altered(sign(atNs + 500n * NS_PER_MS), { price: `${9n * UNIT}` });
    t.match(await refusalOf(socket, forged), /msg_hash/);
    const unsigned = altered(sign(atNs + 500n * NS_PER_MS), { r: `0x${'1'.repeat(64)}` });
    t.match(await refusalOf(socket, unsigned), /signature/);
    t.equal(await refusalOf(socket, sign(atNs - NS_PER_SECOND)), undefined, 'the window has not moved');
  });

  for (const type of ['evm', 'stark'] as const)
    await t.test(`refreshes and replays within a second, ${type}`, async (t) => {
      const { sign: signPrice } = publisherSigner(3, type);
      const symbol = type === 'evm' ? 'BTCUSD' : 'DYDXUSD';
      const of = (timestampNs: bigint, price: bigint) => signPrice({ symbol, price, timestampNs });
      const door = await openPublisher(service, type);
      const atNs = nextSecond();
      const first = of(atNs, UNIT);
      t.equal(await refusalOf(door, first), undefined);
      const later = (update: typeof first, ms: bigint) =>
        altered(update, { timestamp: atNs + ms * NS_PER_MS });

      t.equal(await refusalOf(door, later(first, 100n)), undefined, 'a refresh');
      const second = of(atNs + 200n * NS_PER_MS, 2n * UNIT);
      t.equal(await refusalOf(door, second), undefined, 'another price');
      for (const ms of [0n, 50n, 100n])
        t.match(await refusalOf(door, later(first, ms)), /replay/, 'the first, not later than its refresh');
      t.equal(await refusalOf(door, later(first, 300n)), undefined, 'a refresh, though another came between');
      t.equal(await refusalOf(door, later(second, 400n)), undefined);
      const resigned = of(atNs + 500n * NS_PER_MS, UNIT);
      t.equal(await refusalOf(door, resigned), undefined, 'the same hash signed anew is the same hash');
      t.match(await refusalOf(door, later(first, 500n)), /replay/);
      const third = of(atNs + 600n * NS_PER_MS, 3n * UNIT);
      t.equal(await refusalOf(door, third), undefined);
      const stranger = await openPublisher(service, type, { token: STRANGER });
      for (const update of [first, second, third])
        t.match(await refusalOf(stranger, later(update, 999n)), /another token/);
      await stranger.close();
      const sibling = await openPublisher(service, type);
      t.equal(await refusalOf(sibling, later(third, 999n)), undefined, 'over another socket of the token');
      await sibling.close();
      clock.advanceMs(100);
      await latestWhen(service, symbol, ({ timestamp }) => timestamp === atNs + 999n * NS_PER_MS);
      t.match(await refusalOf(door, later(third, 1000n)), /msg_hash/, 'the next second is signed anew');
      t.equal(await refusalOf(door, of(atNs + NS_PER_SECOND, UNIT)), undefined);
      const padded = altered(later(first, 1100n), {
        msg_hash: `0x${first.signed_price.timestamped_signature.msg_hash.slice(2).padStart(64, '0')}`,
      });
      t.match(await refusalOf(door, padded), /msg_hash/, 'what an earlier second signed');
      await door.close();
    });

  await t.test('a forged refresh is not taken for the real one', async (t) => {
    const atNs = nextSecond();
    const update = sign(atNs);
    t.equal(await refusalOf(socket, update), undefined);
    const refresh = altered(update, { timestamp: atNs + 1n });
    const { s, v } = update.signed_price.timestamped_signature.signature;
    t.match(await refusalOf(socket, altered(refresh, { price: `${2n * UNIT}` })), /msg_hash/);
    t.match(await refusalOf(socket, altered(refresh, { r: s })), /signature/);
    t.match(await refusalOf(socket, altered(refresh, { v: v === '0x1b' ? '0x1c' : '0x1b' })), /signature/);
    t.equal(await refusalOf(socket, refresh), undefined);
  });

  await t.test('messages sent at once take effect in their order', async (t) => {
    const atNs = nextSecond();
    const answers = [];
    for (let i = 0n; i < 100n; i++) answers.push(publish(socket, [sign(atNs + i, UNIT + i)]));
    for (const { accepted } of await Promise.all(answers)) t.same(accepted, ['BTCUSD']);
    clock.advanceMs(100);
    const last = await latestWhen(service, 'BTCUSD', ({ timestamp }) => timestamp === atNs + 99n);
    t.ok(last.signed_prices.some(({ price }) => price === `${UNIT + 99n}`));
  });
});
