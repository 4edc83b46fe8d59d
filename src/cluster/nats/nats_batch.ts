import { createInbox, type Msg } from '@nats-io/transport-node';
import type { BusConnection } from './nats_connection.js';
import { noAnswer } from './nats_streams.js';

/**
 * The longest time between two messages of a batch. After this time, the node repeats the request. The first request may have reached a
 * server that is cut off; the second may reach any other server with a copy.
 */
const SILENT_MS_MAX = 1_000;

const END_OF_BATCH = 204;
const NOT_FOUND = 404;
/** The status of an answer when no server with a copy listens: the stream is new, or its servers are starting. */
const NO_RESPONDERS = 503;
const ASK_AGAIN_MS = 100;

export interface BatchRequest {
  /** The first sequence. */
  readonly seq: number;
  readonly batch: number;
  readonly max_bytes: number;
  /** A filter of subjects. Only messages with a matching subject are returned. */
  readonly next_by_subj?: string;
}

/**
 * Returns messages of a stream in order, from any server with a copy. If this server lags, the newest messages are missing.
 * @throws Error when no server answers, or when the connection is lost during the request
 */
export async function readBatch(
  connection: BusConnection,
  stream: string,
  request: BatchRequest,
): Promise<readonly Msg[]> {
  if (connection.server === undefined) throw new Error('not connected to a NATS server');
  const subject = `$JS.API.DIRECT.GET.${stream}`;
  return new Promise((resolve, reject) => {
    let isUnheard = false;
    const messages: Msg[] = [];
    const inbox = createInbox(connection.inboxPrefix);
    const end = (error?: Error) => {
      clearTimeout(timer);
      clearTimeout(again);
      stop();
      stopLost();
      if (error) reject(error);
      else resolve(messages);
    };
    // `subscribe` throws while the connection is closing. Nothing else needs to be ended then.
    const stop = connection.subscribe(inbox, (message) => {
      const code = message.headers?.code ?? 0;
      if (code === NO_RESPONDERS && messages.length === 0) {
        isUnheard = true;
        again = setTimeout(ask, ASK_AGAIN_MS);
        return;
      }
      if (code === 0 && !connection.isRecordOf(stream, message)) return;
      timer.refresh();
      if (code === 0) messages.push(message);
      else if (code === END_OF_BATCH || code === NOT_FOUND) end();
      else end(new Error(`${stream} cannot be read: ${message.headers!.description} (${code})`));
    });
    let again: NodeJS.Timeout | undefined;
    const silence = () => (isUnheard ? noAnswer(subject) : `no server answers with ${stream}`);
    const timer = setTimeout(() => end(new Error(silence())), SILENT_MS_MAX);
    const stopLost = connection.onLost(() => end(new Error('the connection to the NATS server was lost')));
    const question = new TextEncoder().encode(JSON.stringify(request));
    const ask = () => {
      try {
        connection.publish(subject, question, inbox);
      } catch (error) {
        end(error as Error);
      }
    };
    ask();
  });
}
