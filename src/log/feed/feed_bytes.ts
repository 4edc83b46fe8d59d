import type { AssetName } from '../../model/asset_map.js';
import type { Catalogue } from '../../model/catalogue.js';
import { readPrice, writePrice } from '../../model/price.js';
import { QUALITY_BYTES, readQuality, writeQuality } from '../../model/price_with_quality.js';
import type { TimeNs } from '../../model/time.js';
import { PRICE_BYTES } from '../../wire/quantized_price.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import { decodeHolding, encodeHolding } from '../records/holding.js';
import type { RingMessage } from './byte_ring.js';
import type { FedAsset, FeedMessages, FeedPosition } from './feed.js';

/** The kinds of a feed's messages in a ring. `begin` is missing here, because the sender passes `begin` on as an object. */
const PRICED = 1;
const RECORDED = 2;
const ENDED = 3;
const APPLIED = 4;
const WITHDRAWN = 5;

/** Writes a message to one or more rings. The bytes are valid only during the call. */
export type WriteMessage = (kind: number, sequence: number, bytes: Uint8Array) => void;

const ID_BYTES = 2;
const QUALITY_AT = ID_BYTES + PRICE_BYTES;
const TIME_BYTES = 8;
/** The size of the signature type (one byte) and of the symbol's length in bytes (uint16). */
const NAME_BYTES = 3;

/**
 * Returns a feed that writes each message as bytes, once for all receivers:
 *
 * priced      streaming ID (uint16), price, quality (`model/price_with_quality.ts`)
 * recorded    signature type (a byte), length of the symbol in bytes (uint16), symbol, record of `log/records/holding.ts`
 * ended       time in ns (int64), signature type, length, symbol
 * withdrawn   signature type, length, symbol
 * applied     time in ns (int64)
 *
 * Numbers are big-endian. The bytes contain neither the sequence nor the epoch, which is the epoch of the last snapshot.
 */
export function bytesFeed(write: WriteMessage): FeedMessages {
  const priceBytes = Buffer.alloc(QUALITY_AT + QUALITY_BYTES);
  const timeBytes = Buffer.alloc(TIME_BYTES);
  return {
    priced({ sequence, asset, price, quality }) {
      priceBytes.writeUInt16BE(asset.id);
      writePrice(price, priceBytes, ID_BYTES);
      writeQuality(quality, priceBytes, QUALITY_AT);
      write(PRICED, sequence, priceBytes);
    },
    recorded({ sequence, asset, holding }) {
      write(RECORDED, sequence, Buffer.concat([...nameParts(asset), encodeHolding(holding)]));
    },
    ended({ sequence, asset, atNs }) {
      timeBytes.writeBigInt64BE(atNs);
      write(ENDED, sequence, Buffer.concat([timeBytes, ...nameParts(asset)]));
    },
    withdrawn: ({ sequence, asset }) => write(WITHDRAWN, sequence, Buffer.concat(nameParts(asset))),
    applied(receivedNs) {
      timeBytes.writeBigInt64BE(receivedNs);
      write(APPLIED, 0, timeBytes);
    },
  };
}

/**
 * The current catalogue of the receiver. The catalogue changes in the order of the feed, so an ID has the same meaning for the
 * sender and the receiver.
 */
export type ReadersCatalogue = Pick<Catalogue, 'assetById' | 'placedAsset'>;

/** Reads one message that {@link bytesFeed} wrote, and passes it to a feed. */
export function readFeedMessage(
  { kind, sequence, bytes }: RingMessage,
  epoch: number,
  feed: FeedMessages,
  catalogue: ReadersCatalogue,
): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const position: FeedPosition = { epoch, sequence };
  switch (kind) {
    case PRICED: {
      const id = buffer.readUInt16BE();
      const asset = catalogue.assetById(id);
      if (asset === undefined) throw new Error(`a feed tells a price of ID ${id}, which no asset has`);
      const price = readPrice(buffer, ID_BYTES);
      feed.priced({ epoch, sequence, asset, price, quality: readQuality(buffer, QUALITY_AT) });
      break;
    }
    case RECORDED: {
      const { name, end } = readName(buffer, 0);
      const holding = decodeHolding(buffer.subarray(end));
      feed.recorded({ ...position, asset: fedAsset(name, catalogue), holding });
      break;
    }
    case WITHDRAWN:
      feed.withdrawn({ ...position, asset: fedAsset(readName(buffer, 0).name, catalogue) });
      break;
    case ENDED: {
      const atNs = buffer.readBigInt64BE() as TimeNs;
      feed.ended({ ...position, asset: fedAsset(readName(buffer, TIME_BYTES).name, catalogue), atNs });
      break;
    }
    case APPLIED:
      feed.applied(buffer.readBigInt64BE() as TimeNs);
      break;
    default:
      throw new Error(`a feed has no message ${kind}`);
  }
}

/** Returns this thread's asset with the name, or the name itself if the asset is not in the catalogue. */
export function fedAsset(name: AssetName, catalogue: Pick<ReadersCatalogue, 'placedAsset'>): FedAsset {
  return catalogue.placedAsset(name) ?? name;
}

function nameParts({ symbol, signatureType }: AssetName): Uint8Array[] {
  const head = Buffer.alloc(NAME_BYTES);
  const text = Buffer.from(symbol);
  head[0] = SIGNATURE_TYPES.indexOf(signatureType);
  head.writeUInt16BE(text.length, 1);
  return [head, text];
}

/** @returns the name at this offset, and the offset after the name */
function readName(buffer: Buffer, at: number): { readonly name: AssetName; readonly end: number } {
  const end = at + NAME_BYTES + buffer.readUInt16BE(at + 1);
  const symbol = buffer.toString('utf8', at + NAME_BYTES, end);
  return { name: { symbol, signatureType: SIGNATURE_TYPES[buffer[at]!]! }, end };
}
