import type { Asset, Publisher } from '../model/asset.js';
import type { Price } from '../model/price.js';
import type { SeenSecond, SeenUpdate, SeenUpdates } from '../model/seen_updates.js';
import { NS_PER_SECOND, secondOf, type TimeNs } from '../model/time.js';

/**
 * Different updates that are remembered of one publisher for one asset. Past it, new ones are refused until their time
 * has moved the window on, so the number is a bound on memory and on the record that the store keeps.
 */
export const SEEN_UPDATES_MAX = 10_000;

/** What an update declares and its signature covers, and who sent it. */
export interface SignedUpdate {
  readonly asset: Asset;
  readonly publisher: Publisher;
  /** The identity of the session that it came on. */
  readonly sender: string;
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
 * The hashes of what was accepted lately, per asset and publisher.
 *
 * Signatures cover whole seconds, so anyone can raise the nanoseconds of an update and its signature stays valid. An
 * update whose hash is in the window is therefore taken only as a refresh: with a later time, and from the sender that
 * brought it first. A refresh never moves the window. Every other update may be up to `max_backward` older than the
 * newest one, refreshes aside: the window begins there, and what is older is refused because its hash is forgotten.
 */
export class ReplayWindow {
  readonly #maxBackwardNs: bigint;
  readonly #pairs = new Map<number, Pair>();

  /** @param maxBackwardNs 0: only updates newer than all before are taken. */
  constructor(maxBackwardNs: bigint) {
    this.#maxBackwardNs = maxBackwardNs;
  }

  /** @returns why the update is refused now, or `undefined`. */
  check(update: SignedUpdate): string | undefined {
    const pair = this.#pairs.get(keyOf(update));
    if (pair === undefined) return undefined;
    const { timestampNs, msgHash, sender } = update;
    if (timestampNs < pair.floorNs) return this.#maxBackwardNs === 0n ? NOT_NEWER : TOO_FAR_BACK;
    const second = wholeSecondOf(timestampNs);
    const seen = secondIn(pair, second)?.updates.get(hashKeyOf(msgHash));
    if (seen === undefined) return this.#hasRoom(pair, timestampNs) ? undefined : WINDOW_FULL;
    if (seen.sender !== sender) return OTHER_SENDER;
    return nanosOf(timestampNs, second) > seen.nanos ? undefined : SEEN_BEFORE;
  }

  /**
   * Whether this is what was accepted last, but for the nanoseconds: what the signature covers is compared field by
   * field, since the hash is only what the publisher declares until it is recomputed.
   */
  isCurrent(update: SignedUpdate): boolean {
    const current = this.#pairs.get(keyOf(update))?.current;
    return (
      current !== undefined &&
      update.price === current.price &&
      update.msgHash.equals(current.msgHash) &&
      update.signature.equals(current.signature) &&
      update.externalAssetId === current.externalAssetId &&
      update.recovery === current.recovery &&
      secondOf(update.timestampNs) === secondOf(current.timestampNs)
    );
  }

  /** Remembers an accepted update, whose hash nobody writes over. */
  record(update: SignedUpdate): void {
    const { timestampNs, msgHash, sender } = update;
    const key = keyOf(update);
    let pair = this.#pairs.get(key);
    if (pair === undefined) {
      pair = { floorNs: 0n as TimeNs, seconds: [], count: 0, current: undefined };
      this.#pairs.set(key, pair);
    }
    pair.current = update;
    const second = wholeSecondOf(timestampNs);
    const nanos = nanosOf(timestampNs, second);
    const hashKey = hashKeyOf(msgHash);
    let at = secondIn(pair, second);
    const seen = at?.updates.get(hashKey);
    if (seen !== undefined) {
      seen.nanos = nanos;
      return;
    }
    if (at === undefined) {
      at = { second, updates: new Map() };
      pair.seconds.push(at);
    }
    at.updates.set(hashKey, { nanos, sender });
    pair.count++;
    raiseFloor(pair, this.#floorAfter(timestampNs));
  }

  /** What is remembered of a publisher's updates for an asset of which one was accepted. It changes with the next one. */
  seen(asset: Asset, publisher: Publisher): SeenUpdates {
    return this.#pairs.get(keyOf({ asset, publisher }))!;
  }

