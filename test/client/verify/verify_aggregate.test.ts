import { existsSync, readFileSync } from 'node:fs';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { test } from 'tap';
import { signDigest } from '../../../src/client/sign/evm_sign.js';
import { createPriceSigner, type SignedPrice } from '../../../src/client/sign/sign_price.js';
import { integerBytes, prefixedHex } from '../../../src/client/verify/bytes.js';
import type { Signers } from '../../../src/client/verify/checks.js';
import { eip191Digest, evmAggregateHash } from '../../../src/client/verify/evm_messages.js';
import { checksumAddress, evmAddress } from '../../../src/client/verify/evm_signatures.js';
import { writeExactJson } from '../../../src/client/verify/exact_json.js';
import { keccak256 } from '../../../src/client/verify/keccak_sponge.js';
import { starkExternalAssetId, starkPriceHash } from '../../../src/client/verify/stark_messages.js';
import { starkPublicX, starkSign } from '../../../src/client/verify/stark_signatures.js';
import { type AggregateExpectations, verifyAggregate } from '../../../src/client/verify/verify_aggregate.js';
import { verifySignedPrice } from '../../../src/client/verify/verify_signed_price.js';
import type { AggregationType, SignatureType } from '../../../src/model/asset.js';

const VECTORS = '../shared/vectors';
const skip = existsSync(VECTORS) ? false : 'the recorded data is not here';
const recorded = (name: string) => readFileSync(`${VECTORS}/${name}`, 'utf8');

const SERVICE_KEY = new Uint8Array(32).fill(3);
const ALGORITHM_TEXT = 'the middle one\n';
const TIME_NS = 1757543080505451010n;

interface Draft {
  type?: SignatureType;
  algorithm?: AggregationType;
  prices: readonly bigint[];
  price: bigint;
}

/** Creates an aggregate step by step by the signing rules, without the service's code. */
function aggregateOf({ type = 'evm', algorithm = 'median', prices, price }: Draft) {
  const asset_id = 'BTCUSD';
  const signed_prices: SignedPrice[] = prices.map((input, i) => {
    const signer = createPriceSigner({
      signatureType: type,
      secretKey: new Uint8Array(32).fill(5 - (i % 5)),
      oracleId: 'simul',
    });
    return signer.sign({ symbol: asset_id, price: input, timestampNs: TIME_NS + BigInt(i) }).signed_price;
  });
  const timestamp = TIME_NS + BigInt(prices.length - 1);
  const signedAtNs = timestamp + 999n;
  const merkleRoot = naiveRoot(
    signed_prices.map((signed) => integerBytes(BigInt(signed.timestamped_signature.msg_hash), 32)),
  );
  const checksum = sha256(utf8ToBytes(ALGORITHM_TEXT));
  const service = type === 'evm' ? evmService() : starkService();
  function evmService() {
    const address = evmAddress(SERVICE_KEY);
    const hash = evmAggregateHash({ address, assetId: asset_id, signedAtNs, price, merkleRoot, checksum });
    const { r, s, recovery } = signDigest(eip191Digest(hash), SERVICE_KEY);
    const signature = { r: hexOf(r), s: hexOf(s), v: recovery === 0 ? '0x1b' : '0x1c' };
    return { public_key: checksumAddress(address), msg_hash: prefixedHex(hash), signature };
  }
  function starkService() {
    const hash = starkPriceHash(starkExternalAssetId(asset_id, 'servc')!, signedAtNs, price)!;
    const { r, s } = starkSign(hash, SERVICE_KEY);
    return {
      public_key: `0x${starkPublicX(SERVICE_KEY).toString(16)}`,
      msg_hash: hexOf(hash),
      signature: { r: hexOf(r), s: hexOf(s) },
    };
  }
  return {
    timestamp,
    asset_id,
    signature_type: type,
    trigger: 'clock',
    price: String(price),
    service_signed_price: {
      public_key: service.public_key,
      encoded_asset_id: Buffer.from(asset_id).toString('base64'),
      price: String(price),
      timestamped_signature: {
        signature: service.signature,
        timestamp: signedAtNs,
        msg_hash: service.msg_hash,
      },
      publisher_merkle_root: prefixedHex(merkleRoot),
      calculation_alg: { type: algorithm, version: 'v1', checksum: bytesToHex(checksum) },
    },
    signed_prices,
  };
}

function hexOf(value: bigint): string {
  return `0x${value.toString(16)}`;
}

/** Computes the Merkle root by its recursive definition. */
function naiveRoot(level: readonly Uint8Array[]): Uint8Array {
  if (level.length === 1) return level[0]!;
  const parents: Uint8Array[] = [];
  for (let i = 0; i < level.length; i += 2) {
    parents.push(keccak256(Buffer.concat([level[i]!, level[i + 1] ?? level[i]!])));
  }
  return naiveRoot(parents);
}

