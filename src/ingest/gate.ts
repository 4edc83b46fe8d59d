import type { Asset, ListedPublisher, SignatureType } from '../model/asset.js';
import { parseHex, parseHexInto, toHex } from '../model/hex.js';
import { type Price, parsePrice } from '../model/price.js';
import type { SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice } from '../model/signed_price.js';
import { type Clock, NS_PER_SECOND, parseTimeNs, secondOf, type TimeNs } from '../model/time.js';
import { PUBLIC_KEY_BYTES, WORD_BYTES } from '../wire/signatures.js';
import { LastAccepted } from './last_accepted.js';
import type { RawUpdate } from './message.js';
import { hashKeyOf, ReplayWindow, type SignedUpdate } from './replay.js';

/** An update that passed every check that needs no hash and no curve arithmetic. */
export interface Candidate extends SignedUpdate {
  readonly raw: RawUpdate;
  readonly price: Price;
  /** The `msg_hash` that the publisher declares: 32 bytes. */
  readonly msgHash: Buffer;
  /** r and s, 32 bytes each. */
  readonly signature: Buffer;
  /** The recovery bit of `v`; 0 for Stark signatures, which have none. */
  readonly recovery: 0 | 1;
  /** True when everything that the signature covers was last accepted with that signature: such a refresh needs no curve arithmetic. */
  readonly verified: boolean;
  /** True when the message may have been taken before. */
  readonly again: boolean;
  /** True when the update was accepted when its message came before, and another one after it: it has no effect any more. */
  isOver: boolean;
}

/** The rights of a connection: its owner, and what it may publish. */
export interface PublishRights {
  /**
   * The name of the sender, the same after restarts: only the sender that brought an update can refresh it. For a token it is the
   * token's name; another kind of login needs texts that no token can have as its name, such as one with a control character.
   */
  readonly identity: string;
  mayPublishAs(publisher: ListedPublisher): boolean;
  maySee(symbol: string): boolean;
}

/** The part of the configuration in force that the gate reads. */
export interface AllowList {
  /** @param signatureType without it, an asset of either type is found */
  findAsset(symbol: string, signatureType?: SignatureType): Asset | undefined;
  /** @param key 20 bytes of an EVM address or 32 of a Stark public key. */
  publisherByKey(type: SignatureType, key: Buffer): ListedPublisher | undefined;
}

/** The timestamps of publishers that are accepted. */
export interface IngestWindow {
  /** The largest age, measured against the clock. */
  readonly maxPastNs: bigint;
  /** The largest distance ahead of the clock. */
  readonly maxFutureNs: bigint;
  /** The largest distance behind the newest accepted one of the same publisher and asset; 0: only newer ones. */
  readonly maxBackwardNs: bigint;
}

/** The recovery bit of each `v` without leading zeros. */
const RECOVERY_OF_V = new Map<string, 0 | 1>([
  ['0x1b', 0],
  ['0x1c', 1],
  ['0x0', 0],
  ['0x1', 1],
]);
/**
 * The number of texts of publisher keys that are remembered. A key has many texts, by case and zeros, and a publisher writes one
 * of them.
 */
const KEY_TEXTS_MAX = 10_000;

