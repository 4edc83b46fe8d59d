import { type Price, parsePrice } from '../../model/price.js';
import { parseTimeNs, type TimeNs } from '../../model/time.js';
import {
  ERROR_TYPE,
  MESSAGE_TYPES,
  PONG_TYPE,
  REQUEST_TYPES,
  type RequestType,
  TAXONOMY_TYPE,
} from '../../wire/stream.js';
import { type AttributeValues, STREAM_ATTRIBUTES } from '../../wire/stream_attributes.js';
import { parseForeignJson } from '../verify/foreign_json.js';

const [UNSIGNED, SIGNED] = MESSAGE_TYPES;
const [SUBSCRIBE, UNSUBSCRIBE] = REQUEST_TYPES;

/** A price frame of a stream, of either message type. */
export type Frame = UnsignedFrame | SignedFrame;

/** A frame with plain prices. No signature covers these prices. */
export interface UnsignedFrame {
  /** The message type `unsigned`. */
  readonly type: typeof UNSIGNED;
  /** The ID of the taxonomy that maps the IDs of `assets` to symbols. */
  readonly taxonomyId: number;
  /** The time at which the service made the frame, in UNIX nanoseconds. */
  readonly timestampNs: TimeNs;
  /** The prices, in ascending order of their IDs. */
  readonly assets: readonly FrameAsset[];
  /** The text of the frame as received. */
  readonly text: string;
}

/** The price and the attributes of one asset in an unsigned frame. An attribute that the asset lacks is absent. */
export interface FrameAsset extends AttributeValues {
  /** The streaming ID. */
  readonly id: number;
  /** The price times 10^18. */
  readonly value: Price;
}

/** A frame with a signed payload, which {@link verifyPayload} checks. */
export interface SignedFrame {
  /** The message type `signed_ecdsa`. */
  readonly type: typeof SIGNED;
  /** The payload in `0x` hex: a signature of 65 bytes and the signed body. */
  readonly payload: string;
  /** The text of the frame as received. */
  readonly text: string;
}

/** The answer to a subscribe or unsubscribe message that carried an ID. */
export interface SubscriptionReply {
  readonly type: RequestType;
  readonly id: unknown;
  /** The whole set of subscribed assets. */
  readonly assets: readonly number[];
  readonly invalid: readonly number[];
}

/** The answer to a ping. */
export interface PongReply {
  readonly type: typeof PONG_TYPE;
}

/** The notice that assets of the connection ended or returned, or that their IDs mean other assets from the next frame on. */
export interface TaxonomyNotice {
  readonly type: typeof TAXONOMY_TYPE;
  /** The former IDs of subscribed assets that ended. */
  readonly ended: readonly number[];
  /** The present IDs of assets that had ended and are subscribed again. */
  readonly returned: readonly number[];
}

export interface ErrorReply {
  readonly type: typeof ERROR_TYPE;
  readonly id: unknown;
  readonly error: string;
}

/** A message that the service sends on a stream. */
export type Message = Frame | SubscriptionReply | PongReply | TaxonomyNotice | ErrorReply;

/**
 * The digits of a timestamp. The digits are put into quotes before the JSON is parsed, because a double cannot represent
 * nanoseconds. The pattern does not match inside a string, because quotes are escaped there.
 */
const TIMESTAMP = /(?<!\\)"ts":\s*(\d+)/;

/**
 * Reads a text frame of a stream and keeps every digit of its timestamp.
 * @returns the frame, or another message of the service, such as the answer to a subscription; `undefined` for any other text
 */
export function parseFrame(text: string): Message | undefined {
  let value: unknown;
  try {
    value = parseForeignJson(text.replace(TIMESTAMP, '"ts":"$1"'));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  switch (fields['type']) {
    case UNSIGNED:
      return unsignedFrame(fields, text);
    case SIGNED:
      return typeof fields['p'] === 'string' ? { type: SIGNED, payload: fields['p'], text } : undefined;
    case SUBSCRIBE:
    case UNSUBSCRIBE:
      return {
        type: fields['type'],
        id: fields['id'],
        assets: idsOf(fields['assets']),
        invalid: idsOf(fields['invalid']),
      };
    case PONG_TYPE:
      return { type: PONG_TYPE };
    case TAXONOMY_TYPE:
      return { type: TAXONOMY_TYPE, ended: idsOf(fields['ended']), returned: idsOf(fields['returned']) };
    case ERROR_TYPE:
      return { type: ERROR_TYPE, id: fields['id'], error: String(fields['error']) };
    default:
      return undefined;
  }
}

function unsignedFrame(fields: Record<string, unknown>, text: string): UnsignedFrame | undefined {
  const { tax, ts, a } = fields;
  const timestampNs = typeof ts === 'string' ? parseTimeNs(ts) : undefined;
  if (typeof tax !== 'number' || timestampNs === undefined || !Array.isArray(a)) return undefined;
  const assets = a.map(frameAsset);
  if (assets.includes(undefined)) return undefined;
  return { type: UNSIGNED, taxonomyId: tax, timestampNs, assets: assets as FrameAsset[], text };
}

interface FramePair {
  readonly id?: unknown;
  readonly v?: unknown;
  readonly [field: string]: unknown;
}

function frameAsset(pair: FramePair | null): FrameAsset | undefined {
  const value = typeof pair?.v === 'string' ? parsePrice(pair.v) : undefined;
  if (value === undefined || typeof pair?.id !== 'number') return undefined;
  const asset: { -readonly [Name in keyof FrameAsset]: FrameAsset[Name] } = { id: pair.id, value };
  for (const { field, property } of STREAM_ATTRIBUTES) {
    const attribute = pair[field];
    if (typeof attribute === 'number') asset[property] = attribute;
  }
  return asset;
}

function idsOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === 'number') : [];
}
