import { test } from 'tap';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { FakeClock } from '../clock/fake_clock.js';
import { publisherSigner, startTestService } from './harness.js';
import { altered, latestWhen, openPublisher, publish, refusalOf, UNIT } from './publishing.js';

test('the order of updates in time', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService(
    {
      assets: [
        { id: 1, symbol: 'BTCUSD', clock_period: '100ms' },
        { id: 2, symbol: 'ETHUSD' },
        { id: 3, symbol: 'DYDXUSD', signature_type: 'stark', clock_period: '100ms' },
      ],
      ingest: { max_past: '10s', max_future: '2s' },
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const socket = await openPublisher(service);
  const sign = (timestampNs: bigint, price = UNIT, n = 1, symbol = 'BTCUSD') =>
    publisherSigner(n).sign({ symbol, price, timestampNs });
  /** The beginning of a second that nothing was signed in yet. */
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

  await t.test('only what is newer than the last of the same publisher and asset', async (t) => {
    const atNs = nextSecond();
    t.equal(await refusalOf(socket, sign(atNs)), undefined);
    t.match(await refusalOf(socket, sign(atNs)), /not newer/, 'the same once more');
    t.match(await refusalOf(socket, sign(atNs, 2n * UNIT)), /not newer/, 'another price of the same time');
    t.match(await refusalOf(socket, sign(atNs - 1n)), /not newer/);
    t.equal(await refusalOf(socket, sign(atNs + 1n, 3n * UNIT)), undefined, 'a nanosecond later');
    t.equal(await refusalOf(socket, sign(atNs - NS_PER_SECOND, UNIT, 2)), undefined, 'another publisher');
    t.equal(
      await refusalOf(socket, sign(atNs - NS_PER_SECOND, UNIT, 1, 'ETHUSD')),
      undefined,
      'another asset',
    );
    const other = await openPublisher(service);
    t.match(await refusalOf(other, sign(atNs + 1n)), /not newer/, 'over another socket');
    await other.close();
  });

  await t.test('a refused update leaves no trace', async (t) => {
    const atNs = nextSecond();
    const forged = altered(sign(atNs + 500n * NS_PER_MS), { price: `${9n * UNIT}` });
    t.match(await refusalOf(socket, forged), /msg_hash/);
    const unsigned = altered(sign(atNs + 500n * NS_PER_MS), { r: `0x${'1'.repeat(64)}` });
    t.match(await refusalOf(socket, unsigned), /signature/);
    t.equal(await refusalOf(socket, sign(atNs)), undefined, 'an older one still comes in');
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
      t.match(await refusalOf(door, later(first, 300n)), /replay/, 'the first with later nanoseconds');
      t.equal(await refusalOf(door, later(second, 400n)), undefined, 'a refresh of the second');
      const resigned = of(atNs + 500n * NS_PER_MS, UNIT);
      t.match(await refusalOf(door, resigned), /replay/, 'the same hash signed anew is the same hash');
      const third = of(atNs + 600n * NS_PER_MS, 3n * UNIT);
      t.equal(await refusalOf(door, third), undefined);
      for (const earlier of [first, second]) t.match(await refusalOf(door, later(earlier, 700n)), /replay/);
      t.equal(await refusalOf(door, later(third, 999n)), undefined);
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
