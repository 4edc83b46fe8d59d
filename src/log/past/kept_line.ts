import { type EvmAggregate, evmAggregateHash, evmPriceHash } from '../../crypto/evm.js';
import { parseHex, toHex } from '../../model/hex.js';
import type { Price } from '../../model/price.js';
import type { TimeNs } from '../../model/time.js';
import { inputTexts, readInputLine } from '../../wire/aggregate_line.js';
import { SIGNATURES, WORD_BYTES } from '../../wire/signatures.js';

/** An aggregate as the files of an hour keep it. */
export interface SplitLine {
  /** The line without its inputs, as {@link wholeLine} expects it. */
  readonly head: string;
  /** The texts of the inputs; `undefined` if the line has none, or if they stay in `head`, because the line has another form. */
  readonly inputs: readonly string[] | undefined;
}

const BEFORE_INPUTS = ',"signed_prices":';
const HASH = /"msg_hash":"0x[0-9a-f]{64}"/;
const NO_HASH = '"msg_hash":""';
/** The text before a hash. The first one in a text is that of the aggregate or input; metadata comes later. */
const BEFORE_HASH = '"msg_hash":"';
/** A hash for the pattern of an input, which needs one. */
const ANY_HASH = `"msg_hash":"0x${'0'.repeat(2 * WORD_BYTES)}"`;
/**
 * The pattern of an EVM aggregate without its hash, with the texts that the hash covers. It need not be exact, because a hash is left out only if
 * reading gives it again.
 */
const KEPT_HEAD = new RegExp(
  '^\\{"timestamp":\\d+,"asset_id":"([^"\\\\]+)","signature_type":"evm","trigger":"[a-z]+","price":"(-?\\d{1,40})",' +
    '"[^"]+":\\{"public_key":"(0x[0-9a-fA-F]+)",[^}]*\\},"timestamp":(\\d{1,19}),"msg_hash":""\\},' +
    '"publisher_merkle_root":"(0x[0-9a-f]{64})",[^}]*"checksum":"([0-9a-f]{64})"\\}\\}\\}$',
);

/**
 * Splits a line into the texts from which {@link wholeLine} makes exactly this line again. An EVM `msg_hash` that follows from the other fields
 * is left empty, because it would be a quarter of a file.
 */
export function splitLine(line: string): SplitLine {
  const at = line.indexOf(BEFORE_INPUTS);
  if (at < 0) return { head: keptHead(line), inputs: undefined };
  const list = line.slice(at + BEFORE_INPUTS.length, -1);
  const inputs = inputTexts(list);
  if (inputs === undefined || `[${inputs.join()}]` !== list || !line.endsWith('}'))
    return { head: line, inputs: undefined };
  return { head: keptHead(`${line.slice(0, at)}}`), inputs };
}

/** Joins the kept head of a line and the list of its whole inputs; without inputs the line has no `signed_prices`. */
export function wholeLine(head: string, inputs: string | undefined): string {
  const whole = wholeHead(head);
  return inputs === undefined ? whole : `${whole.slice(0, -1)}${BEFORE_INPUTS}${inputs}}`;
}

/** Returns a line without its inputs. */
export function withoutInputs(line: string): string {
  const at = line.indexOf(BEFORE_INPUTS);
  return at < 0 ? line : `${line.slice(0, at)}}`;
}

/** Returns an input as the files keep it, from which {@link wholeInput} makes exactly this input again. */
export function keptInput(text: string): string {
  const kept = text.replace(HASH, NO_HASH);
  return wholeInput(kept) === text ? kept : text;
}

export function wholeInput(kept: string): string {
  const at = placeOfHash(kept);
  return at < 0 ? kept : withHash(kept, at, inputHash);
}

function keptHead(text: string): string {
  const kept = text.replace(HASH, NO_HASH);
  return wholeHead(kept) === text ? kept : text;
}

function wholeHead(kept: string): string {
  const at = placeOfHash(kept);
  return at < 0 ? kept : withHash(kept, at, aggregateHash);
}

/** Returns the place of a hash that was left out; -1 if the text has its hash. */
function placeOfHash(kept: string): number {
  const at = kept.indexOf(BEFORE_HASH);
  return kept.startsWith(NO_HASH, at) ? at : -1;
}

/** Puts a computed hash into the place of the empty one. A text whose hash cannot be computed stays. */
function withHash(kept: string, at: number, hashOf: (kept: string) => Buffer | undefined): string {
  const hash = hashOf(kept);
  if (hash === undefined) return kept;
  return `${kept.slice(0, at)}"msg_hash":"${toHex(hash)}"${kept.slice(at + NO_HASH.length)}`;
}

/** The bytes of the last address and checksum. Successive aggregates have the same. */
let last: { readonly key: string; readonly checksum: string } & Pick<EvmAggregate, 'address'> & {
    readonly checksumBytes: Buffer;
  } = { key: '', checksum: '', address: Buffer.alloc(0), checksumBytes: Buffer.alloc(0) };

function aggregateHash(kept: string): Buffer | undefined {
  const found = KEPT_HEAD.exec(kept);
  if (found === null) return undefined;
  const [, symbol = '', price = '', key = '', time = '', root = '', checksum = ''] = found;
  if (last.key !== key || last.checksum !== checksum) {
    const address = parseHex(key, SIGNATURES.evm.keyBytes);
    if (address === undefined) return undefined;
    last = { key, checksum, address, checksumBytes: Buffer.from(checksum, 'hex') };
  }
  return evmAggregateHash({
    address: last.address,
    symbol,
    signedAtNs: BigInt(time) as TimeNs,
    price: BigInt(price) as Price,
    merkleRoot: parseHex(root, WORD_BYTES)!,
    checksum: last.checksumBytes,
  });
}

function inputHash(kept: string): Buffer | undefined {
  const line = readInputLine(kept.replace(NO_HASH, ANY_HASH));
  const address = line && parseHex(line.texts.publisherKey, SIGNATURES.evm.keyBytes);
  if (line === undefined || address === undefined) return undefined;
  const { externalAssetId, price } = line.texts;
  return evmPriceHash(address, externalAssetId, BigInt(line.timestamp) as TimeNs, BigInt(price) as Price);
}
