import { SERVICE_NAME_PATTERN, signedPriceField } from './service_name.js';
import type { AggregationType } from './signatures.js';

/** The texts of an EVM aggregate in exactly the form that the service writes. */
export interface AggregateLine {
  /** The newest time of the inputs: digits. */
  readonly timestamp: string;
  readonly symbol: string;
  readonly trigger: string;
  /** The price of the aggregate and of its signed price: digits. */
  readonly price: string;
  /** The name of the field with the service's signature. */
  readonly field: string;
  readonly publicKey: string;
  readonly encodedAssetId: string;
  readonly r: string;
  readonly s: string;
  readonly v: string;
  /** The time of the signature: digits. */
  readonly signedAt: string;
  readonly msgHash: string;
  readonly merkleRoot: string;
  readonly algorithm: AggregationType;
  readonly version: string;
  /** The checksum: 64 hex digits. */
  readonly checksum: string;
  /** The JSON array of the inputs; `undefined` when the service no longer has the inputs. */
  readonly inputs: string | undefined;
}

/** The texts of an input in exactly the form that the service writes. */
export interface InputLine {
  readonly publisherKey: string;
  readonly externalAssetId: string;
  readonly price: string;
  readonly r: string;
  readonly s: string;
  readonly v: string;
  readonly timestamp: string;
  readonly msgHash: string;
}

const TEXT = '"([^"\\\\\\x00-\\x1f]+)"';
const PRICE = '"(0|-?[1-9][0-9]{0,39})"';
const TIME = '(0|[1-9][0-9]{0,18})';
const ADDRESS = '"(0x[0-9a-fA-F]{40})"';
const WORD = '"(0x[0-9a-f]{64})"';
/** The pattern of a publisher's number. The service shows the publisher's text unchanged. */
const HEX = '"(0x[0-9a-fA-F]{1,64})"';

/** The text before the inputs. No earlier string contains a quote, so the first occurrence is the right occurrence. */
const BEFORE_INPUTS = ',"signed_prices":';
const [INPUTS_BEGIN, INPUTS_END] = ['[{', '}]'];

/** The pattern of an aggregate up to its inputs. A pattern that includes the inputs takes three times as long. */
const AGGREGATE = new RegExp(
  `^\\{"timestamp":${TIME},"asset_id":${TEXT},"signature_type":"evm","trigger":"([a-z]+)","price":${PRICE},` +
    `"(${signedPriceField(SERVICE_NAME_PATTERN)})":\\{"public_key":${ADDRESS},"encoded_asset_id":${TEXT},"price":"\\4",` +
    `"timestamped_signature":\\{"signature":\\{"r":${WORD},"s":${WORD},"v":"(0x1[bc])"\\},"timestamp":${TIME},"msg_hash":${WORD}\\},` +
    `"publisher_merkle_root":${WORD},"calculation_alg":\\{"type":"(median|average|weighted average)","version":${TEXT},` +
    `"checksum":"([0-9a-f]{64})"\\}\\}$`,
);

const INPUT = new RegExp(
  `^"publisher_key":${ADDRESS},"external_asset_id":${TEXT},"signature_type":"evm","price":${PRICE},` +
    `"timestamped_signature":\\{"signature":\\{"r":${HEX},"s":${HEX},"v":"(0x(?:1[bcBC]|0|1))"\\},"timestamp":${TIME},` +
    `"msg_hash":${HEX}\\}(?:,"metadata":(\\{.*\\}))?$`,
);

/**
 * Reads an aggregate without a JSON parser, in a tenth of the time.
 * @returns `undefined` when the text has a different form; such a text may still be an aggregate
 */
export function readAggregateLine(line: string): AggregateLine | undefined {
  if (!line.endsWith('}')) return undefined;
  const headEnd = line.indexOf(BEFORE_INPUTS);
  const found = AGGREGATE.exec(line.slice(0, headEnd === -1 ? -1 : headEnd));
  if (found === null) return undefined;
  const inputs = headEnd === -1 ? undefined : line.slice(headEnd + BEFORE_INPUTS.length, -1);
  if (inputs !== undefined && !(inputs.startsWith(INPUTS_BEGIN) && inputs.endsWith(INPUTS_END)))
    return undefined;
  return {
    timestamp: found[1]!,
    symbol: found[2]!,
    trigger: found[3]!,
    price: found[4]!,
    field: found[5]!,
    publicKey: found[6]!,
    encodedAssetId: found[7]!,
    r: found[8]!,
    s: found[9]!,
    v: found[10]!,
    signedAt: found[11]!,
    msgHash: found[12]!,
    merkleRoot: found[13]!,
    algorithm: found[14] as AggregationType,
    version: found[15]!,
    checksum: found[16]!,
    inputs,
  };
}

/** Returns the inputs of {@link AggregateLine.inputs}, each without its outer braces. */
export function inputTexts(inputs: string): string[] {
  return inputs.slice(INPUTS_BEGIN!.length, -INPUTS_END!.length).split('},{');
}

/**
 * Reads a text of {@link inputTexts}.
 * @returns `undefined` when the text has a different form; such a text may still be an input
 */
export function readInputLine(text: string): InputLine | undefined {
  const found = INPUT.exec(text);
  if (found === null) return undefined;
  const metadata = found[9];
  if (metadata !== undefined && !isJson(metadata)) return undefined;
  return {
    publisherKey: found[1]!,
    externalAssetId: found[2]!,
    price: found[3]!,
    r: found[4]!,
    s: found[5]!,
    v: found[6]!,
    timestamp: found[7]!,
    msgHash: found[8]!,
  };
}

/** Returns whether a text is a single JSON value. A single value cannot end early and add its own fields to the message. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
