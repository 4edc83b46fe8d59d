import { test } from 'tap';
import type { Asset, ListedPublisher } from '../../src/model/asset.js';
import { Catalogue } from '../../src/model/catalogue.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import { type AllowList, Gate, type PublishRights } from '../../src/prices/gate.js';
import type { RawUpdate } from '../../src/prices/message.js';
import { UNKNOWN_ASSET } from '../../src/wire/publish_message.js';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS, sampleAsset, samplePublisher } from '../model/sample.js';

const bitcoin = sampleAsset();
const ether = sampleAsset({ index: 1, id: 2, symbol: 'ETHUSD' });
const starkBitcoin = sampleAsset({ index: 2, id: 3, symbol: 'BTC-STARK', signatureType: 'stark' });
const assets = [bitcoin, ether, starkBitcoin];
const publisher = samplePublisher();
const bitcoinOnly = samplePublisher({ index: 1, assets: new Set(['BTCUSD']) });
const starkPublisher = samplePublisher({ index: 2, signatureType: 'stark', key: Buffer.alloc(32, 3) });
const publishers = [publisher, bitcoinOnly, starkPublisher];

const ALL: PublishRights = { identity: 'alice', mayPublishAs: () => true, maySee: () => true };

const catalogueOf = (those: readonly Asset[], allowed: readonly ListedPublisher[]) =>
  new Catalogue({ assets: those, publishers: allowed });

function newGate(): { gate: Gate; clock: FakeClock } {
  const clock = new FakeClock();
  const catalogue = catalogueOf(assets, publishers);
  return {
    gate: new Gate(catalogue, clock, {
      maxPastNs: 60n * NS_PER_SECOND,
      maxFutureNs: 2n * NS_PER_SECOND,
      maxBackwardNs: 2n * NS_PER_SECOND,
    }),
    clock,
  };
}

const GOOD: RawUpdate = {
  symbol: 'BTCUSD',
  assetId: 'BTCUSD',
  publisherKey: `0x${'01'.repeat(20)}`,
  externalAssetId: 'BTCUSD',
  signatureType: 'evm',
  price: '5',
  timestamp: String(START_NS),
  r: '0x11',
  s: '0x22',
  v: '0x1b',
  msgHash: '0x33',
  metadata: undefined,
};
const GOOD_STARK: RawUpdate = {
  ...GOOD,
  symbol: 'BTC-STARK',
  assetId: 'BTC-STARK',
  publisherKey: `0x${'03'.repeat(32)}`,
  externalAssetId: '0x1',
  signatureType: 'stark',
  v: undefined,
};

function reasonFor(raw: RawUpdate, rights = ALL, path: 'evm' | 'stark' = 'evm'): string {
  const { gate } = newGate();
  const answer = gate.admit(raw, path, rights);
  return typeof answer === 'string' ? answer : 'admitted';
}

test('an admitted update has been read into exact values', async (t) => {
  const { gate } = newGate();
  const candidate = gate.admit(GOOD, 'evm', ALL);
  if (typeof candidate === 'string') return t.fail(candidate);
  t.same(candidate.asset, bitcoin);
  t.same(candidate.publisher, publisher);
  t.equal(candidate.price, 5n);
  t.equal(candidate.timestampNs, START_NS);
  t.equal(candidate.msgHash.toString('hex'), '33'.padStart(64, '0'));
  t.equal(candidate.signature.toString('hex'), '11'.padStart(64, '0') + '22'.padStart(64, '0'));
  t.equal(candidate.recovery, 0);
  t.equal(candidate.verified, false);
});

/** The checks in order. Each case has the change that makes the check fail, and the rights or path if necessary. */
const CHECKS: [reason: string, change: Partial<RawUpdate>, rights?: Partial<PublishRights>][] = [
  ['the token does not cover this asset', {}, { maySee: () => false }],
  ['asset_id differs from the key it stands under', { assetId: 'ETHUSD' }],
  ['signature_type is not "evm", which this path takes', { signatureType: 'stark' }],
  ['publisher_key is not 0x and the hex of 20 bytes', { publisherKey: '0xzz' }],
  ['publisher_key is not on the allow-list', { publisherKey: `0x${'09'.repeat(20)}` }],
  ['the token does not cover this publisher_key', {}, { mayPublishAs: () => false }],
  ['external_asset_id names another asset', { externalAssetId: 'ETHUSD' }],
  ['price is not an integer within -2^127 .. 2^127-1 in plain digits', { price: '1.5' }],
  ['price is -0; zero has no sign', { price: '-0' }],
  ['timestamp is not an integer of nanoseconds', { timestamp: '1e18' }],
  ['timestamp is too old', { timestamp: String(START_NS - 60n * NS_PER_SECOND - 1n) }],
  ['timestamp lies in the future', { timestamp: String(START_NS + 2n * NS_PER_SECOND + 1n) }],
  ['msg_hash is not 0x and the hex of 32 bytes', { msgHash: '0x' }],
  ['signature r is not 0x and the hex of 32 bytes', { r: `0x1${'0'.repeat(64)}` }],
  ['signature s is not 0x and the hex of 32 bytes', { s: 'abc' }],
  ['signature v is not 0x1b, 0x1c, 0x0 or 0x1', { v: '0x1d' }],
];

