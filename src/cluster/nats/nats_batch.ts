import { createInbox, type Msg } from '@nats-io/transport-node';
import type { BusConnection } from './nats_connection.js';

/**
 * No message of a batch may come later than this after the one before. The question may have gone to a server that was cut off: asked
 * again, it goes to any other that has a copy.
 */
const SILENT_MS_MAX = 2_000;

const END_OF_BATCH = 204;
const NOT_FOUND = 404;
/** No server with a copy listens: the stream was made a moment ago, or its servers start. */
const NO_RESPONDERS = 503;
const ASK_AGAIN_MS = 100;

export interface BatchRequest {
  /** The first sequence. */
  readonly seq: number;
  readonly batch: number;
  readonly max_bytes: number;
  /** Only messages of these subjects. */
  readonly next_by_subj?: string;
}

/**
 * Messages of a stream in its order, from any server that has a copy, which may lag: then the newest are missing.
 * @throws Error when no server answers, or the connection is lost meanwhile
 */
export async function readBatch(
  connection: BusConnection,
  stream: string,
  request: BatchRequest,
): Promise<readonly Msg[]> {
  if (connection.server === undefined) throw new Error('not connected to a NATS server');
  return new Promise((resolve, reject) => {
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
    // It throws when the connection is being closed; until then there is nothing to end.
    const stop = connection.subscribe(inbox, (message) => {
      const code = message.headers?.code ?? 0;
      if (code === NO_RESPONDERS && messages.length === 0) {
        again = setTimeout(ask, ASK_AGAIN_MS);
        return;
      }
      timer.refresh();
      if (code === 0) messages.push(message);
      else if (code === END_OF_BATCH || code === NOT_FOUND) end();
      else end(new Error(`${stream} cannot be read: ${message.headers!.description} (${code})`));
    });
    let again: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => end(new Error(`no server answers with ${stream}`)), SILENT_MS_MAX);
    const stopLost = connection.onLost(() => end(new Error('the connection to the NATS server was lost')));
    const question = new TextEncoder().encode(JSON.stringify(request));
    const ask = () => {
      try {
        connection.publish(`$JS.API.DIRECT.GET.${stream}`, question, inbox);
      } catch (error) {
        end(error as Error);
      }
    };
    ask();
  });
}
