import type { AssetName } from '../../model/asset_map.js';
import type { PublisherPrice } from '../../model/signed_price.js';
import { NS_PER_SECOND, secondOf } from '../../model/time.js';
import { type AcceptedInput, acceptedText, readAcceptedText } from '../records/accepted_input.js';
import { type Holding, type MinuteCandle, pricedHolding } from '../records/holding.js';
import { SeenWindow } from '../records/seen_window.js';
import { inputText, readInputText } from '../records/signed_line.js';
import {
  type EntryReceiver,
  holdingEntry,
  type InputEntry,
  inputEntry,
  type MarkEntry,
  markEntry,
  readEntry,
} from './log_entries.js';

/** The newest state of an asset. */
export interface AssetState {
  readonly asset: AssetName;
  newest: Holding | undefined;
}

/** The newest input of a publisher for an asset. */
export interface InputState {
  readonly asset: AssetName;
  /** The hex digits of the publisher's key. */
  readonly key: string;
  accepted: AcceptedInput;
}

/** Called with an asset's minute that has closed. */
export type OnMinuteClosed = (asset: AssetName, minute: MinuteCandle) => void;

/**
 * Everything that a start reads: the newest state of each asset, the newest inputs, and the marks. The state is what the log says, so
 * reading a log again over a later state gives the same state.
 */
export class EntryState {
  readonly assets = new Map<string, AssetState>();
  readonly inputs = new Map<string, InputState>();
  readonly #marks = new Map<string, MarkEntry>();
  /** The greatest number of each mark since the state began to be read. */
  readonly #greatest = new Map<string, bigint>();
  readonly #onMinuteClosed: OnMinuteClosed;
  readonly #receiver: EntryReceiver;

