import { test } from 'tap';
import { publishMessage } from '../../../src/client/index.js';
import type { LogEntry } from '../../../src/cluster/log/log_batch.js';
import { LogApplier } from '../../../src/cluster/node/log_applier.js';
import { publicLogFault, recordFault } from '../../../src/cluster/node/record_check.js';
import { createCryptoJobs } from '../../../src/crypto/pool/jobs.js';
import { encodeAcceptedInput } from '../../../src/log/records/accepted_input.js';
import { encodeHolding } from '../../../src/log/records/holding.js';
import { openStore } from '../../../src/log/store/store.js';
import { Catalogue } from '../../../src/model/catalogue.js';
import { parseHex } from '../../../src/model/hex.js';
import type { Price } from '../../../src/model/price.js';
import type { PublisherPrice, SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { InputVerifier } from '../../../src/prices/input_verifier.js';
import { readPublishMessage } from '../../../src/prices/message.js';
import { sampleHolding } from '../../log/records/sample_line.js';
import { sampleAggregate, sampleAsset, seenOf, storeOptions } from '../../log/store/sample.js';
import { type TestPublisher, testPublisher } from '../../prices/harness.js';

const EVM = [0, 1, 2].map((index) => testPublisher(index));
const STARK = testPublisher(3, 'stark');
const STRANGER = testPublisher(4);
const ELSEWHERE = testPublisher(5);
const ASSETS = [
  sampleAsset(0, { symbol: 'BTCUSD' }),
  sampleAsset(1, { symbol: 'DYDXUSD', signatureType: 'stark' }),
  sampleAsset(2, { symbol: 'ETHUSD' }),
];
const [BTC, DYDX] = ASSETS as [(typeof ASSETS)[0], (typeof ASSETS)[0]];
const LISTED = [
  ...EVM.map(({ publisher }) => publisher),
  STARK.publisher,
  { ...ELSEWHERE.publisher, assets: new Set(['ETHUSD']) },
];
const CATALOGUE = new Catalogue({ assets: ASSETS, publishers: LISTED });
const TIME_NS = 1_704_067_200_000_000_000n;

function inputOf({ signer }: TestPublisher, symbol: string, price: bigint, timeNs = TIME_NS): PublisherPrice {
  const read = readPublishMessage(
    publishMessage('x', [signer.sign({ symbol, price, timestampNs: timeNs })]),
    1,
  );
  if (!read.ok) throw new Error(read.error);
  const { publisherKey, externalAssetId, price: text, r, s, v, msgHash, metadata } = read.updates[0]!;
  const wire = { publisherKey, externalAssetId, price: text, r, s, v, msgHash, metadata };
  return { price: price as Price, timestampNs: timeNs as TimeNs, wire };
}

function changed(input: PublisherPrice, wire: Partial<PublisherPrice['wire']>): PublisherPrice {
  return { ...input, wire: { ...input.wire, ...wire } };
}

function inputEntry(input: PublisherPrice, asset = BTC): LogEntry {
  const { symbol, signatureType } = asset;
  const publisherKey = parseHex(input.wire.publisherKey, signatureType === 'evm' ? 20 : 32)!;
  return {
    symbol,
    signatureType,
    publisherKey,
    bytes: encodeAcceptedInput({ input, seen: seenOf(input) }, signatureType),
  };
}

function aggregateEntry(inputs: readonly PublisherPrice[], price: bigint, asset = BTC): LogEntry {
  const { symbol, signatureType } = asset;
  const sample = sampleAggregate(asset, LISTED.slice(0, 1), price as Price, TIME_NS as TimeNs);
  const aggregate: SignedAggregate = { ...sample, inputs };
  return { symbol, signatureType, bytes: encodeHolding(sampleHolding(aggregate)) };
}

function faultOf(entries: readonly LogEntry[], verifier = newVerifier()): string | undefined {
  return recordFault({ epoch: 1, sequence: 7, after: '', entries }, verifier);
}

function newVerifier(): InputVerifier {
  return new InputVerifier(createCryptoJobs(), () => CATALOGUE);
}

const INPUTS = EVM.map((publisher, index) => inputOf(publisher, 'BTCUSD', 100n + BigInt(index)));
const [FIRST] = INPUTS as [PublisherPrice];
const STARK_INPUT = inputOf(STARK, 'DYDXUSD', 5n);

test('records of a leader are authentic, and known inputs are not verified again', async (t) => {
  let verified = 0;
  const here = createCryptoJobs();
  const verifier = new InputVerifier(
    {
      ...here,
      verifyEvm(jobs) {
        verified += jobs.length;
        return here.verifyEvm(jobs);
      },
    },
    () => CATALOGUE,
  );
  t.equal(
    faultOf([...INPUTS.map((input) => inputEntry(input)), inputEntry(STARK_INPUT, DYDX)], verifier),
    undefined,
  );
  t.equal(
    faultOf([aggregateEntry(INPUTS, 101n), aggregateEntry([STARK_INPUT], 5n, DYDX)], verifier),
    undefined,
  );
  t.equal(verified, 3);
  const next = inputOf(EVM[0]!, 'BTCUSD', 103n, TIME_NS + 1n);
  t.equal(faultOf([aggregateEntry([next, ...INPUTS.slice(1)], 102n)], verifier), undefined);
  t.equal(verified, 4);
  t.match(faultOf([aggregateEntry([changed(next, { r: FIRST.wire.r })], 103n)], verifier), /not authentic/);
});

test('each part of an input is covered', async (t) => {
  const other = INPUTS[1]!.wire;
  const forged: [string, PublisherPrice, RegExp][] = [
    ['price', { ...changed(FIRST, { price: '101' }), price: 101n as Price }, /msg_hash does not match/],
    ['time', { ...FIRST, timestampNs: (TIME_NS + 1_000_000_000n) as TimeNs }, /msg_hash does not match/],
    ['r', changed(FIRST, { r: other.r }), /signature is not by publisher_key/],
    ['s', changed(FIRST, { s: other.s }), /signature is not by publisher_key/],
    ['v', changed(FIRST, { v: FIRST.wire.v === '0x1b' ? '0x1c' : '0x1b' }), /signature is not by/],
    ['hash', changed(FIRST, { msgHash: other.msgHash }), /msg_hash does not match/],
    ['key', changed(FIRST, { publisherKey: other.publisherKey }), /msg_hash does not match/],
    ['a stranger', inputOf(STRANGER, 'BTCUSD', 100n), /publisher_key is not on the allow-list/],
    ['a publisher of others', inputOf(ELSEWHERE, 'BTCUSD', 100n), /not allowed for this asset/],
    ['another asset', inputOf(EVM[0]!, 'ETHUSD', 100n), /external_asset_id names another asset/],
  ];
  for (const [name, input, reason] of forged) {
    t.match(faultOf([inputEntry(input)]), reason, name);
  }
  const stark = changed(STARK_INPUT, { s: STARK_INPUT.wire.r });
  t.match(faultOf([inputEntry(stark, DYDX)]), /not authentic/);
});

test('an aggregate lies between its inputs, and an input stands under its key', async (t) => {
  const reason = /^has an aggregate of BTCUSD that its inputs do not give$/;
  for (const price of [99n, 103n]) t.match(faultOf([aggregateEntry(INPUTS, price)]), reason);
  for (const price of [100n, 102n]) t.equal(faultOf([aggregateEntry(INPUTS, price)]), undefined);
  t.match(faultOf([aggregateEntry([], 100n)]), reason);
  const wrongKey = { ...inputEntry(FIRST), publisherKey: EVM[1]!.publisher.key };
  t.match(faultOf([wrongKey]), /under another key/);
  t.match(faultOf([{ ...inputEntry(FIRST), bytes: new Uint8Array(40).fill(7) }]), /^cannot be read: /);
});

test('a part of the public log must be readable', async (t) => {
  const entry = {
    symbol: '',
    signatureType: 'evm',
    bytes: Buffer.from('prices.example.com/tlog\n-1\n\n'),
  } as const;
  for (const publicLog of ['batch', 'head', 'checkpoint'] as const) {
    const record = { epoch: 1, sequence: 7, after: '', entries: [{ ...entry, publicLog }] };
    t.match(publicLogFault(record), /^has a part of the public log that cannot be read: /);
  }
  t.equal(publicLogFault({ epoch: 1, sequence: 7, after: '', entries: [inputEntry(FIRST)] }), undefined);
});

test('a record that is not authentic has no effect, is counted and named, and the log goes on', async (t) => {
  const store = await openStore(storeOptions(t.testdir()));
  const reasons: string[] = [];
  const recorded: string[] = [];
  const applier = new LogApplier({
    store,
    source: { recorded: ({ asset }) => recorded.push(asset.symbol) },
    catalogue: () => CATALOGUE,
    keepsInputs: true,
    verifier: newVerifier(),
    onUnauthentic: (reason) => reasons.push(reason),
    onMinuteClosed() {},
    onStoreChanged() {},
  });
  applier.serve();
  const apply = (sequence: number, entries: readonly LogEntry[]) =>
    applier.apply({ epoch: 1, sequence, after: '', entries }, { sequence, id: 'ab'.repeat(32) });
  apply(1, [inputEntry(FIRST), aggregateEntry(INPUTS, 101n)]);
  apply(2, [aggregateEntry(INPUTS, 101n), aggregateEntry([inputOf(STRANGER, 'BTCUSD', 7n)], 7n)]);
  t.same(recorded, ['BTCUSD'], 'nothing of the second record');
  t.equal(applier.unauthenticCount, 1);
  t.match(reasons, [
    /^record 2 of the log has an input of BTCUSD by 0x\w+ that is not authentic: publisher_key/,
  ]);
  t.equal(store.log.position?.sequence, 2);
  await store.close();
});
