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

interface QueuedPiece {
  readonly bytes: number;
  readonly work: () => void;
  next: QueuedPiece | undefined;
}

/** What waits of one connection, in order. */
interface Line {
  readonly connection: object;
  first: QueuedPiece | undefined;
  last: QueuedPiece | undefined;
  /** The connection of the same caller that is served after it. */
  next: Line | undefined;
}

/** What waits of one caller. */
interface CallerQueue {
  readonly lineOf: Map<object, Line>;
  /** In the order in which connections are served. */
  first: Line | undefined;
  last: Line | undefined;
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
  readonly #lanes = new Map<string, CallerQueue>();
  readonly #room: SharedRoom;
  /** In this turn. */
  #spentMs = 0;
  #isWorking = false;
  #deferred = false;
  /** The {@link CallerQueue.servedMs} of the caller that was served last: where a new one starts. */
  #servedMs = 0;
  /** The same of callers of which nothing waits now, while others wait: one whose work comes singly does not start anew each time. */
  readonly #servedMsOf = new Map<string, number>();

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

  /** Does the work, at once or when its turn comes. @param work which does not throw when it had to wait */
  run(owner: WorkOwner, bytes: number, work: () => void): void {
    if (this.isFree) this.now(work);
    else this.#wait(owner, ENTRY_BYTES + bytes, work, 'last');
  }

  /** As {@link run}, before all other work of the connection: for the rest of a message whose first part was done. */
  resume(owner: WorkOwner, work: () => void): void {
    if (this.isFree) this.now(work);
    else this.#wait(owner, ENTRY_BYTES, work, 'first');
  }

  /** Does the work at once: only where {@link isFree}. @returns what the work returns */
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

  /** Whether work would be done at once. What comes while other work is done waits for its end. */
  get isFree(): boolean {
    return !this.#isWorking && this.#lanes.size === 0 && this.#spentMs < TURN_MS_MAX;
  }

  #wait({ caller, connection }: WorkOwner, bytes: number, work: () => void, place: 'first' | 'last'): void {
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
    const line = takeFirst(lane)!;
    const piece = takeFirst(line)!;
    this.#room.add(caller, -piece.bytes);
    // The others of its connections come before its next piece.
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

/** What is linked from the first to the last: thousands wait, and each costs one object. */
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
