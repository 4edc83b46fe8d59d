import { TOKEN } from '../load/config.js';
import { clientFrame, type FrameSocket, openFrameSocket } from '../load/frame_socket.js';
import { publishMessage, type Update, type Updates } from '../load/updates.js';
import { type Account, keepNewer } from './account.js';

export interface AckedPublisherOptions {
  readonly port: number;
  readonly publisher: number;
  /** The assets. A message has one update of each asset. */
  readonly assets: readonly number[];
  readonly ack: 'true' | 'durable';
  readonly updates: Updates;
  /** Called for each accepted update, and for the reason of each refused one. */
  readonly onAccepted?: (update: Update) => void;
  readonly onRejected?: (reason: string) => void;
  readonly onClose?: () => void;
}

interface Sent {
  readonly atMs: number;
  /** The updates by symbol. */
  readonly updates: ReadonlyMap<string, Update>;
}

/** A publisher that records the answers to its messages. */
export class AckedPublisher {
  readonly #options: AckedPublisherOptions;
  #socket: FrameSocket | undefined;
  readonly #pending = new Map<string, Sent>();
  #sent = 0;
  /** The newest acknowledged update, by symbol. */
  readonly acknowledged: Account = new Map();
  /** The delay between each message and its answer. */
  delaysMs: number[] = [];
  updatesAccepted = 0;
  /** The errors among the answers, for example because an update is not on disk. */
  readonly errors: string[] = [];
  isClosed = false;

  private constructor(options: AckedPublisherOptions) {
    this.#options = options;
  }

  static async open(options: AckedPublisherOptions): Promise<AckedPublisher> {
    const publisher = new AckedPublisher(options);
    publisher.#socket = await openFrameSocket({
      port: options.port,
      path: `/evm/publish?ack=${options.ack}`,
      token: TOKEN,
      onFrame: (payload) => publisher.#take(payload.toString()),
      onClose: () => {
        publisher.isClosed = true;
        options.onClose?.();
      },
    });
    return publisher;
  }

  get publisher(): number {
    return this.#options.publisher;
  }

  /** The number of messages without an answer. */
  get unanswered(): number {
    return this.#pending.size;
  }

  /** Sends an update of each of these assets; default: of all. */
  send(assets = this.#options.assets): void {
    const { updates, publisher } = this.#options;
    const made = assets.map((asset) => updates.update(publisher, asset));
    const traceId = String(this.#sent++);
    const texts = made.map(({ text }) => text);
    const bySymbol = new Map(made.map((update) => [update.symbol, update]));
    this.#pending.set(traceId, { atMs: performance.now(), updates: bySymbol });
    this.#socket!.write(clientFrame(publishMessage(texts, traceId)));
  }

  close(): void {
    this.#socket!.close();
  }

  #take(text: string): void {
    const answer = JSON.parse(text) as Answer;
    const sent = this.#pending.get(answer.trace_id)!;
    this.#pending.delete(answer.trace_id);
    this.delaysMs.push(performance.now() - sent.atMs);
    if (answer.type === 'error') this.errors.push(answer.error);
    const { accepted = [], rejected = {} } = answer;
    this.updatesAccepted += accepted.length;
    for (const symbol of accepted) {
      const update = sent.updates.get(symbol)!;
      // Answers may arrive in another order than their messages.
      keepNewer(this.acknowledged, symbol, update);
      this.#options.onAccepted?.(update);
    }
    for (const reason of Object.values(rejected)) this.#options.onRejected?.(reason);
  }
}

interface Answer {
  readonly type: 'ack' | 'error';
  readonly trace_id: string;
  readonly error: string;
  readonly accepted?: readonly string[];
  readonly rejected?: Readonly<Record<string, string>>;
}

/**
 * Makes each publisher send a message at an interval.
 * @returns a function that stops the sending
 */
export function keepSending(publishers: readonly { send(): void }[], intervalMs: number): () => void {
  const timer = setInterval(() => {
    for (const publisher of publishers) publisher.send();
  }, intervalMs);
  return () => clearInterval(timer);
}
