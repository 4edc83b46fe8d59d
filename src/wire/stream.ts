// The values in the query of `/ws`, and the messages of `/ws`.

/**
 * The intervals of frames, in ms. The service sends frames at each wall-clock multiple of the interval. On `real_time`, the service
 * sends a frame when a price has changed.
 */
export const CHANNEL_INTERVALS_MS = {
  '10ms': 10,
  '20ms': 20,
  '50ms': 50,
  '100ms': 100,
  '500ms': 500,
  '1s': 1000,
  real_time: undefined,
} as const;

/** The name of a channel. The channel determines how often a stream sends frames. */
export type Channel = keyof typeof CHANNEL_INTERVALS_MS;

/** The channels in the order in which they are documented. */
export const CHANNELS = Object.keys(CHANNEL_INTERVALS_MS) as [Channel, ...Channel[]];

/** The shortest interval between frames of `real_time` on a connection. */
export const REAL_TIME_INTERVAL_MS = 1;

/** The values of `message_type`, which are also the `type` of the frames. */
export const MESSAGE_TYPES = ['unsigned', 'signed_ecdsa'] as const;
/** The kind of frames that a stream sends: plain prices, or the bytes of a signed payload. */
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** The values of `encoding`. With `binary`, a signed frame is a binary message with the bytes of its payload. All other messages are text. */
export const ENCODINGS = ['json', 'binary'] as const;
export type FrameEncoding = (typeof ENCODINGS)[number];

/** The channel of a connection that names no channel. */
export const DEFAULT_CHANNEL: Channel = 'real_time';
export const DEFAULT_MESSAGE_TYPE: MessageType = 'unsigned';
export const DEFAULT_ENCODING: FrameEncoding = 'json';

/** The `type` of a client's request, and of the answer to the request. */
export const REQUEST_TYPES = ['subscribe', 'unsubscribe'] as const;
export type RequestType = (typeof REQUEST_TYPES)[number];

/**
 * The `type` of the message that tests whether the connection still works, on every path. `PONG_TYPE` is the `type` of the
 * answer.
 */
export const PING_TYPE = 'ping';
export const PONG_TYPE = 'pong';

/**
 * The `type` of the message about a reload. The message reports that assets of the connection ended or returned, or that IDs mean other
 * assets from now on. The client must then read the taxonomy again.
 */
export const TAXONOMY_TYPE = 'taxonomy';

/** The `type` of a message that reports a fault, on every path. */
export const ERROR_TYPE = 'error';

/** The largest number of UTF-16 code units in a request's `id`, which the answer repeats. */
export const REQUEST_ID_LENGTH_MAX = 256;

/** The number of bad messages after which the service closes the connection. */
export const BAD_MESSAGES_MAX = 10;