function failures(value: unknown, expected: Partial<AggregateExpectations<Signers>> = {}): string[] {
  return verifyAggregate(value, { signers: 'unchecked', ...expected }).flatMap(({ checks }) =>
    checks.filter(({ status }) => status === 'failed').map(({ name }) => name),
  );
}

const EVM = aggregateOf({ prices: [100n, 102n, 104n, 120n, 90n], price: 102n });

test('every recorded aggregate verifies', { skip }, async (t) => {
  const publicKey = '0xC4A02e7D370402F4afC36032076B05e74FF81786';
  const reports = verifyAggregate(recorded('recorded-evm.json'), { signers: [publicKey] });
  t.equal(reports.length, 50);
  for (const { verdict, checks } of reports) {
    t.equal(verdict, 'verified');
    t.same(
      checks.filter(({ status }) => status === 'skipped').map(({ name }) => name),
      ['checksum'],
    );
  }
});

test('an aggregate verifies as JSON text, as an object, and inside a response', async (t) => {
  const expected = { signers: [EVM.service_signed_price.public_key], algorithmText: ALGORITHM_TEXT };
  for (const value of [EVM, [EVM], { data: { BTCUSD: EVM } }]) {
    for (const form of [value, writeExactJson(value)]) {
      const [report] = verifyAggregate(form, expected);
      t.equal(report!.verdict, 'verified');
      t.ok(
        report!.checks.every(({ status }) => status === 'ok'),
        'nothing is skipped',
      );
    }
  }
  t.same(failures({ data: { ETHUSD: EVM } }), ['asset']);
});

test('without its inputs an aggregate is checked for what is signed, and the report says so', async (t) => {
  const { signed_prices: _, ...bare } = EVM;
  const signers = [EVM.service_signed_price.public_key];
  const lines = `${writeExactJson(bare)}\n${writeExactJson(EVM)}\n`;
  for (const value of [lines, { A: bare, B: EVM }, { data: { A: bare, B: EVM } }, [bare, EVM]]) {
    const reports = verifyAggregate(value, { signers });
    t.same(
      reports.map(({ inputs }) => inputs),
      ['absent', 'checked'],
    );
  }
  const [report] = verifyAggregate(bare, { signers });
  t.match(report, { verdict: 'verified', inputs: 'absent' });
  t.match(
    report!.checks.find(({ name }) => name === 'signed_prices'),
    { status: 'skipped', reason: 'absent' },
  );
  t.match(verifyAggregate(bare, { signers, inputs: 'required' }), [
    { verdict: 'failed', checks: [{ reason: 'signed_prices is absent' }] },
  ]);
});

test('the aggregate price follows its algorithm', async (t) => {
  t.same(failures(aggregateOf({ prices: [7n], price: 7n })), []);
  t.same(failures(aggregateOf({ prices: [4n, 1n], price: 2n })), [], 'an even count: the mean, truncated');
  t.same(failures(aggregateOf({ prices: [-4n, -1n], price: -2n })), [], 'truncated toward zero');
  t.same(failures(aggregateOf({ prices: [4n, 1n], price: 3n })), ['price']);
  t.same(failures(aggregateOf({ algorithm: 'average', prices: [1n, 2n, 5n], price: 2n })), []);
  const four = { algorithm: 'trimmed mean', prices: [90n, 3n, -80n, 4n] } as const;
  t.same(failures(aggregateOf({ ...four, price: 3n })), []);
  t.same(failures(aggregateOf({ ...four, price: 4n })), ['price'], 'the average of all four');
  const weighted = aggregateOf({ algorithm: 'weighted average', prices: [10n, 20n], price: 12n });
  const [first, second] = weighted.signed_prices.map(({ publisher_key }) => publisher_key);
  const [unweighted] = verifyAggregate(weighted, { signers: 'unchecked' });
  t.match(unweighted!.checks, [{ name: 'form' }]);
  t.ok(unweighted!.checks.some(({ name, status }) => name === 'price' && status === 'skipped'));
  t.same(failures(weighted, { weights: { [first!.toLowerCase()]: '3', [second!]: '1' } }), []);
  t.same(failures(weighted, { weights: { [first!]: '3' } }), ['price'], 'a weight is missing');
  t.throws(() => failures(weighted, { weights: { [first!]: '0.0000001' } }), RangeError);
});

test('a Stark aggregate verifies with the oracle ID of the service', async (t) => {
  const stark = aggregateOf({ type: 'stark', prices: [10n, 20n], price: 15n });
  t.same(failures(stark, { oracleId: 'servc', signers: [stark.service_signed_price.public_key] }), []);
  t.same(failures(stark, { oracleId: 'other' }), [
    'service_signed_price msg_hash',
    'service_signed_price signature',
  ]);
  const [report] = verifyAggregate(stark, { signers: 'unchecked' });
  t.equal(report!.verdict, 'recovered');
  t.ok(report!.checks.some(({ name, status }) => name.endsWith('msg_hash') && status === 'skipped'));
  t.same(
    failures(stark, { signers: [stark.service_signed_price.public_key] }),
    ['service_signed_price msg_hash'],
    'without the oracle ID the signature may be over anything',
  );
  const service_signed_price = { ...stark.service_signed_price, public_key: '0x1' };
  t.same(failures({ ...stark, service_signed_price }), ['service_signed_price signature']);
});

