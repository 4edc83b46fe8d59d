import fc from 'fast-check';
import { type Test, test } from 'tap';
import { type PriceUpdate, publishMessage } from '../../src/client/index.js';
import type { SignatureType } from '../../src/model/asset.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import type { PublishOutcome } from '../../src/prices/publisher_session.js';
import { START_NS, sampleAsset } from '../model/sample.js';
import { newSession, receive, startAggregator, testPublisher } from '../prices/harness.js';
import { altered } from '../service/publishing.js';
import { cases } from '../tier.js';

// Tests properties of the signature checks: every faulty update is refused, and no check throws. Each update has exactly one
// fault, so that only one check can refuse it.

const ORDERS = {
  evm: 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n,
  stark: 0x0800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2fn,
};
const STARK_MAX = 2n ** 251n;
const FIELD_PRIME = 2n ** 251n + 17n * 2n ** 192n + 1n;
const LONG_SYMBOL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZA';

const SYMBOLS = { evm: 'BTCUSD', stark: 'DYDXUSD' };
const PUBLISHERS = {
  evm: [testPublisher(0), testPublisher(1)],
  stark: [testPublisher(2, 'stark', { oracleId: 'czowx' }), testPublisher(3, 'stark')],
};
/** A well-formed publisher key that is not the x coordinate of a point of the curve. */
const OFF_CURVE = testPublisher(4, 'stark');
const X_OFF_CURVE = 5n;

function start(t: Test) {
  const offCurve = { ...OFF_CURVE, publisher: { ...OFF_CURVE.publisher, key: bytes(X_OFF_CURVE) } };
  return startAggregator(t, {
    assets: [
      sampleAsset(),
      sampleAsset({ index: 1, id: 2, symbol: SYMBOLS.stark, signatureType: 'stark' }),
      sampleAsset({ index: 2, id: 3, symbol: LONG_SYMBOL, signatureType: 'stark' }),
      sampleAsset({ index: 3, id: 4, symbol: 'ETHUSD' }),
    ],
    publishers: [...PUBLISHERS.evm, ...PUBLISHERS.stark, offCurve],
  });
}

type Fault = fc.Arbitrary<(good: Parts) => Record<string, unknown>>;

/** Returns faults that set one of the fields to a value. */
const set = (names: readonly string[], values: fc.Arbitrary<unknown>): Fault =>
  fc.tuple(fc.constantFrom(...names), values).map(([name, value]) => () => ({ [name]: value }));

/** Returns faults for a valid update. Every number in the faults is random. */
function faults(type: SignatureType, other: PriceUpdate): Fault {
  const n = ORDERS[type];
  const numbers = ['r', 's', 'msg_hash'];
  const any = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
  const outside = fc.oneof(fc.constantFrom(0n, n, n + 1n), fc.bigInt({ min: n, max: 2n ** 256n - 1n }));
  const notHex = fc.constantFrom('', '0x', '1', '-0x1', '0x-1', '0xg', ' 0x1', '0x1 ', `0x${'1'.repeat(65)}`);
  const oneBit = fc.tuple(fc.constantFrom(...numbers, 'publisher_key'), fc.nat(type === 'evm' ? 159 : 249));
  const common: Fault[] = [
    set(['r', 's'], outside.map(hex)),
    set(numbers, any.map(hex)),
    set([...numbers, 'publisher_key'], notHex),
    oneBit.map(([name, bit]) => (good) => ({ [name]: hex(BigInt(good[name]!) ^ (1n << BigInt(bit))) })),
    fc.nat(99).map((bit) => ({ price }) => ({ price: `${BigInt(price!) ^ (1n << BigInt(bit))}` })),
    // These faults use fields from a valid update of another publisher.
    fc.constantFrom(...numbers, 'publisher_key').map((name) => () => ({ [name]: partsOf(other)[name] })),
    fc.integer({ min: 1, max: 50 }).map((s) => ({ timestamp }) => {
      return { timestamp: BigInt(timestamp!) - BigInt(s) * NS_PER_SECOND };
    }),
  ];
  const ofStark: Fault[] = [
    set(['r', 'msg_hash'], fc.bigInt({ min: STARK_MAX, max: FIELD_PRIME }).map(hex)),
    fc.constant(({ price }) => ({ price: `-${price}` })),
  ];
  const otherV = ({ v }: Parts) => (v === '0x1b' ? '0x1c' : '0x1b');
  const ofEvm: Fault[] = [
    fc.constant((good) => ({ s: hex(n - BigInt(good['s']!)), v: otherV(good) })),
    fc.constant((good) => ({ v: otherV(good) })),
    set(['v'], fc.constantFrom('0x2', '0x1d', '0x1a', '0x11b', '', '27', undefined)),
  ];
  return fc.oneof(...common, ...(type === 'stark' ? ofStark : ofEvm));
}

