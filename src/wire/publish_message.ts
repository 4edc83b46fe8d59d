// Messages on the publisher paths.

/** The values of `ack`: is each message answered, and when: at once, or after its effect is on disk. */
export const ACKS = ['true', 'false', 'durable'] as const;
export type Ack = (typeof ACKS)[number];

/** The value for a connection that does not ask: only faults are reported. */
export const DEFAULT_ACK = 'false' satisfies Ack;

/** The values with which a publisher asks for answers. */
export type RequestedAck = Exclude<Ack, typeof DEFAULT_ACK>;

/** The `type` of a publisher's message. */
export const SIGNED_PRICES_TYPE = 'signed_prices';

/** The `type` of the answer that `ack` asks for. */
export const ACK_TYPE = 'ack';

/** UTF-16 code units of a message's `trace_id`, which comes back in the answer. */
export const TRACE_ID_LENGTH_MAX = 256;
