// What is said on `/ws`, in its query and in its messages.

/** How often frames come, in ms: at each wall-clock multiple, or on `real_time` when a price changed. */
export const CHANNEL_INTERVALS_MS = {
  '10ms': 10,
  '20ms': 20,
  '50ms': 50,
  '100ms': 100,
  '500ms': 500,
  '1s': 1000,
  real_time: undefined,
} as const;

/** The name of a channel: how often the frames of a stream come. */
export type Channel = keyof typeof CHANNEL_INTERVALS_MS;

/** In the order in which they are documented. */
export const CHANNELS = Object.keys(CHANNEL_INTERVALS_MS) as [Channel, ...Channel[]];

/** Frames of `real_time` on one connection are at least this far apart. */
export const REAL_TIME_INTERVAL_MS = 1;

/** The values of `message_type`, which are also the `type` of the frames. */
export const MESSAGE_TYPES = ['unsigned', 'signed_ecdsa'] as const;
/** The kind of frames that a stream sends: plain prices, or the bytes of a signed payload. */
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Names in `addtl_attrs`. `ms` adds the market status of each asset. */
export const ATTRIBUTES = ['ms'] as const;
export type Attribute = (typeof ATTRIBUTES)[number];

/** What a connection gets that does not ask. */
export const DEFAULT_CHANNEL: Channel = 'real_time';
export const DEFAULT_MESSAGE_TYPE: MessageType = 'unsigned';

/** The `type` of what a client sends, and of the answer to it. */
export const REQUEST_TYPES = ['subscribe', 'unsubscribe'] as const;
export type RequestType = (typeof REQUEST_TYPES)[number];

/** The `type` of a question whether the connection still works, and of its answer, on every path. */
export const PING_TYPE = 'ping';
export const PONG_TYPE = 'pong';

/** The `type` of the message behind which IDs of the connection's assets mean other assets: the taxonomy is to be read again. */
export const TAXONOMY_TYPE = 'taxonomy';

/** The `type` of what reports a fault, on every path. */
export const ERROR_TYPE = 'error';

/** UTF-16 code units of a request's `id`, which comes back in the answer. */
export const REQUEST_ID_LENGTH_MAX = 256;

/** The bad message with this number closes the connection. */
export const BAD_MESSAGES_MAX = 10;