  /**
   * Puts back what was remembered before a restart.
   * @param seen absent in records of versions that kept no window: then nothing is taken up to the end of the second of
   * the last update.
   */
  restore(asset: Asset, publisher: Publisher, lastNs: TimeNs, seen: SeenUpdates | undefined): void {
    const floorNs = seen?.floorNs ?? (((secondOf(lastNs) + 1n) * NS_PER_SECOND) as TimeNs);
    const seconds = (seen?.seconds ?? []).map(({ second, updates }) => ({
      second,
      updates: new Map([...updates].map(([hashKey, update]) => [hashKey, { ...update }])),
    }));
    const count = countIn(seconds, 0);
    this.#pairs.set(keyOf({ asset, publisher }), { floorNs, seconds, count, current: undefined });
  }

  /** Whether one more update of this time can be remembered, with what it makes the window forget. */
  #hasRoom(pair: Pair, timestampNs: TimeNs): boolean {
    if (pair.count < SEEN_UPDATES_MAX) return true;
    return countIn(pair.seconds, wholeSecondOf(this.#floorAfter(timestampNs))) < SEEN_UPDATES_MAX;
  }

  #floorAfter(timestampNs: TimeNs): TimeNs {
    return (this.#maxBackwardNs === 0n ? timestampNs + 1n : timestampNs - this.#maxBackwardNs) as TimeNs;
  }
}

const NOT_NEWER = 'timestamp is not newer than the last accepted one';
const TOO_FAR_BACK = 'timestamp is further behind the newest accepted one than ingest.max_backward';
const SEEN_BEFORE = 'replay: timestamp is not newer than the one that this update was accepted with';
const OTHER_SENDER = 'replay: another token or key sent this update first, and only that one can refresh it';
const WINDOW_FULL = `more than ${SEEN_UPDATES_MAX} updates within ingest.max_backward`;

/** One publisher and one asset. */
interface Pair extends SeenUpdates {
  floorNs: TimeNs;
  /** Few: `max_backward` and up to two seconds more. In no order. */
  seconds: MutableSecond[];
  /** All updates of `seconds`. */
  count: number;
  /** The last accepted update, in order of arrival. */
  current: SignedUpdate | undefined;
}

interface MutableSecond extends SeenSecond {
  readonly updates: Map<number, { -readonly [K in keyof SeenUpdate]: SeenUpdate[K] }>;
}

function raiseFloor(pair: Pair, floorNs: TimeNs): void {
  if (floorNs <= pair.floorNs) return;
  pair.floorNs = floorNs;
  const first = wholeSecondOf(floorNs);
  if (pair.seconds.every(({ second }) => second >= first)) return;
  pair.seconds = pair.seconds.filter(({ second }) => second >= first);
  pair.count = countIn(pair.seconds, first);
}

function secondIn({ seconds }: Pair, second: number): MutableSecond | undefined {
  for (const one of seconds) if (one.second === second) return one;
  return undefined;
}

function countIn(seconds: readonly SeenSecond[], first: number): number {
  return seconds.reduce((sum, { second, updates }) => (second >= first ? sum + updates.size : sum), 0);
}

function wholeSecondOf(timeNs: TimeNs): number {
  return Number(secondOf(timeNs));
}

function nanosOf(timestampNs: TimeNs, second: number): number {
  return Number(timestampNs - BigInt(second) * NS_PER_SECOND);
}

/**
 * 53 bits tell the hashes of a window apart as well as all 256 do: that two of 10,000 share them has a chance of one in
 * 10^8, and the second is then refused, or taken as a refresh. As a number they need no text for every look-up.
 */
function hashKeyOf(msgHash: Buffer): number {
  return (msgHash.readUInt32BE(24) & 0x1f_ffff) * 0x1_0000_0000 + msgHash.readUInt32BE(28);
}

/** Indexes stay below 2^26 (a uint16 of assets and the publishers of one file), so the pair fits a double exactly. */
function keyOf({ asset, publisher }: Pick<SignedUpdate, 'asset' | 'publisher'>): number {
  return asset.index * 0x4000000 + publisher.index;
}