test('every check has its reason, and the cheaper one comes first', async (t) => {
  for (const [reason, change, rights] of CHECKS)
    t.equal(reasonFor({ ...GOOD, ...change }, { ...ALL, ...rights }), reason);
  for (let first = 0; first < CHECKS.length; first++) {
    for (let second = first + 1; second < CHECKS.length; second++) {
      const [reason, change, rights] = CHECKS[first]!;
      const [, laterChange, laterRights] = CHECKS[second]!;
      // If both changes set the same field, only one of them takes effect.
      const raw = { ...GOOD, ...laterChange, ...change };
      t.equal(
        reasonFor(raw, { ...ALL, ...laterRights, ...rights }),
        reason,
        `${reason} and ${CHECKS[second]![0]}`,
      );
    }
  }
});

test('an asset that a token may not see is no more than unknown only where it is unknown', async (t) => {
  t.equal(reasonFor({ ...GOOD, symbol: 'X' }), UNKNOWN_ASSET);
  t.equal(reasonFor({ ...GOOD, symbol: '__proto__', assetId: '__proto__' }), UNKNOWN_ASSET);
});

test('a publisher is bound to its assets and an asset to its signature type', async (t) => {
  const second = { ...GOOD, publisherKey: `0x${'02'.repeat(20)}` };
  t.equal(reasonFor(second), 'admitted');
  t.equal(
    reasonFor({ ...second, symbol: 'ETHUSD', assetId: 'ETHUSD', externalAssetId: 'ETHUSD' }),
    'publisher_key is not allowed for this asset',
  );
  t.equal(
    reasonFor({ ...GOOD, symbol: 'BTC-STARK', assetId: 'BTC-STARK' }),
    'this asset takes stark signatures',
  );
  t.equal(reasonFor(GOOD, ALL, 'stark'), 'signature_type is not "stark", which this path takes');
  t.equal(reasonFor(GOOD_STARK, ALL, 'stark'), 'admitted');
  t.equal(
    reasonFor({ ...GOOD_STARK, price: '-1' }, ALL, 'stark'),
    'a price with a Stark signature cannot be negative',
  );
  t.equal(reasonFor({ ...GOOD, price: '-1' }), 'admitted');
});

test('keys are compared as numbers, and v means the same in its four forms', async (t) => {
  t.equal(reasonFor({ ...GOOD, publisherKey: `0x1${'01'.repeat(19)}` }), 'admitted');
  t.equal(reasonFor({ ...GOOD_STARK, publisherKey: `0x3${'03'.repeat(31)}` }, ALL, 'stark'), 'admitted');
  const { gate } = newGate();
  for (const [v, recovery] of [
    ['0x1b', 0],
    ['0x1C', 1],
    ['0x01', 1],
  ] as const) {
    const candidate = gate.admit({ ...GOOD, v }, 'evm', ALL);
    t.equal(typeof candidate === 'object' && candidate.recovery, recovery);
  }
  t.equal(reasonFor({ ...GOOD, v: undefined }), 'signature v is not 0x1b, 0x1c, 0x0 or 0x1');
});

test('the window of timestamps includes its edges and moves with the clock', async (t) => {
  const { gate, clock } = newGate();
  const at = (timestampNs: bigint) => {
    const answer = gate.admit({ ...GOOD, timestamp: String(timestampNs) }, 'evm', ALL);
    return typeof answer === 'string' ? answer : 'admitted';
  };
  t.equal(at(START_NS - 60n * NS_PER_SECOND), 'admitted');
  t.equal(at(START_NS + 2n * NS_PER_SECOND), 'admitted');
  clock.advance(1n);
  t.equal(at(START_NS - 60n * NS_PER_SECOND), 'timestamp is too old');
  t.equal(at(START_NS + 2n * NS_PER_SECOND + 1n), 'admitted');
  t.equal(
    at(START_NS / NS_PER_SECOND),
    'timestamp is too old; it is in UNIX nanoseconds: did you send seconds?',
  );
});