test('whatever is changed, a check of that name fails', async (t) => {
  const changes: [what: (text: string) => string, failed: string[]][] = [
    [(text) => text.replace('"asset_id":"BTCUSD"', '"asset_id":"ETHUSD"'), ['signed_prices[0] asset']],
    [(text) => text.replace('"price":"102"', '"price":"103"'), ['price', 'service_signed_price price']],
    [
      (text) => text.replace('"price":"120"', '"price":"121"'),
      ['signed_prices[3] msg_hash', 'signed_prices[3] signature'],
    ],
    [(text) => text.replace(/("timestamp":)\d+/, '$11757543080505451011'), ['timestamp']],
    [(text) => text.replace(/("encoded_asset_id":")/, '$1A'), ['service_signed_price encoded_asset_id']],
    [(text) => text.replace(/("checksum":").{6}/, '$1000000'), ['service_signed_price msg_hash']],
    [
      (text) => text.replace(/("publisher_merkle_root":"0x).{6}/, '$1000000'),
      ['publisher_merkle_root', 'service_signed_price msg_hash'],
    ],
    [(text) => text.replace(/("public_key":"0x).{6}/, '$1000000'), ['service_signed_price msg_hash']],
    [
      (text) => text.replace(/("v":"0x1)(.)/, (_, head, v) => head + (v === 'b' ? 'c' : 'b')),
      ['service_signed_price signature'],
    ],
  ];
  const text = writeExactJson(EVM);
  for (const [change, expected] of changes) {
    t.not(change(text), text, 'the change changes something');
    const found = failures(change(text));
    for (const name of expected) t.ok(found.includes(name), `${name} in ${found}`);
  }
  t.same(failures(text, { signers: [`0x${'1'.repeat(40)}`] }), ['service_signed_price public_key']);
  t.same(failures(text, { algorithmText: `${ALGORITHM_TEXT} ` }), ['checksum']);
  const twice = { ...EVM, signed_prices: [...EVM.signed_prices, EVM.signed_prices[0]] };
  t.ok(failures(twice).includes('distinct publishers'));
});

test('a high s is refused though the key made it', async (t) => {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const signed = EVM.signed_prices[0]!;
  const { r, s, v } = signed.timestamped_signature.signature;
  const signature = { r, s: hexOf(order - BigInt(s)), v: v === '0x1b' ? '0x1c' : '0x1b' };
  const report = verifySignedPrice(
    { ...signed, timestamped_signature: { ...signed.timestamped_signature, signature } },
    { assetId: 'BTCUSD', signers: 'unchecked' },
  );
  t.match(report.checks.at(-1), { name: 'signed_price signature', status: 'failed', reason: 'high s' });
});

test('a value of another form is reported with the field at fault', async (t) => {
  const reasons: [value: unknown, reason: string][] = [
    ['not json', 'the value is not an object'],
    [{ ...EVM, signature_type: 'rsa' }, 'signature_type is not one of evm, stark'],
    [{ ...EVM, price: '1.5' }, 'price is not a price'],
    [{ ...EVM, timestamp: Number(TIME_NS) }, 'timestamp has lost digits in a double: pass the JSON text'],
  ];
  for (const [value, reason] of reasons) {
    t.match(verifyAggregate(value, { signers: 'unchecked' }), [
      { verdict: 'failed', checks: [{ name: 'form', status: 'failed', reason }] },
    ]);
  }
});

test('an aggregate is verified only against signers that were named', async (t) => {
  const key = EVM.service_signed_price.public_key;
  t.match(verifyAggregate(EVM, { signers: [`0x${'1'.repeat(40)}`, key] }), [
    { verdict: 'verified', signer: key },
  ]);
  t.match(verifyAggregate(EVM, { signers: 'unchecked' }), [{ verdict: 'recovered', signer: key }]);
  t.match(verifyAggregate(EVM, { signers: [`0x${'1'.repeat(40)}`] }), [{ verdict: 'failed', signer: key }]);
  t.throws(() => verifyAggregate(EVM, { signers: [] }), RangeError);
  const [input] = EVM.signed_prices;
  const verdict = (signers: Signers) => verifySignedPrice(input, { assetId: 'BTCUSD', signers }).verdict;
  t.equal(verdict([input!.publisher_key]), 'verified');
  t.equal(verdict([key]), 'failed');
  t.equal(verdict('unchecked'), 'recovered');
});
