import { NODE } from '../client/connect/node_platform.js';
import { type Down, ReconnectingSocket } from '../client/connect/reconnecting_socket.js';
import { RestService } from '../client/connect/rest_service.js';
import { TokenSource } from '../client/connect/token_source.js';
import { parseExactJson, writeExactJson } from '../client/verify/exact_json.js';
import { REST_PATHS, SUBSCRIBE_PATHS } from '../wire/paths.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import { describeDown } from './client_command.js';
import type { Shown } from './shown_line.js';

export interface AggregateListenerEvents {
  /** Receives each aggregate as JSON. */
  readonly onAggregate: (text: string) => void;
  readonly onDown: (reason: Shown) => void;
}

/** The time without a message after which the listener probes a connection. */
const QUIET_MS = 20_000;
const ASSETS_MAX = 10_000;

/** Listens to the streams of signed aggregates of all assets. */
export class AggregateListener {
  readonly #sockets: readonly ReconnectingSocket[];
  #isClosed = false;

  private constructor(
    url: string,
    token: string,
    symbols: readonly string[],
    events: AggregateListenerEvents,
  ) {
    const address = url.replace(/^http/, 'ws');
    const subscribe = JSON.stringify({ type: 'subscribe', data: symbols });
    this.#sockets = SIGNATURE_TYPES.map((type) => {
      const path = SUBSCRIBE_PATHS[type];
      const onDown = (down: Down) => {
        if (!this.#isClosed) events.onDown(describeDown(`${address}${path}`, down));
      };
      const socket: ReconnectingSocket = new ReconnectingSocket(
        path,
        QUIET_MS,
        { url: address, token, openSocket: NODE.openSocket, onDown },
        {
          onOpen: () => socket.send(subscribe),
          onText: (text) => aggregatesOf(text).forEach(events.onAggregate),
        },
      );
      return socket;
    });
  }

  /** Connects to the streams. @throws Error when the service does not list its assets */
  static async open(url: string, token: string, events: AggregateListenerEvents): Promise<AggregateListener> {
    const service = new RestService(url, NODE, new TokenSource(token, undefined));
    const symbols = await service.getForm(REST_PATHS.assets, (answer) => answer.texts('data'));
    return new AggregateListener(url, token, symbols.slice(0, ASSETS_MAX), events);
  }

  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.close();
  }
}

/** Returns the aggregates of a message as JSON texts with all digits. */
function aggregatesOf(text: string): string[] {
  const message = parseExactJson(text) as { readonly type?: unknown; readonly data?: unknown } | undefined;
  if (message?.type !== 'oracle_prices' || typeof message.data !== 'object' || message.data === null)
    return [];
  return Object.values(message.data).flatMap((one) =>
    typeof one === 'object' && one !== null ? [writeExactJson(one)] : [],
  );
}
