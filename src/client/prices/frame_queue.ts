import type { Payload } from '../verify/decode_payload.js';

/** A payload that waits to be verified. */
export interface WaitingPayload {
  readonly hex: string;
  readonly payload: Payload;
}

/**
 * Waiting payloads of a connection, oldest first. The queue drops a payload when a newer price of each of its assets waits. Therefore
 * the queue never holds more payloads than assets.
 */
export class FrameQueue {
  /** The waiting payloads. The value is the number of assets for which the payload has the newest price. */
  readonly #newest = new Map<WaitingPayload, number>();
  readonly #byAsset = new Map<number, WaitingPayload>();

  push(waiting: WaitingPayload): void {
    let assets = 0;
    for (const { id } of waiting.payload.assets) {
      const older = this.#byAsset.get(id);
      // An unverified payload may name an asset twice.
      if (older === waiting) continue;
      if (older !== undefined) this.#supersede(older);
      this.#byAsset.set(id, waiting);
      assets += 1;
    }
    this.#newest.set(waiting, assets);
  }

  /** Removes and returns the oldest payload; `undefined` when no payload waits. */
  shift(): WaitingPayload | undefined {
    const [oldest] = this.#newest.keys();
    if (oldest === undefined) return undefined;
    this.#newest.delete(oldest);
    for (const { id } of oldest.payload.assets)
      if (this.#byAsset.get(id) === oldest) this.#byAsset.delete(id);
    return oldest;
  }

  clear(): void {
    this.#newest.clear();
    this.#byAsset.clear();
  }

  #supersede(older: WaitingPayload): void {
    const left = this.#newest.get(older)! - 1;
    if (left === 0) this.#newest.delete(older);
    else this.#newest.set(older, left);
  }
}
