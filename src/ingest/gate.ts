import type { Asset, Publisher, SignatureType } from '../model/asset.js';
import { parseHex, parseHexInto, toHex } from '../model/hex.js';
import { parsePrice } from '../model/price.js';
import type { SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice } from '../model/signed_price.js';
import { type Clock, NS_PER_SECOND, parseTimeNs, secondOf } from '../model/time.js';
import { PUBLIC_KEY_BYTES, WORD_BYTES } from '../wire/signatures.js';
import { LastAccepted } from './last_accepted.js';
import type { RawUpdate } from './message.js';
import { hashKeyOf, ReplayWindow, type SignedUpdate } from './replay.js';

/** An update that passed every check that needs no hash and no curve. */
export interface Candidate extends SignedUpdate {
  readonly raw: RawUpdate;
  /** All that its signature covers is what was last accepted under that signature: a refresh needs no curve arithmetic. */
  readonly verified: boolean;
  /** Its message may have been taken before. */
  readonly again: boolean;
  /** It was accepted when its message came before, and another one after it: it has no effect any more. */
  isOver: boolean;
}

/** Whose connection it is, and what it may publish. */
export interface PublishRights {
  /**
   * Names the sender, over restarts too: only the one that brought an update can refresh it. It is a token's name; another
   * kind of login needs texts that are no token's name, such as one with a control character.
   */
  readonly identity: string;
  mayPublishAs(publisher: Publisher): boolean;
  maySee(symbol: string): boolean;
}

/** What the gate needs to know of the configuration in force. */
export interface AllowList {
  /** @param signatureType without it, an asset of either type is found */
  findAsset(symbol: string, signatureType?: SignatureType): Asset | undefined;
  /** `key`: 20 bytes of an EVM address or 32 of a Stark public key. */
  publisherByKey(type: SignatureType, key: Buffer): Publisher | undefined;
}

/** Which timestamps of publishers are taken. */
export interface IngestWindow {
  /** How far behind the clock. */
  readonly maxPastNs: bigint;
  /** How far ahead of the clock. */
  readonly maxFutureNs: bigint;
  /** How far behind the newest accepted one of the same publisher and asset; 0: only newer ones. */
  readonly maxBackwardNs: bigint;
}

/** `v` without leading zeros, to the recovery bit. */
const RECOVERY_OF_V = new Map<string, 0 | 1>([
  ['0x1b', 0],
  ['0x1c', 1],
  ['0x0', 0],
  ['0x1', 1],
]);
/** Texts of publisher keys that are remembered. A key has many, by case and zeros, and a publisher writes one of them. */
const KEY_TEXTS_MAX = 10_000;

/** The checks before any curve arithmetic: a map lookup costs a thousandth of a curve operation. */
export class Gate {
  readonly #replay: ReplayWindow;
  readonly #last = new LastAccepted();
  readonly #clock: Clock;
  readonly #window: IngestWindow;
  /** Keys of the allow-list as they came, by path. */
  readonly #publisherByText = { evm: new Map<string, Publisher>(), stark: new Map<string, Publisher>() };
  #allowList: AllowList;

  constructor(allowList: AllowList, clock: Clock, window: IngestWindow) {
    this.#allowList = allowList;
    this.#clock = clock;
    this.#window = window;
    this.#replay = new ReplayWindow(window.maxBackwardNs);
  }

  /** Takes over a changed allow-list; what was accepted stays remembered. */
  reload(allowList: AllowList): void {
    this.#allowList = allowList;
    for (const publishers of Object.values(this.#publisherByText)) publishers.clear();
  }

  /** Puts back what was remembered of a publisher and an asset before a restart; `last` is its last accepted update. */
  restore(asset: Asset, publisher: Publisher, last: PublisherPrice, seen: SeenUpdates | undefined): void {
    this.#replay.restore(asset, publisher, last.timestampNs, seen);
    this.#last.put(asset, publisher, { timestampNs: last.timestampNs, raw: last.wire });
  }

  /** What is remembered since this candidate was accepted; to be stored with it. */
  seen({ asset, publisher }: Candidate): SeenUpdates {
    return this.#replay.seen(asset, publisher);
  }

  /**
   * @param again its message was sent before and may have been taken: then the update that was accepted last is accepted once more, and
   *   one that was accepted before that is only answered so, once its signature has proved right
   * @param nowNs the time of the clock, where it was read already
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

    const publisher = this.#publisherOf(raw.publisherKey, path);
    if (typeof publisher === 'string') return publisher;
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
      externalAssetId: raw.externalAssetId,
      msgHash,
      hashKey: hashKeyOf(msgHash),
      signature: signature.rs,
      recovery: signature.recovery,
      verified: false,
      again,
      isOver: false,
    };
    if (this.#isRepeated(candidate)) return { ...candidate, verified: true };
    const refused = this.#replay.check(candidate);
    if (refused !== undefined) {
      candidate.isOver = again && this.#replay.isOver(candidate);
      return candidate.isOver ? candidate : refused;
    }
    candidate.verified = this.#replay.isCurrent(candidate);
    return candidate;
  }

  #publisherOf(text: string, path: SignatureType): Publisher | string {
    const known = this.#publisherByText[path].get(text);
    if (known !== undefined) return known;
    const key = parseHex(text, PUBLIC_KEY_BYTES[path]);
    if (key === undefined) return `publisher_key is not 0x and the hex of ${PUBLIC_KEY_BYTES[path]} bytes`;
    const publisher = this.#allowList.publisherByKey(path, key);
    if (publisher === undefined) return 'publisher_key is not on the allow-list';
    if (this.#publisherByText[path].size === KEY_TEXTS_MAX) this.#publisherByText[path].clear();
    this.#publisherByText[path].set(text, publisher);
    return publisher;
  }

  /**
   * The last check, when the signature has proved right: verification takes time, in which others may have come first or
   * the configuration may have changed.
   */
  accept(candidate: Candidate): string | undefined {
    const { raw, asset, publisher } = candidate;
    if (this.#allowList.findAsset(asset.symbol, asset.signatureType) === undefined) {
      const other = this.#allowList.findAsset(asset.symbol);
      return other ? otherSignatures(other) : 'unknown asset';
    }
    const publisherNow = this.#publisherOf(raw.publisherKey, publisher.signatureType);
    if (typeof publisherNow === 'string') return publisherNow;
    if (!mayPublish(publisherNow, asset)) return 'publisher_key is not allowed for this asset';
    if (candidate.isOver || this.#isRepeated(candidate)) return undefined;
    const refused = this.#replay.check(candidate);
    if (refused !== undefined) return refused;
    this.#replay.record(candidate);
    this.#last.put(asset, publisher, candidate);
    return undefined;
  }

  #isRepeated(candidate: Candidate): boolean {
    return candidate.again && this.#last.is(candidate.asset, candidate.publisher, candidate);
  }
}

/** What an accepted candidate is kept as. */
export function toPublisherPrice(candidate: Candidate): PublisherPrice {
  const { raw, price, timestampNs, msgHash } = candidate;
  return { price, timestampNs, msgHash, wire: raw };
}

function mayPublish({ assets }: Publisher, { symbol }: Asset): boolean {
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

/** Publishers write `v` without zeros or with them, in any case. */
function recoveryOf(v: string): 0 | 1 | undefined {
  const known = RECOVERY_OF_V.get(v);
  if (known !== undefined) return known;
  const bytes = parseHex(v, 32);
  return bytes && RECOVERY_OF_V.get(`0x${BigInt(toHex(bytes)).toString(16)}`);
}
