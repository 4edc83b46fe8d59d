import { AGGREGATION_TYPES, type AggregationType } from './algorithms.js';
import { SERVICE_NAME_PATTERN, signedPriceField } from './service_name.js';
import { SIGNATURE_TYPE_PATTERN, type SignatureType } from './signatures.js';

// An aggregate is one line of JSON: the text that REST shows. It is written once, when the aggregate is signed. Logs, streams, other nodes
// and readers receive the same line.

/** The texts of a signature and of the hash that it signs. An aggregate has `0x` and 64 lower-case hex digits in each. */
export interface SignatureTexts {
  readonly r: string;
  readonly s: string;
  /** The recovery value; absent in Stark signatures. A publisher may write any text there, because Stark signatures need no `v`. */
  readonly v: string | undefined;
  readonly msgHash: string;
}

/** The texts of an aggregate. Texts of JSON strings are without quotation marks and escapes. */
export interface AggregateLine extends SignatureTexts {
  /** The newest time of the inputs: digits. */
  readonly timestamp: string;
  readonly symbol: string;
  readonly signatureType: SignatureType;
  readonly trigger: string;
  /** The price of the aggregate and of its signed price: digits. */
  readonly price: string;
  /** The name of the field with the service's signature. */
  readonly field: string;
  readonly publicKey: string;
  readonly encodedAssetId: string;
  /** The time of the signature: digits. */
  readonly signedAt: string;
  readonly merkleRoot: string;
  readonly algorithm: AggregationType;
  readonly version: string;
  /** The checksum: 64 hex digits. */
  readonly checksum: string;
  /** The JSON array of the inputs; `undefined` when the service no longer has the inputs. */
  readonly inputs: string | undefined;
}

/** The texts that a publisher wrote: hex is in either case, with or without leading zeros. The service passes them on unchanged. */
export interface InputTexts extends SignatureTexts {
  readonly publisherKey: string;
  readonly externalAssetId: string;
  readonly price: string;
  /** The JSON text of `metadata`, with every received digit; absent when the publisher sent none. */
  readonly metadata: string | undefined;
}

export interface InputLine {
  readonly signatureType: SignatureType;
  /** The time of the input: digits. */
  readonly timestamp: string;
  readonly texts: InputTexts;
}

/**
 * Writes an aggregate. The function does not use `JSON.stringify` for the whole, because a `number` cannot hold a timestamp, and because
 * publishers' texts must stay exactly as received.
 */
export function writeLine(of: AggregateLine): string {
  return (
    `{"timestamp":${of.timestamp},"asset_id":${JSON.stringify(of.symbol)},"signature_type":"${of.signatureType}",` +
    `"trigger":"${of.trigger}","price":"${of.price}","${of.field}":{"public_key":"${of.publicKey}",` +
    `"encoded_asset_id":${JSON.stringify(of.encodedAssetId)},"price":"${of.price}",` +
    `${signatureText(of, of.signedAt)},"publisher_merkle_root":"${of.merkleRoot}",` +
    `"calculation_alg":{"type":"${of.algorithm}","version":${JSON.stringify(of.version)},"checksum":"${of.checksum}"}}` +
    `${of.inputs === undefined ? '' : `${BEFORE_INPUTS}${of.inputs}`}}`
  );
}

/** Writes an input as an object of `signed_prices`. @param time the time of the input */
export function writeInput(of: InputTexts, signatureType: SignatureType, time: string): string {
  const metadata = of.metadata === undefined ? '' : `${BEFORE_METADATA}${of.metadata}`;
  return (
    `{"publisher_key":"${of.publisherKey}","external_asset_id":${JSON.stringify(of.externalAssetId)},` +
    `"signature_type":"${signatureType}","price":"${of.price}",${signatureText(of, time)}${metadata}}`
  );
}

function signatureText({ r, s, v, msgHash }: SignatureTexts, time: string) {
  const recovery = v === undefined ? '' : `,"v":${JSON.stringify(v)}`;
  return `"timestamped_signature":{"signature":{"r":"${r}","s":"${s}"${recovery}},"timestamp":${time},"msg_hash":"${msgHash}"}`;
}

/** The text before the inputs. Inside a JSON string, a quotation mark follows a backslash, so no string contains this text. */
const BEFORE_INPUTS = ',"signed_prices":';
const BEFORE_METADATA = ',"metadata":';
/** The text between two inputs. No string contains it; `metadata` may contain it. */
const BETWEEN_INPUTS = '},{"publisher_key":"';

/** The pattern of a string's text between its quotation marks. */
const TEXT = '([^"\\\\\\x00-\\x1f]*(?:\\\\.[^"\\\\\\x00-\\x1f]*)*)';
const PRICE = '"(0|-?[1-9][0-9]{0,39})"';
const TIME = '(0|[1-9][0-9]{0,18})';
const WORD = '"(0x[0-9a-f]{64})"';
const HEX = '"(0x[0-9a-fA-F]{1,64})"';
const TYPE = `"${SIGNATURE_TYPE_PATTERN}"`;

