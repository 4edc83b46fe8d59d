import type { TimeNs } from '../../src/model/time.js';
import { TOKEN } from '../load/config.js';
import { clientFrame, type FrameSocket, openFrameSocket } from '../load/frame_socket.js';
import { publishMessage, type Updates } from '../load/updates.js';

export interface AckedPublisherOptions {
  readonly port: number;
  readonly publisher: number;
  /** One update of each in a message. */
  readonly assets: readonly number[];
  readonly ack: 'true' | 'durable';
  readonly updates: Updates;
}

interface Sent {
  readonly atMs: number;
  /** By symbol. */
  readonly timestamps: ReadonlyMap<string, TimeNs>;
}

/** A publisher that keeps account of what was answered to what it sent. */
export class AckedPublisher {
  readonly #options: AckedPublisherOptions;
  #socket: FrameSocket | undefined;
  readonly #pending = new Map<string, Sent>();
  #sent = 0;
  /** By symbol the newest time of an update that was acknowledged as accepted. */
  readonly acknowledged = new Map<string, TimeNs>();
  /** From a message to its answer. */
  delaysMs: number[] = [];
  updatesAccepted = 0;
  /** How often each reason was given for a refusal. */
  readonly refusals = new Map<string, number>();
  /** Answers that were an error, such as that the update is not on disk. */
  readonly errors: string[] = [];
  isClosed = false;
  /** Of the close frame, when one has come. */
  closeCode: number | undefined;

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
      onClose: (code) => {
        publisher.isClosed = true;
        publisher.closeCode = code;
      },
    });
    return publisher;
  }

  get publisher(): number {
    return this.#options.publisher;
  }

  get updatesRejected(): number {
    return [...this.refusals.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Messages without an answer so far. */
  get unanswered(): number {
    return this.#pending.size;
  }

  send(): void {
    const { updates, publisher, assets } = this.#options;
    const made = assets.map((asset) => updates.update(publisher, asset));
    const timestamps = new Map(made.map(({ symbol, timestampNs }) => [symbol, timestampNs]));
    const traceId = String(this.#sent++);
    const frame = clientFrame(
      publishMessage(
        made.map(({ text }) => text),
        traceId,
      ),
    );
    this.#pending.set(traceId, { atMs: performance.now(), timestamps });
    this.#socket!.write(frame);
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
    for (const reason of Object.values(rejected))
      this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
    for (const symbol of accepted) {
      const timestampNs = sent.timestamps.get(symbol)!;
      // Answers may come in another order than the messages.
      if (timestampNs > (this.acknowledged.get(symbol) ?? 0n)) this.acknowledged.set(symbol, timestampNs);
    }
  }
}

interface Answer {
  readonly type: 'ack' | 'error';
  readonly trace_id: string;
  readonly error: string;
  readonly accepted?: readonly string[];
  readonly rejected?: Readonly<Record<string, string>>;
}

/** Has each publisher send a message every so often, until the function that it returns is called. */
export function keepSending(publishers: readonly { send(): void }[], intervalMs: number): () => void {
  const timer = setInterval(() => {
    for (const publisher of publishers) publisher.send();
  }, intervalMs);
  return () => clearInterval(timer);
}