/** The checks before any curve arithmetic: a map lookup costs a thousandth of a curve operation. */
export class Gate {
  readonly #replay: ReplayWindow;
  readonly #last = new LastAccepted();
  readonly #clock: Clock;
  readonly #window: IngestWindow;
  /** The keys by their text as it came, and by path. */
  readonly #knownKeys = {
    evm: new Map<string, KnownPublisherKey>(),
    stark: new Map<string, KnownPublisherKey>(),
  };
  #allowList: AllowList;

  constructor(allowList: AllowList, clock: Clock, window: IngestWindow) {
    this.#allowList = allowList;
    this.#clock = clock;
    this.#window = window;
    this.#replay = new ReplayWindow(window.maxBackwardNs, clock.nowNs());
  }

  /** Applies a changed allow-list; accepted updates stay remembered. */
  reload(allowList: AllowList): void {
    this.#allowList = allowList;
    for (const keys of Object.values(this.#knownKeys)) keys.clear();
  }

  /** Notes that the clock was stepped back to this time: updates of later times count no more. */
  steppedBack(nowNs: TimeNs): void {
    this.#replay.steppedBack(nowNs);
  }

  /** Restores the memory of a publisher and an asset from before a restart; `last` is its last accepted update. */
  restore(
    asset: Asset,
    publisher: ListedPublisher,
    last: PublisherPrice,
    seen: SeenUpdates | undefined,
  ): void {
    this.#replay.restore(asset, publisher, last.timestampNs, seen);
    this.#last.put(asset, publisher, last);
  }

  /** Returns the memory since the last update of this publisher for this asset was accepted; to be stored with that update. */
  seen(asset: Asset, publisher: ListedPublisher): SeenUpdates {
    return this.#replay.seen(asset, publisher);
  }

  /**
   * @param again the message was sent before and may have been taken: then the update that was accepted last is accepted once
   * more;
   *   an earlier one only gets that answer, after its signature was verified
   * @param nowNs the time of the clock, if it was read already
   * @returns the candidate, or the reason why the update is refused.
   */
  admit(
    raw: RawUpdate,
    path: SignatureType,
    rights: PublishRights,
    again = false,
    nowNs = this.#clock.nowNs(),
  ): Candidate | string {
    const asset = this.#allowList.findAsset(raw.symbol, path);
    const known = asset ?? this.#allowList.findAsset(raw.symbol);
    if (known === undefined) return 'unknown asset';
    if (!rights.maySee(raw.symbol)) return 'the token does not cover this asset';
    if (raw.assetId !== raw.symbol) return 'asset_id differs from the key it stands under';
    if (raw.signatureType !== path) return `signature_type is not "${path}", which this path takes`;
    if (asset === undefined) return otherSignatures(known);

    const key = this.#keyOf(raw.publisherKey, path);
    if (typeof key === 'string') return key;
    const { publisher } = key;
    if (!rights.mayPublishAs(publisher)) return 'the token does not cover this publisher_key';
    if (!mayPublish(publisher, asset)) return 'publisher_key is not allowed for this asset';
    if (path === 'evm' && raw.externalAssetId !== raw.symbol) return 'external_asset_id names another asset';

    const price = parsePrice(raw.price);
    if (price === undefined)
      return raw.price === '-0'
        ? 'price is -0; zero has no sign'
        : 'price is not an integer within -2^127 .. 2^127-1 in plain digits';
    if (path === 'stark' && price < 0n) return 'a price with a Stark signature cannot be negative';
    const timestampNs = parseTimeNs(raw.timestamp);
    if (timestampNs === undefined) return 'timestamp is not an integer of nanoseconds';
    const { maxPastNs, maxFutureNs } = this.#window;
    if (timestampNs < nowNs - maxPastNs) return 'timestamp is too old';
    if (timestampNs > nowNs + maxFutureNs) return 'timestamp lies in the future';

    const msgHash = parseHex(raw.msgHash, WORD_BYTES);
    if (msgHash === undefined) return 'msg_hash is not 0x and the hex of 32 bytes';
    const signature = parseSignature(raw, path);
    if (typeof signature === 'string') return signature;
    const candidate = {
      raw,
      asset,
      publisher,
      sender: rights.identity,
      timestampNs,
      second: Number(secondOf(timestampNs)),
      nanos: Number(timestampNs % NS_PER_SECOND),
      price,
      msgHash,
      hashKey: hashKeyOf(msgHash),
      signature: signature.rs,
      recovery: signature.recovery,
      verified: false,
      again,
      isOver: false,
    };
    if (this.#isRepeated(candidate)) return { ...candidate, verified: true };
    const refused = this.#replay.check(candidate, nowNs + maxFutureNs);
    if (refused !== undefined) {
      candidate.isOver = again && this.#replay.isOver(candidate);
      return candidate.isOver ? candidate : refused;
    }
    candidate.verified = this.#replay.isLast(candidate) && this.#last.isSigned(candidate);
    return candidate;
  }

  #keyOf(text: string, path: SignatureType): KnownPublisherKey | string {
    const keys = this.#knownKeys[path];
    const known = keys.get(text);
    if (known !== undefined) return known;
    const key = parseHex(text, PUBLIC_KEY_BYTES[path]);
    if (key === undefined) return `publisher_key is not 0x and the hex of ${PUBLIC_KEY_BYTES[path]} bytes`;
    const publisher = this.#allowList.publisherByKey(path, key);
    if (publisher === undefined) return 'publisher_key is not on the allow-list';
    if (keys.size === KEY_TEXTS_MAX) keys.clear();
    const found = { text, publisher };
    keys.set(text, found);
    return found;
  }

  /**
   * Checks the candidate last, after its signature was verified: verification takes time, in which others may have come first or
   * the configuration may have changed.
   * @returns the price to keep of the candidate, or the reason why the update is refused
   */
  accept(candidate: Candidate): PublisherPrice | string {
    const { raw, asset, publisher } = candidate;
    if (this.#allowList.findAsset(asset.symbol, asset.signatureType) === undefined) {
      const other = this.#allowList.findAsset(asset.symbol);
      return other ? otherSignatures(other) : 'unknown asset';
    }
    const key = this.#keyOf(raw.publisherKey, publisher.signatureType);
    if (typeof key === 'string') return key;
    if (!mayPublish(key.publisher, asset)) return 'publisher_key is not allowed for this asset';
    const input = toPublisherPrice(candidate, key.text);
    if (candidate.isOver || this.#isRepeated(candidate)) return input;
    const latestNs = this.#clock.nowNs() + this.#window.maxFutureNs;
    const refused = this.#replay.check(candidate, latestNs);
    if (refused !== undefined) return refused;
    this.#replay.record(candidate, latestNs);
    this.#last.put(asset, publisher, input);
    return input;
  }

  #isRepeated(candidate: Candidate): boolean {
    return candidate.again && this.#last.is(candidate);
  }
}

/** A publisher, and a text of its key as it came. */
interface KnownPublisherKey {
  readonly text: string;
  readonly publisher: ListedPublisher;
}

/**
 * Returns what is kept of an accepted candidate until the next one of its publisher: no more than is needed by then. Texts that
 * all candidates have are shared.
 */
export function toPublisherPrice(
  { raw, asset, price, timestampNs }: Candidate,
  publisherKey: string,
): PublisherPrice {
  const externalAssetId = raw.externalAssetId === asset.symbol ? asset.symbol : raw.externalAssetId;
  const { price: priceText, r, s, v, msgHash, metadata } = raw;
  return {
    price,
    timestampNs,
    wire: { publisherKey, externalAssetId, price: priceText, r, s, v, msgHash, metadata },
  };
}

function mayPublish({ assets }: ListedPublisher, { symbol }: Asset): boolean {
  return assets.has('*') || assets.has(symbol);
}

function otherSignatures({ signatureType }: Asset): string {
  return `this asset takes ${signatureType} signatures`;
}

function parseSignature(raw: RawUpdate, path: SignatureType): { rs: Buffer; recovery: 0 | 1 } | string {
  const rs = Buffer.allocUnsafe(64);
  if (!parseHexInto(raw.r, rs, 0, 32)) return 'signature r is not 0x and the hex of 32 bytes';
  if (!parseHexInto(raw.s, rs, 32, 32)) return 'signature s is not 0x and the hex of 32 bytes';
  if (path === 'stark') return { rs, recovery: 0 };
  const recovery = raw.v === undefined ? undefined : recoveryOf(raw.v);
  return recovery === undefined ? 'signature v is not 0x1b, 0x1c, 0x0 or 0x1' : { rs, recovery };
}

/** Reads `v`, which publishers write without zeros or with them, in any case. */
function recoveryOf(v: string): 0 | 1 | undefined {
  const known = RECOVERY_OF_V.get(v);
  if (known !== undefined) return known;
  const bytes = parseHex(v, 32);
  return bytes && RECOVERY_OF_V.get(`0x${BigInt(toHex(bytes)).toString(16)}`);
}
