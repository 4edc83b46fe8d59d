import { sha256 } from '../../tlog/short_sha256.js';
import { ALGORITHMS } from '../../wire/algorithms.js';
import { foreignText } from '../../wire/foreign_text.js';
import { SIGNATURES } from '../../wire/signatures.js';
import { type AggregateForm, type PublisherForm, readAggregate } from './aggregate_form.js';
import { aggregatePrice } from './aggregate_price.js';
import { bytesInteger, concatBytes, integerBytes, prefixedHex, utf8ToBytes } from './bytes.js';
import { CheckList, requireSigners, type Signers } from './checks.js';
import type { RecoverAddress } from './evm_signatures.js';
import { parseExactJson } from './exact_json.js';
import { keccak256 } from './keccak_sponge.js';
import { READER_RULES } from './reader_rules.js';
import {
  type AggregateReport,
  checkPublisher,
  checkSigned,
  formFault,
  formOf,
} from './verify_signed_price.js';

/** The facts that the reader knows beforehand. A check that needs an unknown fact is skipped. */
export interface AggregateExpectations<S extends Signers> {
  /**
   * The service's keys, or `'unchecked'`. Keys are addresses for `evm` aggregates and x coordinates of public keys for
   * `stark` aggregates.
   */
  readonly signers: S;
  /** The service's name in `<name>_signed_price`. Default: any name, because no signature covers it. */
  readonly serviceName?: string | undefined;
  /** The service's own oracle ID, which its Stark messages contain. Default: none; then the client verifies no Stark aggregates. */
  readonly oracleId?: string | undefined;
  /**
   * The algorithm's definition. The checksum must be the SHA-256 of the definition. Default: none; then the checksum is not checked.
   */
  readonly algorithmText?: string | undefined;
  /**
   * Definitions that the reader knows. Without `algorithmText`, the checksum may be the SHA-256 of any definition, and an unknown
   * checksum is not checked. Default: none.
   */
  readonly knownAlgorithms?: readonly string[] | undefined;
  /**
   * Publisher key to weight (decimal text such as `2.5`), for a `weighted average`. Default: none; then a price of this algorithm is
   * not checked.
   */
  readonly weights?: Readonly<Record<string, string>> | undefined;
  /**
   * `required` refuses an aggregate without `signed_prices`. `optional` checks what the service signed of it, and the report says
   * `inputs: 'absent'`. Default: `optional`.
   */
  readonly inputs?: 'required' | 'optional' | undefined;
  /**
   * A function that recovers the 20 bytes of the address whose key signed a digest; `undefined` when the signature fits no key. A native
   * library is many times faster. Default: plain JavaScript.
   */
  readonly recover?: RecoverAddress | undefined;
}

/**
 * Checks aggregates from their own bytes alone: every publisher's hash and signature, the Merkle root, the aggregate's price,
 * the service's hash and signature. The publishers' keys are the keys that the service's signature covers.
 * @param value an `AggregatedSignedPrice`, an array of them, the lines of a range, a whole REST response, or its `data`; best as its JSON
 * text, because `JSON.parse` loses digits of timestamps
 * @returns one report for each aggregate, and at least one report. A report is `verified` only when one of the named signers
 * signed the aggregate.
 * @throws RangeError or TypeError when `signers` is empty or contains anything except addresses, or for invalid weights
 */
export function verifyAggregate<const S extends Signers>(
  value: unknown,
  expected: AggregateExpectations<S>,
): AggregateReport<S>[] {
  requireSigners(expected.signers);
  const aggregates = aggregatesIn(value);
  if (aggregates.length === 0) return [formFault('the response holds no aggregates')];
  return aggregates.map((named) => verifyNamed(named, expected));
}

/** An aggregate that was not read yet, with the symbol under which a response has it. */
export type NamedAggregate = readonly [symbol: string | undefined, aggregate: unknown];

/**
 * Returns the aggregates of a value or a text: a single aggregate, an array, the lines of a range, a whole REST response, or its `data`.
 * An aggregate has its symbol if the response names the symbol.
 */
