// Messages on the publisher paths.

/**
 * The values of `ack`. The value decides whether the service answers each message, and when: immediately, or after the message's
 * effect is on disk.
 */
export const ACKS = ['true', 'false', 'durable'] as const;
export type Ack = (typeof ACKS)[number];

/** The value for a connection without `ack`. The service then reports only faults. */
export const DEFAULT_ACK = 'false' satisfies Ack;

/** The values with which a publisher requests answers. */
export type RequestedAck = Exclude<Ack, typeof DEFAULT_ACK>;

/** The `type` of a publisher's message. */
export const SIGNED_PRICES_TYPE = 'signed_prices';

/** The `type` of the answer that `ack` requests. */
export const ACK_TYPE = 'ack';

/** The largest number of UTF-16 code units in a message's `trace_id`, which the answer repeats. */
export const TRACE_ID_LENGTH_MAX = 256;

/** The reason with which the service refuses a price of an asset that its configuration does not list. */
export const UNKNOWN_ASSET = 'unknown asset: /v1/taxonomy lists the assets';

/** The reason with which the service refuses a price of a publisher that its configuration does not list. */
export const PUBLISHER_NOT_LISTED = 'publisher_key is not on the allow-list';
