/** A way in which a WebSocket is closed. */
export interface Close {
  readonly code: number;
  /** The text of the close frame. */
  readonly reason: string;
  /** True when a client should connect again. */
  readonly reconnect: boolean;
}

export const SHUTTING_DOWN = {
  code: 1001,
  reason: 'the service is shutting down',
  reconnect: true,
} as const satisfies Close;
export const TOKEN_REVOKED = {
  code: 4401,
  reason: 'the access token was revoked',
  reconnect: false,
} as const satisfies Close;

/** The ways in which the service closes WebSockets. If two ways have the same code, the reason distinguishes them. */
export const CLOSES = {
  shuttingDown: SHUTTING_DOWN,
  binaryMessage: {
    code: 1003,
    reason: 'binary messages are not accepted: send text',
    reconnect: false,
  },
  badMessages: {
    code: 1008,
    reason: 'too many bad messages',
    reconnect: false,
  },
  refusedMessages: {
    code: 1008,
    reason: 'more than bad_messages_per_second messages of the token were refused',
    reconnect: true,
  },
  controlFlood: {
    code: 1008,
    reason: 'more than control_messages_per_second',
    reconnect: true,
  },
  newerLogin: {
    code: 1008,
    reason: 'more than the allowed connections of the key: a newer login took this place',
    reconnect: true,
  },
  idle: {
    code: 1008,
    reason: 'nothing whole was received within the idle timeout',
    reconnect: true,
  },
  tooMuchAtOnce: {
    code: 1013,
    reason: 'too many messages at once',
    reconnect: true,
  },
  tooSlow: {
    code: 1013,
    reason: 'too slow',
    reconnect: true,
  },
  tokenRevoked: TOKEN_REVOKED,
  keyRemoved: {
    code: 4401,
    reason: 'the publisher key is no longer on the allow-list',
    reconnect: false,
  },
} as const satisfies Readonly<Record<string, Close>>;

/** The paths on which a close is used: streams, publishers, or both. */
export type ClosePaths = 'all' | 'stream' | 'publish';

/** The paths of each close. The paths are in a separate constant so that a client does not load them. */
export const CLOSE_PATHS: Readonly<Record<keyof typeof CLOSES, ClosePaths>> = {
  shuttingDown: 'all',
  binaryMessage: 'all',
  badMessages: 'stream',
  refusedMessages: 'publish',
  controlFlood: 'all',
  newerLogin: 'publish',
  idle: 'all',
  tooMuchAtOnce: 'all',
  tooSlow: 'stream',
  tokenRevoked: 'all',
  keyRemoved: 'publish',
};

/**
 * The texts of the documents for each close, in CommonMark. The texts are in a separate constant so that a client does not
 * load them.
 */
export const CLOSE_MEANINGS: Readonly<Record<keyof typeof CLOSES, string>> = {
  shuttingDown: 'the service is shutting down',
  binaryMessage: 'a binary message',
  badMessages: 'too many bad messages',
  refusedMessages:
    'more than `limits.bad_messages_per_second` messages of the token or key were refused as a whole: they could not be read, were too long, or were past `limits.publish_bytes_per_second`',
  controlFlood:
    'more than `limits.control_messages_per_second` pings or pongs, or far more control messages, came on the connection, or on all connections of the token',
  newerLogin:
    'the key that logged in by signature had all of its allowed connections, a newer login opened one more, and this connection had sent no new update for 10 s',
  idle: 'no whole message, ping or pong came within the idle timeout',
  tooMuchAtOnce:
    'the connection sent more than 100 messages that the service received together, and receiving took it longer than 100 ms',
  tooSlow: 'too slow, the connection took nothing for the time of `limits.slow_consumer`',
  tokenRevoked: 'the access token was revoked',
  keyRemoved: 'the key that logged in by signature is no longer on the allow-list',
};

/** The code with which a client closes a connection. */
export const CLIENT_CLOSE_CODE = 1000;

/** A part of each reason for which a client should connect again after 1008. A client loads this pattern instead of all reasons. */
const RETRIED_POLICY = /more than|empty frames|idle timeout|do not answer/;

/**
 * Returns whether a client should connect again after a close. Returns true for codes that the service does not send.
 * @param reason the reason of the close frame, or a text that contains the reason
 */
export function mayReconnect(code: number, reason: string): boolean {
  return code === 1008 ? RETRIED_POLICY.test(reason) : code !== 1003 && code !== TOKEN_REVOKED.code;
}
