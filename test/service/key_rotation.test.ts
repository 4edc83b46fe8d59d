import { test } from 'tap';
import { addressOf, publicKeyText } from '../../src/cli/keygen_command.js';
import { verifyAggregate, verifyPayload } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import type { PrivateKeys } from '../../src/config/private_keys.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { FakeClock } from '../clock/fake_clock.js';
import { ask, get, publisherSigner, startTestService, TestSocket } from './harness.js';
import { latestText, latestWhen, openPublisher, publish, UNIT } from './publishing.js';
import { statementOf } from './read_statement.js';

const key = (byte: number) => Buffer.alloc(32, byte);
const starkKeyOf = (secret: Buffer) => publicKeyText('stark', secret);
const [EVM, NEXT_EVM, STREAM, NEXT_STREAM] = [key(0x31), key(0x32), key(0x33), key(0x34)];
const [STARK, NEXT_STARK] = [key(0x05), key(0x06)];
const ASSETS = [
  { id: 1, symbol: 'BTCUSD', max_age: '3600s', clock_period: '24h' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '3600s', clock_period: '24h' },
];

test('keys change by the clock and by a reload, and the past stays as it was signed', async (t) => {
  const clock = new FakeClock(systemClock());
  const changeNs = ((clock.nowNs() / NS_PER_SECOND + 100n) * NS_PER_SECOND) as TimeNs;
  const changeS = Number(changeNs / NS_PER_SECOND);
  const rotated = (before: Buffer, after: Buffer) => [
    { key: before, fromNs: 0n as TimeNs, untilNs: changeNs },
    { key: after, fromNs: changeNs, untilNs: undefined },
  ];
  const keys: PrivateKeys = {
    evm: rotated(EVM, NEXT_EVM),
    stark: rotated(STARK, NEXT_STARK),
    stream: rotated(STREAM, NEXT_STREAM),
  };
  const service = await startTestService(
    t,
    { assets: ASSETS, ingest: { max_past: '600s', max_future: '600s' } },
    { clock, keys },
  );
  const sockets = { evm: await openPublisher(service), stark: await openPublisher(service, 'stark') };
  const stream = await TestSocket.open(`${service.socketUrl}/ws?message_type=signed_ecdsa&channel=10ms`);
  stream.send({ type: 'subscribe', assets: [1, 2], id: 1 });
  await stream.nextJson();

  /** Publishes a price of both assets, and returns the answer of `latest` that contains the price. */
  async function show(price: bigint): Promise<string> {
    for (const [type, symbol] of [
      ['evm', 'BTCUSD'],
      ['stark', 'DYDXUSD'],
    ] as const) {
      const update = { symbol, price: price * UNIT, timestampNs: clock.nowNs() };
      await publish(sockets[type], [publisherSigner(1, type).sign(update)]);
      await latestWhen(service, symbol, (found) => found.price === `${price * UNIT}`);
    }
    return latestText(service, 'BTCUSD', 'DYDXUSD');
  }
  const verdictsOf = (text: string, ...signers: string[]) =>
    verifyAggregate(text, { signers, oracleId: 'servc' }).map(({ verdict }) => verdict);
  /** Returns the signer of the first frame whose time is at or after `fromNs`. */
  async function streamSigner(fromNs: bigint): Promise<string> {
    for (;;) {
      const { p } = (await stream.nextJson()) as { p: string };
      const report = verifyPayload(p, { signers: 'unchecked' });
      if (report.verdict !== 'failed' && report.payload.timestampNs >= fromNs) return report.signer;
    }
  }
  const signersNow = async () => {
    const { data } = await ask(service, '/v1/signers');
    return data.map(({ role, address, state, from, until }: Record<string, unknown>) => [
      role,
      address,
      state,
      from,
      until,
    ]);
  };
  const ofTaxonomy = async () => {
    const { data } = await ask(service, '/v1/taxonomy');
    return data.signers.map(({ role, address }: Record<string, unknown>) => [role, address]);
  };

  t.match(await statementOf(service), { signer: addressOf(STREAM) });
  const before = await show(100n);
  t.same(verdictsOf(before, addressOf(EVM), starkKeyOf(STARK)), ['verified', 'verified']);
  t.equal(await streamSigner(0n), addressOf(STREAM));
  t.match(await signersNow(), [
    ['aggregate', addressOf(EVM), 'present', undefined, changeS],
    ['aggregate', addressOf(NEXT_EVM), 'next', changeS, undefined],
    ['aggregate', starkKeyOf(STARK), 'present', undefined, changeS],
    ['aggregate', starkKeyOf(NEXT_STARK), 'next', changeS, undefined],
    ['stream', addressOf(STREAM), 'present', undefined, changeS],
    ['stream', addressOf(NEXT_STREAM), 'next', changeS, undefined],
  ]);
  const present = [
    ['aggregate', addressOf(EVM)],
    ['aggregate', starkKeyOf(STARK)],
    ['stream', addressOf(STREAM)],
  ];
  t.same(await ofTaxonomy(), present, 'a next key is not among the signers of the taxonomy');

  clock.advanceMs(101_000);
  t.match(await statementOf(service), { signer: addressOf(NEXT_STREAM) }, 'before its first payload');
  const after = await show(200n);
  t.same(verdictsOf(after, addressOf(NEXT_EVM), starkKeyOf(NEXT_STARK)), ['verified', 'verified']);
  t.same(verdictsOf(after, addressOf(EVM), starkKeyOf(STARK)), ['failed', 'failed']);
  t.equal(await streamSigner(changeNs), addressOf(NEXT_STREAM));
  const states = (await signersNow()).map(([, , state]: string[]) => state);
  t.same(states, ['former', 'present', 'former', 'present', 'former', 'present']);
  t.equal((await ofTaxonomy()).length, 6, 'former keys for an hour');

  const at = `assets=BTCUSD,DYDXUSD&timestamp=${changeNs - 1n}`;
  const past = await (await get(`${service.url}/v1/prices/at?${at}`)).text();
  t.equal(past, before, 'the past is as it was signed');
  t.same(verdictsOf(past, addressOf(EVM), starkKeyOf(STARK)), ['verified', 'verified']);

  const third = { evm: key(0x41), stark: key(0x07) };
  service.reconfigure({ assets: ASSETS }, third);
  const reloaded = await show(300n);
  t.same(verdictsOf(reloaded, addressOf(third.evm), starkKeyOf(third.stark)), ['verified', 'verified']);
  t.match(await statementOf(service), { signer: addressOf(third.evm) });
  t.equal(await streamSigner(clock.nowNs()), addressOf(third.evm));
  const now = (await signersNow()).map(([, address, state]: string[]) => `${address} ${state}`);
  t.ok(now.includes(`${addressOf(third.evm)} present`) && now.includes(`${addressOf(NEXT_EVM)} former`));
  await stream.close();
});
