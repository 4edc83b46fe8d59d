import { SharedRoom } from './shared_room.js';

/** How long the work of one turn of the event loop may take, beside the last piece of it. */
export const TURN_MS_MAX = 2;

/** What a piece of work takes of a queue's memory beside its message. */
const ENTRY_BYTES = 256;

export interface TurnQueueOptions {
  /** What may wait altogether. */
  readonly waitingBytesMax: number;
  /** Milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}

/** Whose work it is. */
export interface WorkOwner {
  /** Names the token or key: the callers share the time. */
  readonly caller: string;
  /** The connection: its work is done in order. */
  readonly connection: object;
}

interface Piece {
  readonly bytes: number;
  readonly run: () => void;
}

/** What waits of one caller. */
interface Lane {
  /** In the order in which they are served, each with its work in order. */
  readonly connections: Map<object, Piece[]>;
  /** The time that its work has taken, counted from the time of the others when it came. */
  servedMs: number;
}

/**
 * Does the work that messages of many connections cause, at most {@link TURN_MS_MAX} of it in a turn of the event loop. What comes
 * when that is used up waits, and the caller that was served least goes next; its connections take turns.
 *
 * What waits is bounded as {@link SharedRoom} says.
 */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #room: SharedRoom;
  /** In this turn. */
  #spentMs = 0;
  #deferred = false;
  /** The {@link Lane.servedMs} of the caller that was served last: where a new one starts. */
  #servedMs = 0;

  constructor(options: TurnQueueOptions) {
    this.#options = options;
    this.#room = new SharedRoom(options.waitingBytesMax);
  }

  /** Bytes of messages that wait. */
  get waitingBytes(): number {
    return this.#room.bytes;
  }

  /** Whether the caller may add work. @param bytes of its message */
  hasRoom(caller: string, bytes: number): boolean {
    return this.#room.hasRoom(caller, ENTRY_BYTES + bytes);
  }

  /** Does the work, at once or when its turn comes. @returns what it returns */
  run<T>(owner: WorkOwner, bytes: number, work: () => T | Promise<T>): T | Promise<T> {
    return this.#isFree ? this.#measure(work) : this.#wait(owner, bytes, work, 'last');
  }

  /** As {@link run}, before all other work of the connection: for the rest of a message whose first part was done. */
  resume<T>(owner: WorkOwner, work: () => T | Promise<T>): T | Promise<T> {
    return this.#isFree ? this.#measure(work) : this.#wait(owner, 0, work, 'first');
  }

  get #isFree(): boolean {
    return this.#lanes.size === 0 && this.#spentMs < TURN_MS_MAX;
  }

  #wait<T>(
    { caller, connection }: WorkOwner,
    bytes: number,
    work: () => T | Promise<T>,
    place: 'first' | 'last',
  ): Promise<T> {
    let lane = this.#lanes.get(caller);
    if (lane === undefined) {
      lane = { connections: new Map(), servedMs: this.#servedMs };
      this.#lanes.set(caller, lane);
    }
    let pieces = lane.connections.get(connection);
    if (pieces === undefined) {
      pieces = [];
      lane.connections.set(connection, pieces);
    }
    return new Promise<T>((resolve, reject) => {
      const run = () => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      };
      const piece = { bytes: ENTRY_BYTES + bytes, run };
      if (place === 'first') pieces.unshift(piece);
      else pieces.push(piece);
      this.#room.add(caller, piece.bytes);
      this.#continueLater();
    });
  }

  #measure<T>(work: () => T): T {
    const { nowMs } = this.#options;
    const startMs = nowMs();
    try {
      return work();
    } finally {
      this.#spentMs += nowMs() - startMs;
      this.#continueLater();
    }
  }

  /** A new turn: its time is whole again, and what waits goes on. */
  #continueLater(): void {
    if (this.#deferred) return;
    this.#deferred = true;
    this.#options.defer(() => {
      this.#deferred = false;
      this.#spentMs = 0;
      while (this.#lanes.size > 0 && this.#spentMs < TURN_MS_MAX) this.#runNext();
    });
  }

  #runNext(): void {
    const [caller, lane] = this.#leastServed();
    const [connection, pieces] = lane.connections.entries().next().value!;
    const piece = pieces.shift()!;
    this.#room.add(caller, -piece.bytes);
    // The others of its connections come before its next piece.
    lane.connections.delete(connection);
    if (pieces.length > 0) lane.connections.set(connection, pieces);
    if (lane.connections.size === 0) this.#lanes.delete(caller);
    const before = this.#spentMs;
    this.#servedMs = lane.servedMs;
    this.#measure(piece.run);
    lane.servedMs += this.#spentMs - before;
  }

  #leastServed(): [caller: string, lane: Lane] {
    let least: [string, Lane] | undefined;
    for (const entry of this.#lanes)
      if (least === undefined || entry[1].servedMs < least[1].servedMs) least = entry;
    return least!;
  }
}
