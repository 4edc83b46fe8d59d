import { parseTimeNs, type TimeNs } from '../model/time.js';
import { isRecord } from './adapters/market.js';
import { MarketRoom } from './market_room.js';
import type { SourcesPlan } from './plan.js';
import { isOpenedConnection, isRoomState, type OpenedConnection, type RoomState } from './room_state.js';

// A recording has a JSON line for each call of a market room and for each decision that the room wrote. A file that continues another
// file begins with the room's state.

export type RecordedCall =
  | { readonly state: RoomState }
  | OpenedConnection
  | { readonly end: number }
  | { readonly read: number; readonly frame: string }
  | { readonly tick: true }
  /** The wall clock minus the clock of the calls, in nanoseconds. */
  | { readonly shift: string }
  | { readonly wrote: string };

/** The beginning of a line whose frame is included unchanged. */
const FRAME_HEAD = /^\{"at":"(\d+)","read":(\d+),"frame":(?=[{[])/;

const SHIFT = /^-?\d{1,19}$/;

/** Repeats the calls of a recording and compares the decisions. */
export class Replay {
  readonly #room: MarketRoom;
  readonly #plan: SourcesPlan;
  /** Decisions of this replay that have not yet appeared in the recording. */
  readonly #made: string[] = [];
  /** The number of recorded decisions that this replay also made. */
  same = 0;
  /** The number of recorded decisions that this replay made differently or did not make. */
  different = 0;

  constructor(plan: SourcesPlan, write: (line: string) => void) {
    this.#plan = plan;
    this.#room = new MarketRoom(plan, (line) => {
      this.#made.push(line);
      write(line);
    });
  }

  /** The number of this replay's decisions that the recording lacks. */
  get additional(): number {
    return this.#made.length;
  }

  /**
   * Repeats the call on a line.
   * @returns the time of the call; `undefined` if the line is not from a recording, or names a source that the plan lacks
   */
  take(line: string): TimeNs | undefined {
    const call = parseCall(line);
    const atNs = call === undefined ? undefined : parseTimeNs(call.at);
    if (call === undefined || atNs === undefined) return undefined;
    const opened = 'begin' in call ? [call] : 'state' in call ? call.state.connections : [];
    if (opened.some(({ source }) => !this.#plan.sources.has(source))) return undefined;
    if ('state' in call) this.#room.restore(call.state);
    else if ('begin' in call) this.#room.open(call);
    else if ('end' in call) this.#room.close(call.end);
    else if ('read' in call) this.#room.read(call.read, call.frame, atNs);
    else if ('tick' in call) this.#room.tick(atNs);
    else if ('shift' in call) this.#room.shift(BigInt(call.shift));
    else if (this.#made.shift() === call.wrote) this.same++;
    else this.different++;
    return atNs;
  }
}

/** Reads the call on a line; `undefined` if the line is not from a recording. */
export function parseCall(line: string): (RecordedCall & { readonly at: string }) | undefined {
  const [head, at, read] = FRAME_HEAD.exec(line) ?? [];
  if (head !== undefined && line.endsWith('}'))
    return { at: at!, read: Number(read), frame: line.slice(head.length, -1) };
  return parseJsonCall(line);
}

function parseJsonCall(line: string): (RecordedCall & { readonly at: string }) | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value['at'] !== 'string') return undefined;
  const { state, end, read, tick, shift, wrote, frame } = value;
  const isCall =
    isRoomState(state) ||
    isOpenedConnection(value) ||
    typeof end === 'number' ||
    (typeof read === 'number' && typeof frame === 'string') ||
    tick === true ||
    (typeof shift === 'string' && SHIFT.test(shift)) ||
    typeof wrote === 'string';
  return isCall ? (value as unknown as RecordedCall & { readonly at: string }) : undefined;
}
