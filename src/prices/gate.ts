import { LatestInput } from '../log/records/latest_input.js';
import { SeenWindow } from '../log/records/seen_window.js';
import type { Asset, ListedPublisher, SignatureType } from '../model/asset.js';
import { parseHex } from '../model/hex.js';
import { perhapsCoarser } from '../model/likely_unit.js';
import { type Price, parsePrice } from '../model/price.js';
import type { SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice } from '../model/signed_price.js';
import { type Clock, NS_PER_SECOND, parseTimeNs, secondOf, type TimeNs } from '../model/time.js';
import { PUBLISHER_NOT_LISTED, UNKNOWN_ASSET } from '../wire/publish_message.js';
import { bySignatureType, SIGNATURES, WORD_BYTES } from '../wire/signatures.js';
import type { RawUpdate } from './message.js';
import { hashKeyOf, isOver, ReplayRules, type SignedUpdate } from './replay.js';
import { parseSignature } from './signature_texts.js';

/** The memory of one publisher and one asset: the last accepted update, and the updates that the replay rules remember. */
type Pair = LatestInput<SeenWindow>;

/** An update that passed all checks that need neither a hash nor curve arithmetic. */
export interface Candidate extends SignedUpdate {
  readonly asset: Asset;
  readonly publisher: ListedPublisher;
  readonly raw: RawUpdate;
  /** The received text of the publisher's key, in the form in which rows refer to it. */
  readonly keyText: string;
  /** The configuration that allowed the update. */
  readonly allowedBy: AllowList;
  /** The memory of the publisher and the asset; `undefined` if the gate had accepted no update of the pair. */
  readonly pair: Pair | undefined;
  readonly price: Price;
  /** The `msg_hash` that the publisher declares: 32 bytes. */
  readonly msgHash: Buffer;
  /** r and then s, 32 bytes each. */
  readonly signature: Buffer;
  /** The recovery bit of `v`; 0 for Stark signatures, which have no `v`. */
  readonly recovery: 0 | 1;
  /** True when the last accepted update had the same signature and the same signed fields. Such a refresh needs no curve arithmetic. */
  readonly verified: boolean;
  /** True when the message may already have taken effect. */
  readonly again: boolean;
  /**
   * True when the service accepted this update from an earlier copy of the message, and has accepted a later update since. Such an
   * update has no effect.
   */
  isOver: boolean;
}

/** The rights of a connection: the connection's owner, and the updates that the connection may publish. */
export interface PublishRights {
  /**
   * The name of the sender, which stays the same after restarts. Only the sender of an update can refresh the update. For a token, the
   * name is the token's name. Other kinds of login need names that no token can have, such as a name with a control character.
   */
  readonly identity: string;
  /** True for a login by signature: everybody who has seen the login can repeat it for some seconds. */
  readonly isRepeatable?: true;
  mayPublishAs(publisher: ListedPublisher): boolean;
  maySee(symbol: string): boolean;
}

/** The part of the current configuration that the gate reads. */
export interface AllowList {
  /** @param signatureType the type of the asset; if absent, the search includes both types */
  findAsset(symbol: string, signatureType?: SignatureType): Asset | undefined;
  /** @param key the bytes of the public key, such as the 20 bytes of an EVM address */
  publisherByKey(type: SignatureType, key: Buffer): ListedPublisher | undefined;
}

/** The range of accepted publishers' timestamps. */
export interface IngestWindow {
  /** The largest age relative to the clock. */
  readonly maxPastNs: bigint;
  /** The largest distance ahead of the clock. */
  readonly maxFutureNs: bigint;
  /**
   * The largest distance behind the newest accepted timestamp of the same publisher and asset. With 0, the service accepts only newer
   * timestamps.
   */
  readonly maxBackwardNs: bigint;
}

/**
 * The number of publisher key texts in the cache. A key has many possible texts, with different case and zeros, but a publisher normally
 * uses only one text.
 */
const KEY_TEXTS_MAX = 10_000;

