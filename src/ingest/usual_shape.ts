/** The keys of an object in a publish message of the usual shape. */
export interface Shape {
  /** The ASCII bytes of each key and its closing quotation mark, in the documented order. */
  readonly keys: readonly Uint8Array[];
  readonly kinds: readonly ValueKind[];
  /** The place of each string in the list of values. */
  readonly places: readonly number[];
  /** A bit for each key that the object must have. */
  readonly required: number;
}

/** The kind of a value: a string, the timestamp, the object of updates, or an object with known keys. */
export type ValueKind = 'text' | 'timestamp' | 'updates' | Shape;

/** The places of the strings of a message, and of its latest update, in the list of values. */
export const PLACES = {
  type: 0,
  traceId: 1,
  assetId: 2,
  publisherKey: 3,
  externalAssetId: 4,
  signatureType: 5,
  price: 6,
  timestamp: 7,
  r: 8,
  s: 9,
  v: 10,
  msgHash: 11,
  /** The place of strings that the service does not use. */
  unused: 12,
} as const;
export const PLACE_COUNT = PLACES.unused + 1;

type ShapeKey = readonly [key: string, kind: ValueKind, place?: number, optional?: 'optional'];

function shapeOf(keys: readonly ShapeKey[]): Shape {
  return {
    keys: keys.map(([key]) => new Uint8Array(Buffer.from(`${key}"`))),
    kinds: keys.map(([, kind]) => kind),
    places: keys.map(([, , place]) => place ?? PLACES.unused),
    required: keys.reduce((bits, [, , , optional], i) => (optional ? bits : bits | (1 << i)), 0),
  };
}

const SIGNATURE = shapeOf([
  ['r', 'text', PLACES.r],
  ['s', 'text', PLACES.s],
  ['v', 'text', PLACES.v, 'optional'],
]);

const TIMESTAMPED_SIGNATURE = shapeOf([
  ['signature', SIGNATURE],
  ['timestamp', 'timestamp', PLACES.timestamp],
  ['msg_hash', 'text', PLACES.msgHash],
]);

const SIGNED_PRICE = shapeOf([
  ['publisher_key', 'text', PLACES.publisherKey],
  ['external_asset_id', 'text', PLACES.externalAssetId],
  ['signature_type', 'text', PLACES.signatureType],
  ['price', 'text', PLACES.price],
  ['timestamped_signature', TIMESTAMPED_SIGNATURE],
]);

/** The value of an asset in `data`. */
export const UPDATE_SHAPE = shapeOf([
  ['oracle_id', 'text', PLACES.unused, 'optional'],
  ['asset_id', 'text', PLACES.assetId],
  ['trigger', 'text', PLACES.unused, 'optional'],
  ['signed_price', SIGNED_PRICE],
]);

/** A whole message. */
export const MESSAGE_SHAPE = shapeOf([
  ['type', 'text', PLACES.type],
  ['trace_id', 'text', PLACES.traceId, 'optional'],
  ['data', 'updates'],
]);
