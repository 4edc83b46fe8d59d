import type { SignatureType } from '../../model/asset.js';
import type { AssetName } from '../../model/asset_map.js';
import { SIGNATURE_TYPE_PATTERN } from '../../wire/signatures.js';

/**
 * An entry in the past of an asset. `priced`: an aggregate. `ended`: the asset has no price. `gap`: entries of the asset are lost from this time
 * to its next entry.
 */
export type PastEntry = LineEntry | StateEntry;

export interface LineEntry {
  readonly kind: 'priced';
  /** The time at which the aggregate was signed. */
  readonly timeNs: bigint;
  /** True for a copy of an entry that an earlier hour has, and for an entry that the log of a cluster repeats. */
  readonly isCarried: boolean;
  /** The text of the aggregate; without `signed_prices` when the inputs are not kept or not wanted. */
  readonly line: string;
}

export interface StateEntry {
  readonly kind: StateKind;
  readonly timeNs: bigint;
  readonly isCarried: boolean;
}

export const STATE_KINDS = ['ended', 'gap'] as const;
export type StateKind = (typeof STATE_KINDS)[number];

/** The kind and the time of an entry, which order the entries of an asset. */
export interface EntryMoment {
  readonly kind: PastEntry['kind'];
  readonly timeNs: bigint;
}

/** An entry as a line of text, in the log and in the files of hours. */
export interface WrittenEntry extends EntryMoment {
  readonly assetKey: string;
  readonly text: string;
}

/** The separator between symbol and signature type. Symbols contain no spaces. */
const SEPARATOR = ' ';

/** Returns the name of an asset in the past, such as `BTCUSD evm`. It does not depend on the configuration. */
export function assetKeyOf({ symbol, signatureType }: AssetName): string {
  return `${symbol}${SEPARATOR}${signatureType}`;
}

export function nameOfKey(assetKey: string): AssetName {
  const [symbol, signatureType] = assetKey.split(SEPARATOR);
  return { symbol: symbol!, signatureType: signatureType as SignatureType };
}

/** Writes the entry of an asset without an aggregate, such as `{"ended":"BTCUSD","type":"evm","at":"1795482000000000000"}`. */
export function stateText(kind: StateKind, { symbol, signatureType }: AssetName, timeNs: bigint): string {
  return `{"${kind}":${JSON.stringify(symbol)},"type":"${signatureType}","at":"${timeNs}"}`;
}

const TEXT = '"((?:[^"\\\\]|\\\\.)*)"';
const TYPE = `"${SIGNATURE_TYPE_PATTERN}"`;
const AGGREGATE = new RegExp(`^\\{"timestamp":\\d+,"asset_id":${TEXT},"signature_type":${TYPE}`);
const STATE = new RegExp(`^\\{"(ended|gap)":${TEXT},"type":${TYPE},"at":"(\\d+)"`);
const LOSS = '{"lost":true}';
/** The text before the time at which an aggregate was signed. Inside a JSON string, a quotation mark follows a backslash. */
const BEFORE_TIME = '},"timestamp":';
const AGGREGATE_FIRST = '{"timestamp":';
/** The first text of a record of the log, and the text before the aggregate in it. */
const RECORD_FIRST = '{"at":"';
const BEFORE_AGGREGATE = ',"aggregate":';

/** Reads an entry. @returns `undefined` for another line of the log */
export function readEntry(record: string): WrittenEntry | undefined {
  const text = lineIn(record);
  if (text.startsWith(AGGREGATE_FIRST)) {
    const found = AGGREGATE.exec(text);
    const timeNs = signedAt(text);
    if (found === null || timeNs === undefined) return undefined;
    return { assetKey: keyOf(found[1]!, found[2]!), kind: 'priced', timeNs, text };
  }
  const found = STATE.exec(text);
  if (found === null) return undefined;
  const kind = found[1] as StateKind;
  return { assetKey: keyOf(found[2]!, found[3]!), kind, timeNs: BigInt(found[4]!), text };
}

/** Returns the line in a record of the log; another text stays. */
function lineIn(record: string): string {
  if (!record.startsWith(RECORD_FIRST)) return record;
  const at = record.indexOf(BEFORE_AGGREGATE);
  return at < 0 ? record : record.slice(at + BEFORE_AGGREGATE.length, -1);
}

/** Returns the entry of a line or record that is one. */
export function entryOf(record: string, isCarried: boolean, timeNs: bigint): PastEntry {
  const line = lineIn(record);
  if (line.startsWith(AGGREGATE_FIRST)) return { kind: 'priced', timeNs, isCarried, line };
  return { kind: STATE.exec(line)![1] as StateKind, timeNs, isCarried };
}

/** Returns whether a line of the log says that entries of all assets may be missing before it. */
export function isLoss(text: string): boolean {
  return text === LOSS;
}

/** Reads the price of a line. */
export function priceOf(line: string): bigint {
  return BigInt(/"price":"(-?\d+)"/.exec(line)?.[1] ?? 0);
}

/** Reads the time of an entry. @throws RangeError when the line is no entry */
export function timeOf(text: string): bigint {
  const timeNs = text.startsWith(AGGREGATE_FIRST) ? signedAt(text) : readEntry(text)?.timeNs;
  if (timeNs === undefined) throw new RangeError('a line is not an entry of the past');
  return timeNs;
}

/** Returns whether an entry comes after another entry of the same asset. A price may end at the time of its signature. */
export function isAfter(entry: EntryMoment, other: EntryMoment): boolean {
  if (entry.timeNs !== other.timeNs) return entry.timeNs > other.timeNs;
  return entry.kind !== 'priced' && other.kind === 'priced';
}

function signedAt(text: string): bigint | undefined {
  const before = text.indexOf(BEFORE_TIME);
  if (before < 0) return undefined;
  const from = before + BEFORE_TIME.length;
  let end = from;
  for (let code = text.charCodeAt(end); code >= 0x30 && code <= 0x39; code = text.charCodeAt(++end));
  return end === from ? undefined : BigInt(text.slice(from, end));
}

function keyOf(symbol: string, signatureType: string): string {
  const text = symbol.includes('\\') ? (JSON.parse(`"${symbol}"`) as string) : symbol;
  return `${text}${SEPARATOR}${signatureType}`;
}