  constructor(onMinuteClosed: OnMinuteClosed) {
    this.#onMinuteClosed = onMinuteClosed;
    this.#receiver = {
      holding: (asset, holding) => this.put(asset, holding),
      minuteClosed: (asset) => this.closeMinute(this.of(asset)),
      input: (entry) => this.#putInput(entry),
      mark: (entry) => this.#readMark(entry),
    };
  }

  /** Applies an entry of a log. @throws Error when the entry cannot be read */
  apply(entry: string): void {
    readEntry(entry, this.#receiver);
  }

  /** Returns the state as entries of a log. */
  *entries(): Iterable<string> {
    for (const { asset, newest } of this.assets.values())
      if (newest !== undefined) yield holdingEntry(asset, newest);
    for (const state of this.inputs.values()) yield wholeInputEntry(state);
    for (const mark of this.#marks.values()) yield markEntry(mark);
  }

  of({ symbol, signatureType }: AssetName): AssetState {
    const key = `${signatureType} ${symbol}`;
    let state = this.assets.get(key);
    if (state === undefined) {
      state = { asset: { symbol, signatureType }, newest: undefined };
      this.assets.set(key, state);
    }
    return state;
  }

  /** Returns the newest holding without a change of the state. */
  newest({ symbol, signatureType }: AssetName): Holding | undefined {
    return this.assets.get(`${signatureType} ${symbol}`)?.newest;
  }

  put(asset: AssetName, holding: Holding): void {
    const state = this.of(asset);
    const running = state.newest?.minute;
    // Reading a log again begins with earlier minutes.
    if (running !== undefined && holding.minute !== undefined && holding.minute.minute > running.minute)
      this.#onMinuteClosed(state.asset, running);
    state.newest = holding;
  }

  /** Closes the running minute, because later prices of the minute may be missing. */
  closeMinute(state: AssetState): void {
    const { newest } = state;
    if (newest?.minute === undefined) return;
    this.#onMinuteClosed(state.asset, newest.minute);
    state.newest = withoutMinute(newest);
  }

  /** Returns the state of the inputs of a pair of publisher and asset. */
  inputOf(asset: AssetName, key: string, accepted: AcceptedInput): InputState {
    const name = pairKey(asset, key);
    let state = this.inputs.get(name);
    if (state === undefined) {
      state = { asset: { symbol: asset.symbol, signatureType: asset.signatureType }, key, accepted };
      this.inputs.set(name, state);
    }
    state.accepted = accepted;
    return state;
  }

  mark(kind: string, number: number): string | undefined {
    return this.#marks.get(markKey(kind, number))?.value;
  }

  putMark(mark: MarkEntry): void {
    this.#marks.set(markKey(mark.kind, mark.number), mark);
  }

  /** Gives each mark that is a number its greatest value, because entries of the log are missing. */
  keepGreatestMarks(): void {
    for (const [key, greatest] of this.#greatest) {
      const mark = this.#marks.get(key)!;
      this.#marks.set(key, { ...mark, value: String(greatest) });
    }
  }

  /** Returns the newest UNIX second of all assets. */
  newestSecond(): number | undefined {
    let newestNs: bigint | undefined;
    for (const { newest } of this.assets.values())
      if (newest !== undefined && (newestNs === undefined || newest.timeNs > newestNs))
        newestNs = newest.timeNs;
    return newestNs === undefined ? undefined : Number(newestNs / NS_PER_SECOND);
  }

  #readMark(mark: MarkEntry): void {
    this.putMark(mark);
    if (mark.value === undefined || !/^\d+$/.test(mark.value)) return;
    const key = markKey(mark.kind, mark.number);
    const value = BigInt(mark.value);
    if (value > (this.#greatest.get(key) ?? -1n)) this.#greatest.set(key, value);
  }

  #putInput({ asset, key, isWhole, accepted }: InputEntry): void {
    const { input, seen } = readAcceptedText(accepted);
    const known = this.inputs.get(pairKey(asset, key))?.accepted;
    const window = known instanceof StoredInputText ? known.seen : new SeenWindow();
    if (isWhole) window.clear(seen.floorNs);
    else window.raiseFloor(seen.floorNs);
    const firstSecond = Number(secondOf(window.floorNs));
    for (const update of seen.updates) {
      // The window of a later state may begin later.
      if (update.second < firstSecond) continue;
      const found = window.find(update);
      if (found === undefined) window.add(update);
      else window.refresh(found, update.nanos);
    }
    this.inputOf(asset, key, new StoredInputText(input, window));
  }
}

/** Returns the entry of what changed since the last entry of this pair. */
export function changedInputEntry(input: InputState): string {
  const { seen } = input.accepted;
  const changes = seen.takeChanges?.();
  if (changes === undefined || changes.isWhole) return wholeInputEntry(input);
  const { floorNs } = seen;
  const accepted = acceptedText(textOf(input), { floorNs, updates: changes.updates });
  return inputEntry({ ...input, isWhole: false, accepted });
}

function wholeInputEntry(input: InputState): string {
  const { bytes, seen } = input.accepted;
  // The record of another node need not be read.
  const accepted = bytes === undefined ? acceptedText(textOf(input), seen) : Buffer.from(bytes).toString();
  return inputEntry({ ...input, isWhole: true, accepted });
}

function textOf({ asset, accepted }: InputState): string {
  return accepted instanceof StoredInputText ? accepted.text : inputText(accepted.input, asset.signatureType);
}

/** An input of the disk. It is read at its first use, because most inputs are only written again. */
class StoredInputText implements AcceptedInput {
  #input: PublisherPrice | undefined;

  constructor(
    readonly text: string,
    readonly seen: SeenWindow,
  ) {}

  get input(): PublisherPrice {
    this.#input ??= readInputText(this.text);
    return this.#input;
  }
}

function withoutMinute(holding: Holding): Holding {
  if (holding.state !== 'priced') return { ...holding, minute: undefined };
  return pricedHolding(holding.line, holding.timeNs, undefined);
}

function markKey(kind: string, number: number): string {
  return `${number} ${kind}`;
}

function pairKey({ symbol, signatureType }: AssetName, key: string): string {
  return `${signatureType} ${symbol} ${key}`;
}
