import { test } from 'tap';
import { addressOf, publicKeyText } from '../../src/cli/keygen_command.js';
import { verifyAggregate, verifyPayload } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import type { PrivateKeys } from '../../src/config/private_keys.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { FakeClock } from '../clock/fake_clock.js';
import { get, publisherSigner, startTestService, TestSocket } from './harness.js';
import { latestText, latestWhen, openPublisher, publish, UNIT } from './publishing.js';
import { readStatement, taxonomyOf } from './read_statement.js';

const key = (byte: number) => Buffer.alloc(32, byte);
const [EVM, NEXT_EVM, STREAM, NEXT_STREAM] = [key(0x31), key(0x32), key(0x33), key(0x34)];
const [STARK, NEXT_STARK] = [key(0x05), key(0x06)];
const ASSETS = [
  { id: 1, symbol: 'BTCUSD', max_age: '3600s', clock_period: '24h' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', max_age: '3600s', clock_period: '24h' },
];

interface SignerEntry {
  readonly address: string;
  readonly role: string;
  readonly state: string;
  readonly from?: number;
  readonly until?: number;
}

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
  const signersNow = async () =>
    ((await (await get(`${service.url}/v1/signers`)).json()) as { data: SignerEntry[] }).data;
  const ofTaxonomy = async () => {
    const { data } = (await (await get(`${service.url}/v1/taxonomy`)).json()) as {
      data: { signers: SignerEntry[] };
    };
    return data.signers.map(({ role, address }) => [role, address]);
  };

  const statementNow = async () => readStatement(await taxonomyOf(service));

  t.match(await statementNow(), { signer: addressOf(STREAM), fits: true });
  const before = await show(100n);
  t.same(verdictsOf(before, addressOf(EVM), publicKeyText('stark', STARK)), ['verified', 'verified']);
  t.equal(await streamSigner(0n), addressOf(STREAM));
  t.equal(service.evmAddress, addressOf(EVM));
  const entries = await signersNow();
  t.match(
    entries.map(({ role, address, state, from, until }) => [role, address, state, from, until]),
    [
      ['aggregate', addressOf(EVM), 'present', undefined, changeS],
      ['aggregate', addressOf(NEXT_EVM), 'next', changeS, undefined],
      ['aggregate', /^0x/, 'present', undefined, changeS],
      ['aggregate', /^0x/, 'next', changeS, undefined],
      ['stream', addressOf(STREAM), 'present', undefined, changeS],
      ['stream', addressOf(NEXT_STREAM), 'next', changeS, undefined],
    ],
  );
  t.match(await ofTaxonomy(), [
    ['aggregate', addressOf(EVM)],
    ['aggregate', /^0x/],
    ['stream', addressOf(STREAM)],
  ]);
  t.equal((await ofTaxonomy()).length, 3, 'a next key is not among the signers of the taxonomy');

  clock.advanceMs(101_000);
  t.match(await statementNow(), { signer: addressOf(NEXT_STREAM), fits: true }, 'before its first payload');
  const after = await show(200n);
  t.same(verdictsOf(after, addressOf(NEXT_EVM), publicKeyText('stark', NEXT_STARK)), [
    'verified',
    'verified',
  ]);
  t.same(verdictsOf(after, addressOf(EVM), publicKeyText('stark', STARK)), ['failed', 'failed']);
  t.equal(await streamSigner(changeNs), addressOf(NEXT_STREAM));
  t.same(
    (await signersNow()).map(({ state }) => state),
    ['former', 'present', 'former', 'present', 'former', 'present'],
  );
  t.match((await ofTaxonomy())[0], ['aggregate', addressOf(NEXT_EVM)], 'the present key first');
  t.equal((await ofTaxonomy()).length, 6, 'former keys for an hour');

  const at = `assets=BTCUSD,DYDXUSD&timestamp=${changeNs - 1n}`;
  const past = await (await get(`${service.url}/v1/prices/at?${at}`)).text();
  t.equal(past, before, 'the past is as it was signed');
  const recent = `assets=BTCUSD,DYDXUSD&timestamp=${changeS - 1}`;
  t.equal(await (await get(`${service.url}/v1/prices/recent?${recent}`)).text(), before);
  t.same(verdictsOf(past, addressOf(EVM), publicKeyText('stark', STARK)), ['verified', 'verified']);

  const third = { evm: key(0x41), stark: key(0x07) };
  service.reconfigure({ assets: ASSETS }, third);
  const reloaded = await show(300n);
  t.same(verdictsOf(reloaded, addressOf(third.evm), publicKeyText('stark', third.stark)), [
    'verified',
    'verified',
  ]);
  t.match(await statementNow(), { signer: addressOf(third.evm), fits: true });
  t.equal(await streamSigner(clock.nowNs()), addressOf(third.evm));
  const states = (await signersNow()).map(({ address, state }) => [address, state]);
  t.ok(states.some(([address, state]) => address === addressOf(NEXT_EVM) && state === 'former'));
  t.ok(states.some(([address, state]) => address === addressOf(third.evm) && state === 'present'));
  await stream.close();
});
