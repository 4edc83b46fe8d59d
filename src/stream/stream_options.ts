import { ATTRIBUTE_NAMES, maskOf } from '../wire/attribute_facts.js';
import {
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
  /** The mask of the attributes in `addtl_attrs`. With attributes, payloads have the versioned layout. */
  readonly mask: number;
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
  if (!attributes.every((name) => ATTRIBUTE_NAMES.includes(name)))
    return `addtl_attrs must be a list of ${ATTRIBUTE_NAMES.join(', ')}`;
  const encoding = query.get('encoding') ?? DEFAULT_ENCODING;
  if (!isEncoding(encoding)) return `encoding must be one of ${ENCODINGS.join(', ')}`;
  const binary = encoding === 'binary' && messageType === 'signed_ecdsa';
  return sharedOptions({ channel, messageType, mask: maskOf(attributes), binary });
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
export function optionsKey({ channel, messageType, mask, binary }: StreamQuery): string {
  return `${channel} ${messageType} ${mask} ${binary}`;
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
