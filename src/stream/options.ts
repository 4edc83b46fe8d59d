/** The channels of the streaming API and their interval in ms; `real_time` has none. */
export const CHANNEL_INTERVALS_MS = {
  '10ms': 10,
  '20ms': 20,
  '50ms': 50,
  '100ms': 100,
  '500ms': 500,
  '1s': 1000,
  real_time: undefined,
} as const;

/** All of the intervals are multiples of it. */
export const TICK_MS = 10;

export type Channel = keyof typeof CHANNEL_INTERVALS_MS;

export const MESSAGE_TYPES = ['unsigned', 'signed_ecdsa'] as const;
export type MessageType = (typeof MESSAGE_TYPES)[number];

/** Names in `addtl_attrs`. */
export const ATTRIBUTES = ['ms'] as const;

/** The channel of a connection that names none. */
export const DEFAULT_CHANNEL: Channel = 'real_time';
export const DEFAULT_MESSAGE_TYPE: MessageType = 'unsigned';

/** The options in the query of `/ws`. */
export interface StreamOptions {
  readonly channel: Channel;
  readonly messageType: MessageType;
  /** `addtl_attrs=ms`: each asset has its market status, and payloads have the versioned layout. */
  readonly marketStatus: boolean;
}

/** @returns the options, or an error that names the parameter and its allowed values */
export function parseStreamOptions(query: ReadonlyMap<string, string>): StreamOptions | string {
  const channel = query.get('channel') ?? DEFAULT_CHANNEL;
  if (!isChannel(channel)) return `channel must be one of ${Object.keys(CHANNEL_INTERVALS_MS).join(', ')}`;
  const messageType = query.get('message_type') ?? DEFAULT_MESSAGE_TYPE;
  if (!isMessageType(messageType)) return `message_type must be one of ${MESSAGE_TYPES.join(', ')}`;
  const attributes = query.get('addtl_attrs')?.split(',') ?? [];
  const unknown = attributes.filter((name) => !(ATTRIBUTES as readonly string[]).includes(name));
  if (unknown.length > 0) return `addtl_attrs must be a list of ${ATTRIBUTES.join(', ')}`;
  return sharedOptions(channel, messageType, attributes.includes('ms'));
}

const KNOWN_OPTIONS = new Map<string, StreamOptions>();

/** One object for all connections with the same options. */
function sharedOptions(channel: Channel, messageType: MessageType, marketStatus: boolean): StreamOptions {
  const key = `${channel} ${messageType} ${marketStatus}`;
  let options = KNOWN_OPTIONS.get(key);
  if (options === undefined) {
    options = { channel, messageType, marketStatus };
    KNOWN_OPTIONS.set(key, options);
  }
  return options;
}

function isChannel(text: string): text is Channel {
  return Object.hasOwn(CHANNEL_INTERVALS_MS, text);
}

function isMessageType(text: string): text is MessageType {
  return (MESSAGE_TYPES as readonly string[]).includes(text);
}
