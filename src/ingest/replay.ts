import type { Asset, Publisher } from '../model/asset.js';
import type { Price } from '../model/price.js';
import { secondOf, type TimeNs } from '../model/time.js';

/**
 * Different updates that one publisher may have accepted for one asset within one second of its timestamps. Each is
 * remembered until that second is over, so the number is a bound on memory.
 */
export const UPDATES_PER_SECOND_MAX = 10_000;

/** What an update declares and its signature covers. */
export interface SignedUpdate {
  readonly timestampNs: TimeNs;
  readonly price: Price;
  readonly externalAssetId: string;
  /** The `msg_hash` that the publisher declares: 32 bytes. */
  readonly msgHash: Buffer;
  /** r and s, 32 bytes each. */
  readonly signature: Buffer;
  /** The recovery bit that `v` stands for; 0 for Stark signatures, which have none. */
  readonly recovery: 0 | 1;
}

/**
 * What was last accepted per asset and publisher, and what was before it in the same second.
 *
 * Signatures cover whole seconds, so an old update with its nanoseconds raised carries a valid signature:
 * within one second only a new `msg_hash`, or the current one once more (a refresh), may come.
 */
export class ReplayWindow {
  readonly #lastByPair = new Map<number, Accepted>();

  /** @returns why an update with this time and hash is refused now, or `undefined`. */
  check(asset: Asset, publisher: Publisher, timestampNs: TimeNs, msgHash: Buffer): string | undefined {
    const last = this.#lastByPair.get(pairKey(asset, publisher));
    if (last === undefined) return undefined;
    if (timestampNs <= last.timestampNs) return 'timestamp is not newer than the last accepted one';
    if (secondOf(timestampNs) !== last.second || msgHash.equals(last.msgHash)) return undefined;
    if (last.sealed)
      return 'the service was restarted within this second: only a refresh or a later one is taken';
    if (last.earlierHashes === undefined) return undefined;
    if (last.earlierHashes.has(msgHash.toString('latin1')))
      return 'replay of an earlier update of the same second';
    return last.earlierHashes.size + 1 < UPDATES_PER_SECOND_MAX
      ? undefined
      : `more than ${UPDATES_PER_SECOND_MAX} updates in one second`;
  }

  /**
   * Whether this is what was accepted last, but for the nanoseconds: what the signature covers is compared field by
   * field, since the hash is only what the publisher declares until it is recomputed.
   */
  isCurrent(asset: Asset, publisher: Publisher, update: SignedUpdate): boolean {
    const last = this.#lastByPair.get(pairKey(asset, publisher));
    return (
      last?.signed !== undefined &&
      secondOf(update.timestampNs) === last.second &&
      update.price === last.signed.price &&
      update.externalAssetId === last.signed.externalAssetId &&
      update.recovery === last.signed.recovery &&
      update.msgHash.equals(last.msgHash) &&
      update.signature.equals(last.signed.signature)
    );
  }

  /** Remembers an accepted update, whose hash nobody writes over. */
  record(
    asset: Asset,
    publisher: Publisher,
    timestampNs: TimeNs,
    msgHash: Buffer,
    signed?: SignedUpdate,
  ): void {
    const key = pairKey(asset, publisher);
    const second = secondOf(timestampNs);
    const last = this.#lastByPair.get(key);
    let earlierHashes: Set<string> | undefined;
    let sealed = false;
    if (last !== undefined && last.second === second) {
      ({ earlierHashes, sealed } = last);
      if (!last.msgHash.equals(msgHash)) {
        earlierHashes ??= new Set();
        earlierHashes.add(last.msgHash.toString('latin1'));
      }
    }
    const accepted = { timestampNs, second, msgHash, signed, earlierHashes, sealed };
    this.#lastByPair.set(key, accepted);
  }

  /**
   * Remembers what was accepted last before a restart. What came before it in its second is forgotten, so that second
   * takes no other update any more.
   */
  restore(asset: Asset, publisher: Publisher, timestampNs: TimeNs, msgHash: Uint8Array): void {
    this.#lastByPair.set(pairKey(asset, publisher), {
      timestampNs,
      second: secondOf(timestampNs),
      msgHash: Buffer.from(msgHash),
      signed: undefined,
      earlierHashes: undefined,
      sealed: true,
    });
  }
}

interface Accepted {
  readonly timestampNs: TimeNs;
  readonly second: bigint;
  readonly msgHash: Buffer;
  readonly signed: SignedUpdate | undefined;
  /** Hashes accepted in this second before the current one, as latin1 text. */
  readonly earlierHashes: Set<string> | undefined;
  /** What came earlier in this second is not known. */
  readonly sealed: boolean;
}

/** Indexes stay below 2^26 (a uint16 of assets and the publishers of one file), so the pair fits a double exactly. */
function pairKey(asset: Asset, publisher: Publisher): number {
  return asset.index * 0x4000000 + publisher.index;
}