/** The pattern of an aggregate up to its inputs. A pattern that includes the inputs takes three times as long. */
const AGGREGATE = new RegExp(
  `^\\{"timestamp":${TIME},"asset_id":"${TEXT}","signature_type":${TYPE},"trigger":"([a-z]+)","price":${PRICE},` +
    `"(${signedPriceField(SERVICE_NAME_PATTERN)})":\\{"public_key":${HEX},"encoded_asset_id":"${TEXT}","price":"\\5",` +
    `"timestamped_signature":\\{"signature":\\{"r":${WORD},"s":${WORD}(?:,"v":"(0x1[bc])")?\\},"timestamp":${TIME},"msg_hash":${WORD}\\},` +
    `"publisher_merkle_root":${WORD},"calculation_alg":\\{"type":"(${AGGREGATION_TYPES.join('|')})","version":"${TEXT}",` +
    `"checksum":"([0-9a-f]{64})"\\}\\}$`,
);

const INPUT = new RegExp(
  `^\\{"publisher_key":${HEX},"external_asset_id":"${TEXT}","signature_type":${TYPE},"price":${PRICE},` +
    `"timestamped_signature":\\{"signature":\\{"r":${HEX},"s":${HEX}(?:,"v":"${TEXT}")?\\},"timestamp":${TIME},` +
    `"msg_hash":${HEX}\\}(?:${BEFORE_METADATA}(\\{.*\\}|null))?\\}$`,
  's',
);

/**
 * Reads a line of {@link writeLine}. Takes a tenth of the time of a JSON parser that keeps all digits.
 * @returns `undefined` when the text has a different form; such a text of another service may still be an aggregate
 */
export function readAggregateLine(line: string): AggregateLine | undefined {
  if (!line.endsWith('}')) return undefined;
  const headEnd = line.indexOf(BEFORE_INPUTS);
  const found = AGGREGATE.exec(line.slice(0, headEnd === -1 ? -1 : headEnd));
  if (found === null) return undefined;
  const inputs = headEnd === -1 ? undefined : line.slice(headEnd + BEFORE_INPUTS.length, -1);
  if (inputs !== undefined && !isList(inputs)) return undefined;
  const [symbol, encodedAssetId, version] = [textOf(found[2]!), textOf(found[8]!), textOf(found[16]!)];
  if (symbol === undefined || encodedAssetId === undefined || version === undefined) return undefined;
  return {
    timestamp: found[1]!,
    symbol,
    signatureType: found[3] as SignatureType,
    trigger: found[4]!,
    price: found[5]!,
    field: found[6]!,
    publicKey: found[7]!,
    encodedAssetId,
    r: found[9]!,
    s: found[10]!,
    v: found[11],
    signedAt: found[12]!,
    msgHash: found[13]!,
    merkleRoot: found[14]!,
    algorithm: found[15] as AggregationType,
    version,
    checksum: found[17]!,
    inputs,
  };
}

/**
 * Returns the objects of {@link AggregateLine.inputs}, as {@link writeInput} wrote them.
 * @returns `undefined` when the text is not a list of objects that {@link readInputLine} could read
 */
export function inputTexts(inputs: string): string[] | undefined {
  if (inputs === '[]') return [];
  if (inputs.includes(BEFORE_METADATA)) {
    const texts = objectsOf(inputs);
    return `[${texts.join()}]` === inputs ? texts : undefined;
  }
  const texts = inputs.slice(1, -1).split(BETWEEN_INPUTS);
  const last = texts.length - 1;
  return texts.map((text, i) => `${i === 0 ? '' : BETWEEN_INPUTS.slice(2)}${text}${i === last ? '' : '}'}`);
}

/**
 * Reads a text of {@link inputTexts}.
 * @returns `undefined` when the text has a different form; such a text of another service may still be an input
 */
export function readInputLine(text: string): InputLine | undefined {
  const found = INPUT.exec(text);
  if (found === null) return undefined;
  const metadata = found[10];
  if (metadata !== undefined && !isJson(metadata)) return undefined;
  const [externalAssetId, v] = [textOf(found[2]!), found[7] === undefined ? undefined : textOf(found[7])];
  if (externalAssetId === undefined || (v === undefined && found[7] !== undefined)) return undefined;
  const [publisherKey, price, r, s, msgHash] = [found[1]!, found[4]!, found[5]!, found[6]!, found[9]!];
  return {
    signatureType: found[3] as SignatureType,
    timestamp: found[8]!,
    texts: { publisherKey, externalAssetId, price, r, s, v, msgHash, metadata },
  };
}

function isList(text: string): boolean {
  return text === '[]' || (text.startsWith('[{') && text.endsWith('}]'));
}

/** Splits a list of objects, whatever the objects contain. */
function objectsOf(list: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  let start = 1;
  // A match is a whole string, or a bracket outside strings.
  for (const { 0: token, index } of list.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/gs)) {
    if (token === '{' && depth++ === 0) start = index;
    if (token === '}' && --depth === 0) texts.push(list.slice(start, index + 1));
  }
  return texts;
}

/** Returns the text of a JSON string; `undefined` for an escape that JSON does not have. */
function textOf(between: string): string | undefined {
  if (!between.includes('\\')) return between;
  try {
    return JSON.parse(`"${between}"`) as string;
  } catch {
    return undefined;
  }
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