const SEEN_BEFORE = 'replay: timestamp is not newer than the one that this update was accepted with';
const OTHER_SENDER = 'replay: another token or key sent this update first, and only that one can refresh it';

function admitted(gate: Gate, raw: RawUpdate, path: 'evm' | 'stark' = 'evm') {
  const candidate = gate.admit(raw, path, ALL);
  if (typeof candidate === 'string') throw new Error(candidate);
  return candidate;
}

test('of two that were admitted together only the first is accepted', async (t) => {
  const { gate } = newGate();
  const one = admitted(gate, GOOD);
  const same = admitted(gate, GOOD);
  t.equal(refusalOf(gate.accept(one)), undefined);
  t.equal(gate.accept(same), SEEN_BEFORE);
  t.equal(gate.admit(GOOD, 'evm', ALL), SEEN_BEFORE);
});

/** Returns the refusal; `undefined` for an accepted update. */
function refusalOf(answer: object | string): string | undefined {
  return typeof answer === 'string' ? answer : undefined;
}

test('only what is wholly the last accepted update but for its nanoseconds needs no verification', async (t) => {
  for (const [good, path] of [
    [GOOD, 'evm'],
    [GOOD_STARK, 'stark'],
  ] as const) {
    const { gate } = newGate();
    gate.accept(admitted(gate, good, path));
    const later = { ...good, timestamp: String(START_NS + 1n) };
    t.equal(admitted(gate, later, path).verified, true);
    const changes: Partial<RawUpdate>[] = [
      { price: '6' },
      { r: '0x12' },
      { s: '0x23' },
      { msgHash: '0x34' },
      { timestamp: String(START_NS + NS_PER_SECOND) },
      ...(path === 'evm' ? [{ v: '0x1c' }] : [{ externalAssetId: '0x2' }]),
    ];
    for (const change of changes)
      t.equal(admitted(gate, { ...later, ...change }, path).verified, false, JSON.stringify(change));
  }
});

test('the last accepted update is accepted once more when its message is sent again, over a restart too', async (t) => {
  const before = newGate().gate;
  const good = admitted(before, GOOD);
  const pair = before.accept(good);
  if (typeof pair === 'string') return t.fail(pair);
  const restored = newGate().gate;
  restored.restore(bitcoin, publisher, pair.input, pair.seen);
  for (const gate of [before, restored]) {
    t.equal(gate.admit(GOOD, 'evm', ALL), SEEN_BEFORE);
    const again = gate.admit(GOOD, 'evm', ALL, true);
    if (typeof again === 'string') return t.fail(again);
    t.equal(again.verified, true);
    t.equal(refusalOf(gate.accept(again)), undefined);
    t.same(
      gate.accepted(again.asset, again.publisher).seen.updates,
      pair.seen.updates,
      'nothing has changed',
    );
    for (const change of [{ r: '0x12' }, { price: '6' }, { metadata: '{}' }])
      t.equal(gate.admit({ ...GOOD, ...change }, 'evm', ALL, true), SEEN_BEFORE, JSON.stringify(change));
  }
  before.accept(admitted(before, { ...GOOD, msgHash: '0x34', timestamp: String(START_NS + 1n) }));
  const over = before.admit(GOOD, 'evm', ALL, true);
  t.match(over, { isOver: true, verified: false }, 'another one was accepted since');
  t.equal(before.admit(GOOD, 'evm', ALL), SEEN_BEFORE, 'its message was not sent before');
  t.equal(before.admit(GOOD, 'evm', { ...ALL, identity: 'bob' }, true), OTHER_SENDER);
});

test('what changes while a signature is verified decides about the update', async (t) => {
  const { gate } = newGate();
  const candidate = gate.admit(GOOD, 'evm', ALL);
  if (typeof candidate === 'string') return t.fail(candidate);
  const stark = { ...bitcoin, signatureType: 'stark' as const };
  const elsewhere = { ...publisher, assets: new Set(['ETHUSD']) };
  const refusals: [AllowList, string][] = [
    [catalogueOf([ether], publishers), UNKNOWN_ASSET],
    [catalogueOf([stark], publishers), 'this asset takes stark signatures'],
    [catalogueOf(assets, [bitcoinOnly]), 'publisher_key is not on the allow-list'],
    [catalogueOf(assets, [elsewhere]), 'publisher_key is not allowed for this asset'],
  ];
  for (const [catalogue, reason] of refusals) {
    gate.reload(catalogue);
    t.equal(gate.accept(candidate), reason);
  }
  gate.reload(catalogueOf(assets, publishers));
  t.equal(refusalOf(gate.accept(candidate)), undefined);
});
