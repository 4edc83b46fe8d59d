import { SharedRoom } from './shared_room.js';

/** The time after which a turn of the event loop starts no more work. The last piece of work may take longer. */
export const TURN_MS_MAX = 2;

/** The memory that a queued piece of work takes in addition to its message. */
const ENTRY_BYTES = 256;

export interface TurnQueueOptions {
  /** The largest total size of the waiting work. */
  readonly waitingBytesMax: number;
  /** Returns milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
  /** Calls back after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
}

/** The caller and the connection of a piece of work. */
export interface WorkOwner {
  /** The name of the token or key. The queue divides its time between callers. */
  readonly caller: string;
  /** The connection. The work of one connection is done in order. */
  readonly connection: object;
}

interface QueuedPiece {
  readonly bytes: number;
  readonly work: () => void;
  next: QueuedPiece | undefined;
}

/** The waiting work of one connection, in order. */
interface Line {
  readonly connection: object;
  first: QueuedPiece | undefined;
  last: QueuedPiece | undefined;
  /** The next connection of the same caller in the order of serving. */
  next: Line | undefined;
}

/** The waiting work of one caller. */
interface CallerQueue {
  readonly lineOf: Map<object, Line>;
  /** The first connection in the order of serving. */
  first: Line | undefined;
  last: Line | undefined;
  /** The time that the caller's work has taken. A new caller starts with the value of the last served caller. */
  servedMs: number;
}

/**
 * Does the work that messages of many connections cause, for about {@link TURN_MS_MAX} in each turn of the event loop. Further work
 * waits. The next caller is the caller with the least served time. The connections of a caller take turns.
 *
 * {@link SharedRoom} limits the waiting work.
 */
export class TurnQueue {
  readonly #options: TurnQueueOptions;
  readonly #lanes = new Map<string, CallerQueue>();
  readonly #room: SharedRoom;
  /** The time that this turn has used. */
  #spentMs = 0;
  #isWorking = false;
  #deferred = false;
  /** The {@link CallerQueue.servedMs} of the last served caller. A new caller starts from this value. */
  #servedMs = 0;
  /**
   * The {@link CallerQueue.servedMs} of callers that have no waiting work now. The queue keeps these values while other callers wait.
   * Otherwise a caller that adds one piece of work at a time would count as a new caller each time.
   */
  readonly #servedMsOf = new Map<string, number>();

  constructor(options: TurnQueueOptions) {
    this.#options = options;
    this.#room = new SharedRoom(options.waitingBytesMax);
  }

  /** The number of bytes of waiting messages. */
  get waitingBytes(): number {
    return this.#room.bytes;
  }

  /**
   * Returns whether the caller may add work.
   * @param bytes the size of the message that causes the work
   */
  hasRoom(caller: string, bytes: number): boolean {
    return this.#room.hasRoom(caller, ENTRY_BYTES + bytes);
  }

  /**
   * Does the work immediately, or later when its turn comes.
   * @param work must not throw if the work had to wait
   */
  run(owner: WorkOwner, bytes: number, work: () => void): void {
    if (this.isFree) this.now(work);
    else this.#addToQueue(owner, ENTRY_BYTES + bytes, work, 'last');
  }

  /**
   * Does the work like {@link run}, but before all other work of the connection. The second part of a message uses this method after
   * the first part.
   */
  resume(owner: WorkOwner, work: () => void): void {
    if (this.isFree) this.now(work);
    else this.#addToQueue(owner, ENTRY_BYTES, work, 'first');
  }

  /**
   * Does the work immediately. Allowed only while {@link isFree} is true.
   * @returns the result of the work
   */
  now<T>(work: () => T): T {
    const { nowMs } = this.#options;
    const startMs = nowMs();
    this.#isWorking = true;
    try {
      return work();
    } finally {
      this.#isWorking = false;
      this.#spentMs += nowMs() - startMs;
      this.#continueLater();
    }
  }

  /** True when new work can start immediately. Work that arrives during other work must wait. */
  get isFree(): boolean {
    return !this.#isWorking && this.#lanes.size === 0 && this.#spentMs < TURN_MS_MAX;
  }

  #addToQueue(
    { caller, connection }: WorkOwner,
    bytes: number,
    work: () => void,
    place: 'first' | 'last',
  ): void {
    let lane = this.#lanes.get(caller);
    if (lane === undefined) {
      const servedMs = Math.max(this.#servedMs, this.#servedMsOf.get(caller) ?? 0);
      lane = { lineOf: new Map(), first: undefined, last: undefined, servedMs };
      this.#lanes.set(caller, lane);
    }
    let line = lane.lineOf.get(connection);
    if (line === undefined) {
      line = { connection, first: undefined, last: undefined, next: undefined };
      lane.lineOf.set(connection, line);
      append(lane, line);
    }
    const piece: QueuedPiece = { bytes, work, next: undefined };
    if (place === 'first') prepend(line, piece);
    else append(line, piece);
    this.#room.add(caller, bytes);
    this.#continueLater();
  }

  /** Begins a new turn: resets the used time, and continues with waiting work. */
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
    const line = takeFirst(lane)!;
    const piece = takeFirst(line)!;
    this.#room.add(caller, -piece.bytes);
    // The caller's other connections come before the next piece of this connection.
    if (line.first !== undefined) append(lane, line);
    else lane.lineOf.delete(line.connection);
    const before = this.#spentMs;
    this.#servedMs = lane.servedMs;
    try {
      this.now(piece.work);
    } finally {
      lane.servedMs += this.#spentMs - before;
      if (lane.first === undefined) this.#leave(caller, lane);
    }
  }

  #leave(caller: string, { servedMs }: CallerQueue): void {
    this.#lanes.delete(caller);
    if (this.#lanes.size > 0) this.#servedMsOf.set(caller, servedMs);
    else this.#servedMsOf.clear();
  }

  #leastServed(): [caller: string, lane: CallerQueue] {
    let least: [string, CallerQueue] | undefined;
    for (const entry of this.#lanes)
      if (least === undefined || entry[1].servedMs < least[1].servedMs) least = entry;
    return least!;
  }
}

/** A linked list. Thousands of items may wait, and each item costs only one object. */
interface Linked<Item> {
  first: Item | undefined;
  last: Item | undefined;
}

function append<Item extends { next: Item | undefined }>(list: Linked<Item>, item: Item): void {
  if (list.last === undefined) list.first = item;
  else list.last.next = item;
  list.last = item;
}

function prepend<Item extends { next: Item | undefined }>(list: Linked<Item>, item: Item): void {
  item.next = list.first;
  list.first = item;
  list.last ??= item;
}

function takeFirst<Item extends { next: Item | undefined }>(list: Linked<Item>): Item | undefined {
  const { first } = list;
  if (first === undefined) return undefined;
  list.first = first.next;
  first.next = undefined;
  if (list.first === undefined) list.last = undefined;
  return first;
}
