import { STREAM_PATH } from '../../src/wire/paths.js';
import { TOKEN } from './config.js';
import { clientFrame, type FrameSocket, openFrameSocket } from './frame_socket.js';

export interface StreamsOptions {
  readonly port: number;
  /** The query of `/ws`, such as `channel=10ms`. */
  readonly query: string;
  readonly count: number;
  /** The token of the connections. Default: the token with every scope. */
  readonly token?: string;
  /** Returns the streaming IDs to which a connection subscribes. */
  readonly assetsOf: (connection: number) => readonly number[];
  readonly onFrame?: (payload: Buffer, connection: number) => void;
  /** Called when the server ends a connection, with the code of the server's close frame if the server sent one. */
  readonly onClose?: (code: number | undefined, connection: number) => void;
}

/** Many subscribers in this process. */
export interface Streams {
  /** The number of frames that all connections have received, without the first answers. */
  readonly frames: number;
  /** The number of connections that the server has ended. */
  readonly closed: number;
  close(): void;
}

/** The largest number of connections that are opening at the same time. */
const OPENING_MAX = 200;

/**
 * Connects and subscribes. Resolves when each connection has received an answer. Peers answer the same message.
 * @throws Error when the server ends a connection before it has answered
 */
export async function openStreams(options: StreamsOptions): Promise<Streams> {
  const { port, query, count, assetsOf, onFrame, onClose, token = TOKEN } = options;
  const sockets: FrameSocket[] = [];
  const streams = {
    frames: 0,
    closed: 0,
    close() {
      for (const socket of sockets) socket.close();
    },
  };
  const connect = async (connection: number): Promise<() => Promise<void>> => {
    let onAnswer: (() => void) | undefined;
    let onEnd: ((error: Error) => void) | undefined;
    const answered = new Promise<void>((resolve, reject) => {
      onAnswer = resolve;
      onEnd = reject;
    });
    const socket = await openFrameSocket({
      port,
      path: `${STREAM_PATH}?${query}`,
      token,
      onFrame: (payload) => {
        if (onAnswer !== undefined) {
          onAnswer();
          onAnswer = undefined;
          return;
        }
        streams.frames++;
        onFrame?.(payload, connection);
      },
      onClose: (code) => {
        streams.closed++;
        onEnd?.(new Error(`connection ${connection} ended with code ${code} before its answer`));
        onClose?.(code, connection);
      },
    });
    sockets.push(socket);
    return () => {
      socket.write(clientFrame(JSON.stringify({ type: 'subscribe', assets: assetsOf(connection), id: 1 })));
      return answered;
    };
  };
  const subscribes: (() => Promise<void>)[] = [];
  for (let first = 0; first < count; first += OPENING_MAX) {
    const these = Array.from({ length: Math.min(OPENING_MAX, count - first) }, (_, i) => connect(first + i));
    subscribes.push(...(await Promise.all(these)));
  }
  // The clients subscribe only after all of them have connected, because frames for thousands of clients would delay the other
  // connections.
  await Promise.all(subscribes.map((subscribe) => subscribe()));
  return streams;
}
