import { parseTimeNs, type TimeNs } from '../model/time.js';
import { isRecord } from './adapters/market.js';
import { MarketRoom } from './market_room.js';
import type { SourcesPlan } from './plan.js';

// A recording has a JSON line for each call of a market room, and one for each decision that the room wrote.

export type RecordedCall =
  | { readonly begin: number; readonly source: string; readonly symbols: readonly string[] }
  | { readonly end: number }
  | { readonly read: number; readonly source: string; readonly frame: string }
  | { readonly tick: true }
  | { readonly wrote: string };

export function recordingLine(atNs: TimeNs, call: RecordedCall): string {
  return JSON.stringify({ at: String(atNs), ...call });
}

/** Makes the decisions of a recording again. */
export class Replay {
  readonly #room: MarketRoom;
  readonly #plan: SourcesPlan;
  /** Decisions that were made here and that the recording has not named yet. */
  readonly #made: string[] = [];
  /** Decisions that the recording has and that were made in the same way. */
  same = 0;
  /** Decisions that the recording has and that were made in another way or not at all. */
  different = 0;

  constructor(plan: SourcesPlan, write: (line: string) => void) {
    this.#plan = plan;
    this.#room = new MarketRoom(plan, (line) => {
      this.#made.push(line);
      write(line);
    });
  }

  /** The decisions that were made here and that the recording lacks. */
  get additional(): number {
    return this.#made.length;
  }

  /**
   * Makes the call of a line.
   * @returns the time of the call; `undefined` if the line is not of a recording, or names a source that the plan lacks
   */
  take(line: string): TimeNs | undefined {
    const call = parseCall(line);
    const atNs = call === undefined ? undefined : parseTimeNs(call.at);
    if (call === undefined || atNs === undefined) return undefined;
    if ('source' in call && !this.#plan.sources.has(call.source)) return undefined;
    if ('begin' in call) this.#room.open(call.begin, call.source, call.symbols);
    else if ('end' in call) this.#room.close(call.end);
    else if ('read' in call) this.#room.read(call.read, call.source, call.frame, atNs);
    else if ('tick' in call) this.#room.tick(atNs);
    else if (this.#made.shift() === call.wrote) this.same++;
    else this.different++;
    return atNs;
  }
}

function parseCall(line: string): (RecordedCall & { readonly at: string }) | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value['at'] !== 'string') return undefined;
  const { begin, end, read, tick, wrote, source, symbols, frame } = value;
  const isCall =
    (typeof begin === 'number' && typeof source === 'string' && isTexts(symbols)) ||
    typeof end === 'number' ||
    (typeof read === 'number' && typeof source === 'string' && typeof frame === 'string') ||
    tick === true ||
    typeof wrote === 'string';
  return isCall ? (value as unknown as RecordedCall & { readonly at: string }) : undefined;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string');
}
