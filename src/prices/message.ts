import { isLosslessNumber, parse as parseLossless, stringify as stringifyLossless } from 'lossless-json';
import type { InputTexts } from '../wire/aggregate_line.js';
import { DOCUMENT_PATHS } from '../wire/paths.js';
import { SIGNED_PRICES_TYPE, TRACE_ID_LENGTH_MAX } from '../wire/publish_message.js';
import { type MessageLimits, readTraceId } from './message_limits.js';
import { Rejections } from './rejections.js';
import { countKeys, DEPTH_MAX, exactExcessOf, excessOf, hasEscapedKey, mayRepeatKeys } from './structure.js';

/** An update of a publish message with the received texts. The service has not verified any part of the update. */
export interface RawUpdate extends InputTexts {
  /** The update's key in `data`. */
  readonly symbol: string;
  readonly assetId: string;
  readonly signatureType: string;
  /** The nanosecond timestamp in decimal digits. */
  readonly timestamp: string;
}

/** A publish message that was read without an error. */
export interface ReadMessage {
  readonly ok: true;
  readonly traceId: string | undefined;
  readonly updates: readonly RawUpdate[];
  /** The reasons for updates with an invalid shape, by symbol. Invalid updates do not affect the other updates. */
  readonly malformed: ReadonlyMap<string, string>;
  /** The fault of `trace_id`. The prices do not depend on this field. */
  readonly fault?: string;
  /** The length of the message's text. */
  readonly length: number;
  /** True when a node sent the message before to a leader that did not answer. The updates may already have taken effect. */
  readonly again?: boolean;
  /** The form in which another thread or node sent the message. This thread passes the message on in the same form. */
  readonly packed?: PackedMessage;
}

/** A message in the form for another thread. Sending this form takes half the time of sending objects. */
export interface PackedMessage {
  readonly traceId: string | undefined;
  readonly length: number;
  /** A JSON text: the malformed updates as pairs, and the texts of each update in a fixed order. */
  readonly content: string;
}

export type PublishMessage =
  | ReadMessage
  | { readonly ok: false; readonly traceId: string | undefined; readonly error: string };

/**
 * The deepest nesting of `metadata`. The limits of `metadata` are small, because each answer that shows the update contains a
 * copy of `metadata`.
 */
export const METADATA_DEPTH_MAX = 16;
export const METADATA_VALUES_MAX = 256;
export const METADATA_LENGTH_MAX = 4_096;

/**
 * Reads one publish message.
 *
 * A nanosecond timestamp does not fit a double, so `JSON.parse` would round it. Therefore the function first puts the digits of
 * timestamps in quotation marks, which costs 0.5 µs for each message. A parser that keeps every digit takes five times as long as
 * `JSON.parse`. The function uses this slow parser only for three kinds of messages: messages that quotation marks cannot make
 * exact (numbers in `metadata`), messages with an escape in a key, and messages that may contain a key twice.
 */
export function readPublishMessage(
  text: string,
  updatesMax: number,
  traceIdLengthMax = TRACE_ID_LENGTH_MAX,
): PublishMessage {
  const limits = { updatesMax, traceIdLengthMax };
  const excess = excessOf(text, updatesMax);
  if (excess !== undefined) return refusedMessage(undefined, excess);
  let message: unknown;
  try {
    message = JSON.parse(text.replace(TIMESTAMP_DIGITS, '$1"$2"'));
  } catch {
    return refusedMessage(undefined, `the message is not JSON${FORM}`);
  }
  const keys = countKeys(message);
  if (keys === undefined) return refusedMessage(undefined, `the message nests deeper than ${DEPTH_MAX}`);
  if (!hasEscapedKey(text) && !mayRepeatKeys(text, keys)) {
    const read = readEnvelope(message, text.length, limits, false);
    if (read !== INEXACT) return read;
  }
  return readExactly(text, limits);
}

