import {
  ATTRIBUTES,
  CHANNEL_INTERVALS_MS,
  CHANNELS,
  type Channel,
  DEFAULT_CHANNEL,
  DEFAULT_ENCODING,
  DEFAULT_MESSAGE_TYPE,
  ENCODINGS,
  type FrameEncoding,
  MESSAGE_TYPES,
  type MessageType,
} from '../wire/stream.js';

/** The options in the query of `/ws`. */
export interface StreamQuery {
  readonly channel: Channel;
  readonly messageType: MessageType;
  /** True for `addtl_attrs=ms`: each asset has its market status, and payloads have the versioned layout. */
  readonly marketStatus: boolean;
  /** True for `addtl_attrs=quality`: each asset has the quality of its newest signed aggregate. Only for `unsigned`. */
  readonly quality: boolean;
  /** True for signed frames with `encoding=binary`: a frame is the bytes of its payload. */
  readonly binary: boolean;
}

/** @returns the options, or an error that names the parameter and its allowed values */
export function parseStreamOptions(query: ReadonlyMap<string, string>): StreamQuery | string {
  const channel = query.get('channel') ?? DEFAULT_CHANNEL;
  if (!isChannel(channel)) return `channel must be one of ${CHANNELS.join(', ')}`;
  const messageType = query.get('message_type') ?? DEFAULT_MESSAGE_TYPE;
  if (!isMessageType(messageType)) return `message_type must be one of ${MESSAGE_TYPES.join(', ')}`;
  const attributes = query.get('addtl_attrs')?.split(',') ?? [];
  const unknown = attributes.filter((name) => !(ATTRIBUTES as readonly string[]).includes(name));
  if (unknown.length > 0) return `addtl_attrs must be a list of ${ATTRIBUTES.join(', ')}`;
  const quality = attributes.includes('quality');
  if (quality && messageType !== 'unsigned')
    return `addtl_attrs may have quality only with message_type=unsigned, because payloads have no room for it`;
  const encoding = query.get('encoding') ?? DEFAULT_ENCODING;
  if (!isEncoding(encoding)) return `encoding must be one of ${ENCODINGS.join(', ')}`;
  const binary = encoding === 'binary' && messageType === 'signed_ecdsa';
  return sharedOptions({ channel, messageType, marketStatus: attributes.includes('ms'), quality, binary });
}

const KNOWN_OPTIONS = new Map<string, StreamQuery>();

/** Returns the object that all connections with the same options share. */
function sharedOptions(query: StreamQuery): StreamQuery {
  const key = optionsKey(query);
  let options = KNOWN_OPTIONS.get(key);
  if (options === undefined) {
    options = query;
    KNOWN_OPTIONS.set(key, options);
  }
  return options;
}

/** Returns a text that is the same for equal options. */
export function optionsKey({ channel, messageType, marketStatus, quality, binary }: StreamQuery): string {
  return `${channel} ${messageType} ${marketStatus} ${quality} ${binary}`;
}

function isChannel(text: string): text is Channel {
  return Object.hasOwn(CHANNEL_INTERVALS_MS, text);
}

function isMessageType(text: string): text is MessageType {
  return (MESSAGE_TYPES as readonly string[]).includes(text);
}

function isEncoding(text: string): text is FrameEncoding {
  return (ENCODINGS as readonly string[]).includes(text);
}