for (const type of ['evm', 'stark'] as const) {
  test(`${type}: no update with one fault is accepted, and none throws`, async (t) => {
    const harness = await start(t);
    const session = newSession(type);
    const [one, two] = PUBLISHERS[type] as [(typeof PUBLISHERS)['evm'][0], (typeof PUBLISHERS)['evm'][0]];
    const symbol = SYMBOLS[type];
    let number = 0n;
    const sign = (publisher = one): PriceUpdate =>
      publisher.signer.sign({ symbol, price: 2n ** 64n + ++number, timestampNs: harness.clock.nowNs() });
    const numRuns = cases(type === 'evm' ? 2_000 : 600);
    let controls = 0;
    await fc.assert(
      fc.asyncProperty(faults(type, sign(two)), async (faultOf) => {
        // The clock advances far enough that the limit of bad signatures does not apply.
        harness.clock.advance(11n * NS_PER_SECOND);
        const good = sign();
        const bad = altered(good, faultOf(partsOf(good)));
        if (JSON.stringify(partsOf(bad)) === JSON.stringify(partsOf(good))) return true;
        const refused = await receive(harness.aggregator, session, publishMessage('bad', [bad]));
        if (!isRefused(refused, symbol)) return false;
        const control = await receive(harness.aggregator, session, publishMessage('good', [good]));
        if (control.ok && control.accepted.includes(symbol)) controls++;
        return true;
      }),
      { numRuns },
    );
    t.ok(controls > numRuns / 2, `${controls} good ones beside them were accepted`);
    t.notMatch([...harness.counters.updatesRejected.keys()].join(), /not verified/);
  });
}

test('stark: an update with s replaced by n - s is refused', async (t) => {
  const harness = await start(t);
  const session = newSession('stark');
  const [{ signer }] = PUBLISHERS.stark as [(typeof PUBLISHERS)['stark'][0]];
  const publish = (update: PriceUpdate, by = session) =>
    receive(harness.aggregator, by, publishMessage('t', [update]));
  const at = (ns: bigint, price: bigint) =>
    signer.sign({ symbol: SYMBOLS.stark, price, timestampNs: START_NS + ns });
  const twin = (update: PriceUpdate, ns: bigint) =>
    altered(update, { s: hex(ORDERS.stark - BigInt(partsOf(update)['s']!)), timestamp: START_NS + ns });
  const [first, second] = [at(1n, 10n), at(2n, 20n)];
  t.match(await publish(first), { accepted: [SYMBOLS.stark] });
  t.ok(isRefused(await publish(twin(first, 1n)), SYMBOLS.stark), 'at the same time');
  t.match(await publish(second), { accepted: [SYMBOLS.stark] });
  const stranger = newSession('stark', 'stranger');
  t.ok(isRefused(await publish(twin(first, 3n), stranger), SYMBOLS.stark), 'with later nanoseconds');
  t.ok(isRefused(await publish(twin(first, NS_PER_SECOND)), SYMBOLS.stark), 'a second later');
});

test('stark: a key off the curve and an asset that overflows the field are refused', async (t) => {
  const harness = await start(t);
  const session = newSession('stark');
  const update = OFF_CURVE.signer.sign({ symbol: SYMBOLS.stark, price: 1n, timestampNs: START_NS });
  const offCurve = altered(update, { publisher_key: hex(X_OFF_CURVE) });
  const refused = await receive(harness.aggregator, session, publishMessage('t', [offCurve]));
  t.match(refused, { rejected: new Map([[SYMBOLS.stark, /signature/]]) });

  const [{ signer }] = PUBLISHERS.stark as [(typeof PUBLISHERS)['stark'][0]];
  const long = Buffer.from(`${LONG_SYMBOL}czowx`).toString('hex');
  const overflow = altered(signer.sign({ symbol: SYMBOLS.stark, price: 1n, timestampNs: START_NS }), {
    asset_id: LONG_SYMBOL,
    external_asset_id: `0x${long}`,
  });
  t.ok(isRefused(await receive(harness.aggregator, session, publishMessage('t', [overflow])), LONG_SYMBOL));
});

function isRefused(outcome: PublishOutcome, symbol: string): boolean {
  return outcome.ok && outcome.accepted.length === 0 && outcome.rejected.has(symbol);
}

type Parts = Record<string, string | undefined>;

/** Returns the fields that can have a fault, by name. */
function partsOf({ signed_price: signed }: PriceUpdate): Parts {
  const { signature, timestamp, msg_hash } = signed.timestamped_signature;
  return {
    ...signature,
    msg_hash,
    timestamp: `${timestamp}`,
    price: signed.price,
    publisher_key: signed.publisher_key,
  };
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}

function bytes(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
}