function readExactly(text: string, limits: MessageLimits): PublishMessage {
  const excess = exactExcessOf(text);
  if (excess !== undefined) return refusedMessage(undefined, excess);
  let message: unknown;
  try {
    message = parseLossless(text, undefined, { onDuplicateKey: refuseDuplicate });
  } catch (error) {
    const reason = error instanceof SyntaxError ? error.message.slice(0, 200) : 'it nests too deep';
    return refusedMessage(undefined, `the message is not JSON: ${reason}`);
  }
  return readEnvelope(message, text.length, limits, true) as PublishMessage;
}

/** The end of each error about the form of a message. */
export const FORM = `: ${DOCUMENT_PATHS.asyncApi} has the form of a message`;

/**
 * Matches an integer `timestamp`. Other checks cover the text after the integer: the gate refuses the digits of a fraction or an
 * exponent, and the parser refuses leading zeros.
 */
const TIMESTAMP_DIGITS = /("timestamp"\s*:\s*)(-?(?:0|[1-9]\d*))(?=\s*[,}])/g;

/**
 * Refuses a key with two different values, because parsers differ in the value that they keep. A key with the same value twice is
 * harmless.
 */
function refuseDuplicate({ key }: { readonly key: string }): never {
  throw new SyntaxError(`the key ${JSON.stringify(key)} comes twice in one object`);
}

/**
 * The result of a read when `JSON.parse` may have lost digits of a value. The parser that keeps every digit never gives this
 * result.
 */
const INEXACT = Symbol('inexact');

function readEnvelope(
  message: unknown,
  length: number,
  { updatesMax, traceIdLengthMax }: MessageLimits,
  exact: boolean,
): PublishMessage | typeof INEXACT {
  if (!isObject(message)) return refusedMessage(undefined, `the message is not a JSON object${FORM}`);
  const { trace, fault } = readTraceId(message['trace_id'], traceIdLengthMax);
  if (message['type'] !== SIGNED_PRICES_TYPE)
    return refusedMessage(trace, `type is not "${SIGNED_PRICES_TYPE}"${FORM}`);
  const data = message['data'];
  if (!isObject(data)) return refusedMessage(trace, `data is not an object of symbol to update${FORM}`);
  const symbols = Object.keys(data);
  if (symbols.length > updatesMax)
    return refusedMessage(
      trace,
      `data holds ${symbols.length} updates, updates_per_message is ${updatesMax}`,
    );

  const updates: RawUpdate[] = [];
  const malformed = new Rejections();
  for (const symbol of symbols) {
    const update = readUpdate(symbol, data[symbol], exact);
    if (update === INEXACT) return INEXACT;
    if (typeof update === 'string') malformed.add(symbol, update + FORM);
    else updates.push(update);
  }
  const read = { ok: true, traceId: trace, updates, malformed: malformed.reasons, length } as const;
  return fault === undefined ? read : { ...read, fault };
}

function refusedMessage(traceId: string | undefined, error: string): PublishMessage {
  return { ok: false, traceId, error };
}

/** @returns the update, the reason why the update is invalid, or {@link INEXACT} */
function readUpdate(symbol: string, update: unknown, exact: boolean): RawUpdate | string | typeof INEXACT {
  if (!isObject(update)) return 'the update is not an object';
  const signed = update['signed_price'];
  if (!isObject(signed)) return 'signed_price is not an object';
  const stamped = signed['timestamped_signature'];
  if (!isObject(stamped)) return 'timestamped_signature is not an object';
  const signature = stamped['signature'];
  if (!isObject(signature)) return 'signature is not an object';

  for (const name of ['oracle_id', 'trigger']) {
    const value = update[name];
    if (value !== undefined && typeof value !== 'string') return `${name} is not a string`;
  }
  const { asset_id: assetId } = update;
  const { publisher_key: publisherKey, external_asset_id: externalAssetId } = signed;
  const { signature_type: signatureType, price } = signed;
  const { msg_hash: msgHash } = stamped;
  const { r, s, v } = signature;
  if (typeof assetId !== 'string') return 'asset_id is not a string';
  if (typeof publisherKey !== 'string') return 'publisher_key is not a string';
  if (typeof externalAssetId !== 'string') return 'external_asset_id is not a string';
  if (typeof signatureType !== 'string') return 'signature_type is not a string';
  if (typeof price !== 'string') return 'price is not a string';
  if (typeof msgHash !== 'string') return 'msg_hash is not a string';
  if (typeof r !== 'string') return 'signature r is not a string';
  if (typeof s !== 'string') return 'signature s is not a string';
  if (v !== undefined && typeof v !== 'string') return 'signature v is not a string';

  const timestamp = readTimestamp(stamped['timestamp']);
  if (timestamp === INEXACT) return INEXACT;
  if (timestamp === undefined) return 'timestamp is not an integer of nanoseconds';
  const metadata = readMetadata(signed['metadata'], exact);
  if (metadata === INEXACT) return INEXACT;
  if (metadata instanceof Error) return metadata.message;
  return {
    symbol,
    assetId,
    publisherKey,
    externalAssetId,
    signatureType,
    price,
    timestamp,
    r,
    s,
    v,
    msgHash,
    metadata,
  };
}