export function aggregatesIn(value: unknown): readonly NamedAggregate[] {
  if (typeof value === 'string') {
    const whole = parseExactJson(value);
    if (whole !== undefined) return aggregatesIn(whole);
    const lines = value.split('\n').filter((line) => line.trim() !== '');
    return lines.flatMap((line) => aggregatesIn(parseExactJson(line)));
  }
  if (Array.isArray(value)) return value.map((aggregate) => [undefined, aggregate]);
  if (!isObject(value)) return [[undefined, value]];
  if ('data' in value) return isObject(value.data) ? Object.entries(value.data) : [];
  const entries = Object.entries(value);
  const isData = entries.length > 0 && entries.every(([, one]) => isObject(one) && 'asset_id' in one);
  return isData ? entries : [[undefined, value]];
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Checks one of {@link aggregatesIn}, like {@link verifyAggregate}. */
export function verifyNamed<S extends Signers>(
  [symbol, value]: NamedAggregate,
  expected: AggregateExpectations<S>,
): AggregateReport<S> {
  const aggregate = formOf(value, (one) => readAggregate(one, expected.serviceName));
  if (typeof aggregate === 'string') return formFault(aggregate);
  const { assetId, service } = aggregate;
  const list = new CheckList(expected.signers, expected.recover);
  list.expect('form', true, '');
  if (symbol !== undefined)
    list.expect('asset', symbol === assetId, `${foreignText(assetId)} is served as ${foreignText(symbol)}`);
  const { publishers } = aggregate;
  if (publishers !== undefined) checkInputs(list, { ...aggregate, publishers }, expected);
  else if (expected.inputs === 'required') return formFault('signed_prices is absent');
  else list.skip('signed_prices', 'absent');
  checkAlgorithm(list, aggregate, expected);
  checkService(list, aggregate, expected);
  const signer = READER_RULES[aggregate.signatureType].keyText(service.key);
  const inputs = publishers === undefined ? 'absent' : 'checked';
  return { verdict: list.verdict, checks: list.checks, assetId, signer, inputs };
}

/** Checks that the aggregate's statements about its inputs agree with the inputs. */
function checkInputs(
  list: CheckList<Signers>,
  aggregate: AggregateForm & { readonly publishers: readonly PublisherForm[] },
  expected: AggregateExpectations<Signers>,
): void {
  const { publishers, service, assetId } = aggregate;
  publishers.forEach((publisher, i) => {
    checkPublisher(list, assetId, publisher, `signed_prices[${i}]`);
  });
  const keys = new Set(publishers.map(({ key, signatureType }) => `${signatureType} ${key}`));
  list.expect(
    'distinct publishers',
    keys.size === publishers.length,
    'a publisher stands in signed_prices twice',
  );
  const newestNs = publishers.reduce(
    (newest, { timestampNs }) => (timestampNs > newest ? timestampNs : newest),
    0n,
  );
  list.expect('timestamp', aggregate.timestampNs === newestNs, `the newest signature time is ${newestNs}`);
  const root = publishers.length > 0 && bytesInteger(merkleRoot(publishers.map(({ msgHash }) => msgHash)));
  list.expect(
    'publisher_merkle_root',
    root === service.merkleRoot,
    'it is not the root over the msg_hash values',
  );
  if (ALGORITHMS[service.algorithm].isWeighted && expected.weights === undefined) {
    list.skip('price', `a ${service.algorithm} needs the weights`);
    return;
  }
  const price = aggregatePrice(service.algorithm, publishers, expected.weights ?? {});
  const found = typeof price === 'bigint' ? `the ${service.algorithm} is ${price}` : price;
  list.expect('price', price === aggregate.price, found);
}

function checkAlgorithm(
  list: CheckList<Signers>,
  { service }: AggregateForm,
  expected: AggregateExpectations<Signers>,
): void {
  const { algorithmText, knownAlgorithms = [] } = expected;
  const isDefinedBy = (text: string) => bytesInteger(sha256(utf8ToBytes(text))) === service.checksum;
  if (algorithmText !== undefined) {
    const hash = prefixedHex(sha256(utf8ToBytes(algorithmText))).slice(2);
    list.expect('checksum', isDefinedBy(algorithmText), `the SHA-256 of the given definition is ${hash}`);
  } else if (knownAlgorithms.some(isDefinedBy)) list.expect('checksum', true, '');
  else list.skip('checksum', "the algorithm's definition was not given");
}

function checkService(
  list: CheckList<Signers>,
  aggregate: AggregateForm,
  expected: AggregateExpectations<Signers>,
): void {
  const { assetId, service, signatureType } = aggregate;
  const name = service.field;
  list.expect(
    `${name} price`,
    service.price === aggregate.price,
    `${service.price} is not ${aggregate.price}`,
  );
  list.expect(
    `${name} encoded_asset_id`,
    isEncodedAssetId(service.encodedAssetId, assetId),
    `it is not ${foreignText(assetId)}`,
  );
  const { keyText, aggregateHash, signatureFault } = READER_RULES[signatureType];
  list.expectSigner(`${name} public_key`, service.key, keyText(service.key));
  if (SIGNATURES[signatureType].coversOracleId && expected.oracleId === undefined) {
    // Without the oracle ID the hash cannot be recomputed, so the signature may cover anything.
    const reason = "the service's oracle ID was not given";
    if (expected.signers === 'unchecked') list.skip(`${name} msg_hash`, reason);
    else list.expect(`${name} msg_hash`, false, reason);
    const fault = signatureFault(service, service.msgHash, list.recover);
    list.expect(`${name} signature`, fault === undefined, 'it is not a signature of msg_hash by the key');
  } else {
    const hash = aggregateHash(aggregate, expected.oracleId ?? '');
    checkSigned(list, name, service, signatureType, hash);
  }
}

/** Computes the root. A parent is the hash of its two children, and an odd level repeats its last node. */
function merkleRoot(leaves: readonly bigint[]): Uint8Array {
  let level = leaves.map((leaf) => integerBytes(leaf, 32));
  while (level.length > 1) {
    const children = level;
    const parents = Math.ceil(children.length / 2);
    level = Array.from({ length: parents }, (_, i) =>
      keccak256(concatBytes(children[2 * i]!, children[2 * i + 1] ?? children[2 * i]!)),
    );
  }
  return level[0]!;
}

/** Checks an encoded asset ID. Services encode the asset ID as Base64, or hash it as contracts do. */
function isEncodedAssetId(encoded: string, assetId: string): boolean {
  const bytes = utf8ToBytes(assetId);
  return (
    encoded === btoa(String.fromCharCode(...bytes)) || encoded.toLowerCase() === prefixedHex(keccak256(bytes))
  );
}