/** The checks before curve arithmetic. These checks come first, because a map lookup costs 0.1 % of a curve operation. */
export class Gate {
  readonly #replay: ReplayRules;
  /** The pairs by asset index, then by publisher index. */
  readonly #pairs: Map<number, Pair>[] = [];
  readonly #clock: Clock;
  readonly #window: IngestWindow;
  /** The publishers by the received text of their key, for each path. */
  readonly #knownKeys = bySignatureType(() => new Map<string, KnownPublisherKey>());
  #allowList: AllowList;

  constructor(allowList: AllowList, clock: Clock, window: IngestWindow) {
    this.#allowList = allowList;
    this.#clock = clock;
    this.#window = window;
    this.#replay = new ReplayRules(window.maxBackwardNs, clock.nowNs());
  }

  /** Applies a changed allow-list. The gate still remembers accepted updates. */
  reload(allowList: AllowList): void {
    this.#allowList = allowList;
    for (const keys of Object.values(this.#knownKeys)) keys.clear();
  }

  /** Records that the clock was stepped back to this time. The gate then ignores remembered updates with later times. */
  steppedBack(nowNs: TimeNs): void {
    this.#replay.steppedBack(nowNs);
  }

  /**
   * Restores the memory of a publisher and an asset after a restart.
   * @param last the publisher's last accepted update of the asset
   * @returns the memory, with this update
   */
  restore(asset: Asset, publisher: ListedPublisher, last: PublisherPrice, seen: SeenUpdates): LatestInput {
    const pair = this.#pairOf(asset, publisher);
    pair.seen.restore(seen);
    pair.restore(last);
    return pair;
  }

  /** Returns the memory of a publisher and an asset. The gate must have accepted at least one update. The next such update changes it. */
  accepted(asset: Asset, publisher: ListedPublisher): LatestInput {
    return this.#pairs[asset.index]!.get(publisher.index)!;
  }

  /**
   * Checks an update before its signature is verified.
   * @param again true if the message was sent before and may have taken effect. The gate then accepts the last accepted update
   * again. For an earlier accepted update, the sender gets the same answer again, but the update has no effect; the verifier checks
   * its signature first.
   * @param nowNs the time of the clock, if the caller has already read the clock
   * @returns the candidate, or the reason why the gate refuses the update
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
    if (known === undefined) return UNKNOWN_ASSET;
    if (!rights.maySee(raw.symbol)) return 'the token does not cover this asset';
    if (raw.assetId !== raw.symbol) return 'asset_id differs from the key it stands under';
    if (raw.signatureType !== path) return `signature_type is not "${path}", which this path takes`;
    if (asset === undefined) return otherSignatures(known);

    const key = this.#keyOf(raw.publisherKey, path);
    if (typeof key === 'string') return key;
    const { publisher } = key;
    if (!rights.mayPublishAs(publisher)) return 'the token does not cover this publisher_key';
    if (!mayPublish(publisher, asset)) return 'publisher_key is not allowed for this asset';
    const { title, coversOracleId, signsNegativePrices } = SIGNATURES[path];
    if (!coversOracleId && raw.externalAssetId !== raw.symbol) return 'external_asset_id names another asset';

    const price = parsePrice(raw.price);
    if (price === undefined)
      return raw.price === '-0'
        ? 'price is -0; zero has no sign'
        : 'price is not an integer within -2^127 .. 2^127-1 in plain digits';
    if (!signsNegativePrices && price < 0n) return `a price with a ${title} signature cannot be negative`;
    const timestampNs = parseTimeNs(raw.timestamp);
    if (timestampNs === undefined) return 'timestamp is not an integer of nanoseconds';
    const { maxPastNs, maxFutureNs } = this.#window;
    if (timestampNs < nowNs - maxPastNs) return `timestamp is too old${perhapsCoarser(timestampNs)}`;
    if (timestampNs > nowNs + maxFutureNs) return 'timestamp lies in the future';

    const msgHash = parseHex(raw.msgHash, WORD_BYTES);
    if (msgHash === undefined) return 'msg_hash is not 0x and the hex of 32 bytes';
    const signature = parseSignature(raw, path);
    if (typeof signature === 'string') return signature;
    const pair = this.#pairs[asset.index]?.get(publisher.index);
    const candidate = {
      raw,
      asset,
      publisher,
      keyText: key.text,
      allowedBy: this.#allowList,
      pair,
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
    if (pair === undefined) return candidate;
    if (isRepeated(candidate, pair)) return { ...candidate, verified: true };
    const refused = this.#replay.check(pair.seen, candidate, nowNs + maxFutureNs);
    if (refused !== undefined) {
      candidate.isOver = again && isOver(pair.seen, candidate);
      return candidate.isOver ? candidate : refused;
    }
    // The texts are compared, because the hash is only a claim of the publisher until the service computes it again.
    candidate.verified = pair.seen.isLast(candidate) && pair.isSigned(raw);
    return candidate;
  }

  #keyOf(text: string, path: SignatureType): KnownPublisherKey | string {
    const keys = this.#knownKeys[path];
    const known = keys.get(text);
    if (known !== undefined) return known;
    const { keyBytes } = SIGNATURES[path];
    const key = parseHex(text, keyBytes);
    if (key === undefined) return `publisher_key is not 0x and the hex of ${keyBytes} bytes`;
    const publisher = this.#allowList.publisherByKey(path, key);
    if (publisher === undefined) return PUBLISHER_NOT_LISTED;
    if (keys.size === KEY_TEXTS_MAX) keys.clear();
    // The gate keeps a copy, because the text may be a slice of a whole message. The text is ASCII, as each hex text.
    const kept = Buffer.from(text, 'latin1').toString('latin1');
    const found = { text: kept, publisher };
    keys.set(kept, found);
    return found;
  }

  /**
   * Makes the last check of a candidate, after its signature was verified. During the verification, the service may have accepted other
   * updates or changed the configuration.
   * @returns the memory of the publisher and the asset, which has the candidate unless a later update has replaced it; or the reason
   *   why the gate refuses the update
   */
  accept(candidate: Candidate): LatestInput | string {
    const { raw, asset, publisher, keyText } = candidate;
    const forbidden = candidate.allowedBy === this.#allowList ? undefined : this.#findForbidden(candidate);
    if (forbidden !== undefined) return forbidden;
    const pair = candidate.pair ?? this.#pairOf(asset, publisher);
    if (candidate.isOver || isRepeated(candidate, pair)) return pair;
    const latestNs = this.#clock.nowNs() + this.#window.maxFutureNs;
    const refused = this.#replay.check(pair.seen, candidate, latestNs);
    if (refused !== undefined) return refused;
    this.#replay.record(pair.seen, candidate, latestNs);
    pair.put(keyText, candidate.price, candidate.timestampNs, raw);
    return pair;
  }

  /** Returns the reason why the present configuration forbids an update that an earlier configuration allowed. */
  #findForbidden({ raw, asset, publisher }: Candidate): string | undefined {
    if (this.#allowList.findAsset(asset.symbol, asset.signatureType) === undefined) {
      const other = this.#allowList.findAsset(asset.symbol);
      return other ? otherSignatures(other) : UNKNOWN_ASSET;
    }
    const key = this.#keyOf(raw.publisherKey, publisher.signatureType);
    if (typeof key === 'string') return key;
    return mayPublish(key.publisher, asset) ? undefined : 'publisher_key is not allowed for this asset';
  }

  /** Returns the memory of a publisher and an asset. New memory is empty until an update is accepted. */
  #pairOf(asset: Asset, publisher: ListedPublisher): Pair {
    const ofAsset = this.#pairs[asset.index] ?? new Map<number, Pair>();
    this.#pairs[asset.index] = ofAsset;
    let pair = ofAsset.get(publisher.index);
    if (pair === undefined) {
      pair = new LatestInput(new SeenWindow());
      ofAsset.set(publisher.index, pair);
    }
    return pair;
  }
}

/** Returns whether this update is the last accepted update, in a message that was sent again. */
function isRepeated({ again, timestampNs, raw }: Candidate, pair: Pair): boolean {
  return again && pair.is(timestampNs, raw);
}

/** A publisher, and a received text of its key. */
interface KnownPublisherKey {
  readonly text: string;
  readonly publisher: ListedPublisher;
}

function mayPublish({ assets }: ListedPublisher, { symbol }: Asset): boolean {
  return assets.has('*') || assets.has(symbol);
}

function otherSignatures({ signatureType }: Asset): string {
  return `this asset takes ${signatureType} signatures`;
}