function readTimestamp(value: unknown): string | undefined | typeof INEXACT {
  if (typeof value === 'string') return value;
  if (isLosslessNumber(value)) return value.value;
  return typeof value === 'number' ? INEXACT : undefined;
}

/** @returns the JSON text, `undefined` without `metadata`, the reason why `metadata` is invalid, or {@link INEXACT} */
function readMetadata(value: unknown, exact: boolean): string | undefined | Error | typeof INEXACT {
  if (value === undefined) return undefined;
  if (value === null) return 'null';
  if (!isObject(value)) return new Error('metadata is not an object');
  const valuesLeft = spendValues(value, METADATA_VALUES_MAX, METADATA_DEPTH_MAX);
  if (valuesLeft === 'too deep') return new Error(`metadata nests deeper than ${METADATA_DEPTH_MAX}`);
  if (valuesLeft < 0) return new Error(`metadata holds more than ${METADATA_VALUES_MAX} values`);
  if (!exact && mayHaveLostDigits(value)) return INEXACT;
  const text = exact ? stringifyLossless(value)! : JSON.stringify(value);
  return text.length <= METADATA_LENGTH_MAX
    ? text
    : new Error(`metadata is longer than ${METADATA_LENGTH_MAX} characters`);
}

/**
 * Reads the JSON text of `metadata` that {@link readPublishMessage} wrote on another machine, with the same limits. Answers
 * contain this text unchanged.
 * @returns the text, written again from the parsed value; `undefined` when the text is not valid metadata
 */
export function readMetadataText(text: string): string | undefined {
  if (text.length > METADATA_LENGTH_MAX) return undefined;
  try {
    const quick = readMetadata(JSON.parse(text), false);
    if (quick === text) return text;
    const exact = readMetadata(parseLossless(text, undefined, { onDuplicateKey: refuseDuplicate }), true);
    return typeof exact === 'string' ? exact : undefined;
  } catch {
    return undefined;
  }
}

/** @returns the number of values that are still allowed after `value`; the function stops when the number is below 0 */
function spendValues(value: unknown, valuesLeft: number, depthLeft: number): number | 'too deep' {
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return valuesLeft;
  if (depthLeft === 0) return 'too deep';
  const inner = Object.values(value);
  let left = valuesLeft - inner.length;
  for (let i = 0; i < inner.length && left >= 0; i++) {
    const rest = spendValues(inner[i], left, depthLeft - 1);
    if (rest === 'too deep') return rest;
    left = rest;
  }
  return left;
}

/**
 * Returns whether digits may be lost. `JSON.parse` may have rounded numbers. The quotation marks may also have changed the digits
 * of a publisher's own `timestamp`, or of a key that ends in `"timestamp` with an escaped quotation mark.
 */
function mayHaveLostDigits(value: unknown): boolean {
  if (typeof value === 'number') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => (key.endsWith('timestamp') && typeof inner === 'string') || mayHaveLostDigits(inner),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
