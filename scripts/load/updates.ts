import { eip191, evmPriceHash } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { Pedersen } from '../../src/crypto/stark/pedersen.js';
import { fieldNumber, starkExternalAssetId, starkPriceMessage } from '../../src/crypto/stark/stark.js';
import { starkSignMessage } from '../../src/crypto/stark/stark_ecdsa.js';
import type { SignatureType } from '../../src/model/asset.js';
import { toHex } from '../../src/model/hex.js';
import type { Price } from '../../src/model/price.js';
import type { PublisherPrice } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { ORACLE_ID, symbolOf } from './config.js';
import { type PublisherKeys, publisherKeys } from './keys.js';
import { SEED, seededRandom } from './random.js';

/** The time of the first update: 2025-01-01. By default, each update is a millisecond later than the previous update. */
const START_NS = 1_735_689_600_000_000_000n;
const UPDATE_INTERVAL_NS = 1_000_000n;
/**
 * The largest move from an asset's first price. The move is below 0.1 %, the threshold at which the service immediately signs an
 * aggregate.
 */
const MOVE_MAX = 0.0003;
/** The number of possible moves. With this number, no price occurs twice within a second; a repeated price would be a refresh. */
const MOVE_STEPS = 1_000_000_000_000n;

export interface Update {
  readonly symbol: string;
  readonly price: Price;
  readonly timestampNs: TimeNs;
  /** The update's entry in `data`. */
  readonly text: string;
}

/** The used fields of an entry that {@link Updates.update} made. */
export interface SentEntry {
  readonly signed_price: {
    readonly publisher_key: string;
    readonly external_asset_id: string;
    readonly price: string;
    readonly timestamped_signature: {
      readonly signature: { readonly r: string; readonly s: string; readonly v: string };
      readonly msg_hash: string;
    };
  };
}

export interface UpdateTimes {
  readonly startNs?: bigint;
  /** The time between two updates, in ns. */
  readonly intervalNs?: bigint;
}

/** Creates publisher messages with signed updates, which are the same in every run. */
export class Updates {
  readonly #type: SignatureType;
  readonly #keys: PublisherKeys[] = [];
  readonly #random = seededRandom(SEED);
  readonly #pedersen = new Pedersen();
  readonly #startNs: bigint;
  readonly #intervalNs: bigint;
  #made = 0n;

  /** @param times the times of the updates; by default, the times are the same in every run */
  constructor(signatureType: SignatureType, times: UpdateTimes = {}) {
    this.#type = signatureType;
    this.#startNs = times.startNs ?? START_NS;
    this.#intervalNs = times.intervalNs ?? UPDATE_INTERVAL_NS;
  }

  /** Returns a `signed_prices` message with one update of each asset. */
  message(publisher: number, assets: readonly number[]): string {
    return publishMessage(assets.map((asset) => this.update(publisher, asset).text));
  }

  /** Makes an update with a price, a time and the entry in `data`. */
  update(publisher: number, asset: number): Update {
    this.#keys[publisher] ??= publisherKeys(this.#type, publisher);
    const keys = this.#keys[publisher];
    const timestampNs = (this.#startNs + this.#made++ * this.#intervalNs) as TimeNs;
    const base = 100n * 10n ** 18n * BigInt(asset + 1);
    const move = BigInt(Math.round(this.#random() * MOVE_MAX * Number(MOVE_STEPS)));
    const price = (base + (base * move) / MOVE_STEPS) as Price;
    const symbol = symbolOf(asset);
    const signed =
      this.#type === 'evm'
        ? evm(keys, symbol, timestampNs, price)
        : this.#stark(keys, symbol, timestampNs, price);
    const text =
      `"${symbol}":{"oracle_id":"${ORACLE_ID}","asset_id":"${symbol}","trigger":"clock","signed_price":{` +
      `"publisher_key":"${toHex(keys.key)}","external_asset_id":"${signed.externalAssetId}",` +
      `"signature_type":"${this.#type}","price":"${price}","timestamped_signature":{"signature":{${signed.signature}},` +
      `"timestamp":${timestampNs},"msg_hash":"${toHex(signed.msgHash)}"}}}`;
    return { symbol, price, timestampNs, text };
  }

  /** Makes an update in the form in which the service keeps an accepted update. */
  input(publisher: number, asset: number): PublisherPrice {
    const { price, timestampNs, text } = this.update(publisher, asset);
    const [{ signed_price: signed }] = Object.values(JSON.parse(`{${text}}`)) as [SentEntry];
    const { signature, msg_hash: msgHash } = signed.timestamped_signature;
    const wire = {
      publisherKey: signed.publisher_key,
      externalAssetId: signed.external_asset_id,
      price: signed.price,
      ...signature,
      msgHash,
      metadata: undefined,
    };
    return { price, timestampNs, wire };
  }

  #stark({ secretKey }: PublisherKeys, symbol: string, timestampNs: TimeNs, price: Price) {
    const message = starkPriceMessage(symbol, ORACLE_ID, timestampNs, price)!;
    const { msgHash, r, s } = starkSignMessage(this.#pedersen, message, fieldNumber(secretKey));
    return {
      externalAssetId: starkExternalAssetId(symbol, ORACLE_ID)!,
      msgHash,
      signature: `"r":"${toHex(r)}","s":"${toHex(s)}"`,
    };
  }
}

/** A message that the service rejects. The service sends the rejection after all earlier messages of the connection have taken effect. */
export const REJECTED_MESSAGE = publishMessage([
  '"?":{"asset_id":"?","signed_price":{"publisher_key":"0x0","external_asset_id":"?","signature_type":"evm",' +
    '"price":"0","timestamped_signature":{"signature":{"r":"0x0","s":"0x0"},"timestamp":0,"msg_hash":"0x0"}}}',
]);

/** Returns a `signed_prices` message with entries from {@link Updates.update}. */
export function publishMessage(entries: readonly string[], traceId = 'bench'): string {
  return `{"type":"signed_prices","trace_id":"${traceId}","data":{${entries.join()}}}`;
}

function evm({ secretKey, key }: PublisherKeys, symbol: string, timestampNs: TimeNs, price: Price) {
  const msgHash = evmPriceHash(key, symbol, timestampNs, price);
  const { signature, recovery } = secp256k1.sign(eip191(msgHash), secretKey);
  const r = toHex(signature.subarray(0, 32));
  const s = toHex(signature.subarray(32));
  return {
    externalAssetId: symbol,
    msgHash,
    signature: `"r":"${r}","s":"${s}","v":"${recovery === 0 ? '0x1b' : '0x1c'}"`,
  };
}
