import type { SignatureType } from '../../model/asset.js';
import type { AssetName } from '../../model/asset_map.js';
import { parseTimeNs, type TimeNs } from '../../model/time.js';
import { SIGNATURE_TYPE_PATTERN } from '../../wire/signatures.js';
import { candleOf, candleText, type Holding, holdingText, readHolding } from '../records/holding.js';

/** The entry that a process appends when it has written everything, and stops. */
export const CLOSED_ENTRY = '{"closed":true}';

/** The entry before which aggregates of all assets may be missing, from the newest one to the next one. */
export const LOSS_ENTRY = '{"lost":true}';

/** An input of a publisher for an asset, and the updates that its window remembers. */
export interface InputEntry {
  readonly asset: AssetName;
  /** The hex digits of the publisher's key. */
  readonly key: string;
  /** True if the entry has the whole window. Otherwise it has the updates that are new since the last entry of the pair. */
  readonly isWhole: boolean;
  /** The text of `log/records/accepted_input.ts`. */
  readonly accepted: string;
}

/** A value that outlives a process, such as a time that signatures may have used. */
export interface MarkEntry {
  readonly kind: string;
  readonly number: number;
  /** `undefined` for a mark that was removed. */
  readonly value: string | undefined;
}

/** Receives the entries of a log. */
export interface EntryReceiver {
  holding(asset: AssetName, holding: Holding): void;
  /** The running minute of an asset has closed, because later prices of the minute may be missing. */
  minuteClosed(asset: AssetName): void;
  input(entry: InputEntry): void;
  mark(entry: MarkEntry): void;
}

/**
 * Returns the entry of an asset's newest state:
 *
 *     {"at":"…","minute":[…],"aggregate":{…}}     the record of `log/records/holding.ts`
 *     {"ended":"BTCUSD","type":"evm","at":"…","minute":[…]}     or "gap"
 *
 * Each entry has the whole state, so the last entry is right, also if earlier entries come again.
 */
export function holdingEntry(asset: AssetName, holding: Holding): string {
  if (holding.state === 'priced') return holdingText(holding);
  const { state, timeNs, minute } = holding;
  return `{"${state}":${nameText(asset)},"at":"${timeNs}"${minute === undefined ? '' : `,"minute":${candleText(minute)}`}}`;
}

export function closedMinuteEntry(asset: AssetName): string {
  return `{"minute_closed":${nameText(asset)}}`;
}

/** Returns the entry of an input. The input comes last, because it may contain any text. */
export function inputEntry({ asset, key, isWhole, accepted }: InputEntry): string {
  return `{"asset":${nameText(asset)},"key":"${key}"${isWhole ? ',"whole":true' : ''}${ACCEPTED}${accepted}}`;
}

export function markEntry({ kind, number, value }: MarkEntry): string {
  return JSON.stringify({ mark: kind, number, value: value ?? null });
}

const ACCEPTED = ',"accepted":';
const AGGREGATE = new RegExp(
  `^\\{"at":.{1,400}?,"aggregate":\\{"timestamp":\\d+,"asset_id":"([^"]+)","signature_type":"${SIGNATURE_TYPE_PATTERN}"`,
);

/**
 * Reads an entry. Entries of other kinds have no effect.
 * @throws Error when an entry cannot be read
 */
export function readEntry(entry: string, into: EntryReceiver): void {
  if (entry.startsWith('{"at":')) {
    const [, symbol, type] = AGGREGATE.exec(entry) ?? [];
    if (symbol === undefined) throw new Error(`an entry of the log cannot be read: ${entry.slice(0, 100)}`);
    into.holding({ symbol, signatureType: type as SignatureType }, readHolding(entry));
    return;
  }
  if (entry.startsWith('{"asset":')) {
    // The first match is right, because texts of JSON have no quotes.
    const at = entry.indexOf(ACCEPTED);
    const { asset, type, key, whole = false }: InputHead = JSON.parse(`${entry.slice(0, at)}}`);
    const name = { symbol: asset, signatureType: type };
    into.input({ asset: name, key, isWhole: whole, accepted: entry.slice(at + ACCEPTED.length, -1) });
    return;
  }
  const read: SmallEntry = JSON.parse(entry);
  const symbol = read.ended ?? read.gap;
  if (symbol !== undefined) {
    const minute = read.minute === undefined ? undefined : candleOf(read.minute);
    const state = read.ended === undefined ? 'gap' : 'ended';
    into.holding({ symbol, signatureType: read.type! }, { state, timeNs: timeOf(read.at!), minute });
  } else if (read.minute_closed !== undefined)
    into.minuteClosed({ symbol: read.minute_closed, signatureType: read.type! });
  else if (read.mark !== undefined)
    into.mark({ kind: read.mark, number: read.number!, value: read.value ?? undefined });
}

interface SmallEntry {
  readonly ended?: string;
  readonly gap?: string;
  readonly minute_closed?: string;
  readonly type?: SignatureType;
  readonly at?: string;
  readonly minute?: [number, number, number, number, number];
  readonly mark?: string;
  readonly number?: number;
  readonly value?: string | null;
}

interface InputHead {
  readonly asset: string;
  readonly type: SignatureType;
  readonly key: string;
  readonly whole?: boolean;
}

function nameText({ symbol, signatureType }: AssetName): string {
  return `${JSON.stringify(symbol)},"type":"${signatureType}"`;
}

function timeOf(text: string): TimeNs {
  const timeNs = parseTimeNs(text);
  if (timeNs === undefined) throw new Error(`an entry of the log has an invalid time: ${text}`);
  return timeNs;
}
