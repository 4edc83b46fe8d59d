import type { Payload } from '../verify/decode_payload.js';

/** A payload that waits to be verified. */
export interface WaitingPayload {
  readonly hex: string;
  readonly payload: Payload;
}

/** A payload of the queue. */
interface QueuedPayload extends WaitingPayload {
  /** The number of assets for which this payload has the newest price. */
  newest: number;
  /** The characters of the payloads that the queue has dropped directly before this payload. */
  lostChars: number;
  previous: QueuedPayload | undefined;
  next: QueuedPayload | undefined;
}

/** The largest number of waiting characters. Above it the queue drops the oldest payloads. */
const CHARS_MAX = 8_000_000;

/**
 * Waiting payloads of a connection, oldest first. The queue drops a payload when a newer price of each of its assets waits. While at
 * most `keptChars` characters wait, the queue drops nothing. With `keptChars` 0, the queue therefore never contains more payloads than
 * assets, except where payloads of several taxonomy IDs follow each other: under another taxonomy ID an ID may mean another asset.
 */
export class FrameQueue {
  readonly #keptChars: number;
  readonly #onDropped: (dropped: WaitingPayload) => void;
  #chars = 0;
  #first: QueuedPayload | undefined;
  #last: QueuedPayload | undefined;
  /** The payload with the newest price of each ID of the newest taxonomy ID. */
  readonly #byAsset = new Map<number, QueuedPayload>();
  #taxonomyId = -1;
  /** The waiting payloads without a newest price. */
  readonly #outdated = new Set<QueuedPayload>();

  /**
   * @param keptChars the number of waiting characters up to which the queue drops no payload
   * @param onDropped called with each payload that the queue drops
   */
  constructor(keptChars: number, onDropped: (dropped: WaitingPayload) => void) {
    this.#keptChars = keptChars;
    this.#onDropped = onDropped;
  }

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  push({ hex, payload }: WaitingPayload): void {
    const previous = this.#last;
    const added: QueuedPayload = { hex, payload, newest: 0, lostChars: 0, previous, next: undefined };
    if (previous === undefined) this.#first = added;
    else previous.next = added;
    this.#last = added;
    this.#chars += hex.length;
    if (payload.taxonomyId !== this.#taxonomyId) this.#byAsset.clear();
    this.#taxonomyId = payload.taxonomyId;
    for (const { id } of payload.assets) {
      const older = this.#byAsset.get(id);
      // An unverified payload may name an asset twice.
      if (older === added) continue;
      if (older !== undefined) {
        older.newest -= 1;
        if (older.newest === 0) this.#outdated.add(older);
      }
      this.#byAsset.set(id, added);
      added.newest += 1;
    }
    if (this.#chars <= this.#keptChars) return;
    for (const outdated of this.#outdated) {
      outdated.next!.lostChars += outdated.lostChars + outdated.hex.length;
      this.#remove(outdated);
      this.#onDropped(outdated);
    }
    while (this.#chars > CHARS_MAX && this.#first !== added) {
      const dropped = this.shift()!;
      this.#first!.lostChars += dropped.lostChars + dropped.hex.length;
      this.#onDropped(dropped);
    }
  }

  /**
   * Removes the oldest payload; `undefined` when no payload waits.
   * @returns the payload, and the characters of the payloads that the queue has dropped between this payload and the payload before
   */
  shift(): (WaitingPayload & { readonly lostChars: number }) | undefined {
    const oldest = this.#first;
    if (oldest === undefined) return undefined;
    this.#remove(oldest);
    for (const { id } of oldest.payload.assets)
      if (this.#byAsset.get(id) === oldest) this.#byAsset.delete(id);
    return oldest;
  }

  /** Drops all payloads. */
  clear(): void {
    for (let one = this.#first; one !== undefined; one = one.next) this.#onDropped(one);
    this.#first = undefined;
    this.#last = undefined;
    this.#chars = 0;
    this.#byAsset.clear();
    this.#outdated.clear();
  }

  #remove(removed: QueuedPayload): void {
    const { previous, next, hex } = removed;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    this.#chars -= hex.length;
    this.#outdated.delete(removed);
  }
}
