import { once } from 'node:events';
import { NODE } from '../client/connect/node_platform.js';
import { Publisher, type PublishResult } from '../client/prices/publisher.js';
import type { PriceSigner } from '../client/sign/sign_price.js';
import type { SignatureType } from '../model/asset.js';
import type { Clock } from '../model/time.js';
import { PUBLISHER_NOT_LISTED, type RequestedAck } from '../wire/publish_message.js';
import { type CommandStreams, describeDown } from './client_command.js';
import { listedPublisher } from './keygen_command.js';
import { LAST_PRICES_MAX, LastPrices } from './last_prices.js';
import type { PriceLine } from './price_line.js';
import { Progress } from './progress_line.js';
import { LineWriter, ownText, shown, writeLine } from './shown_line.js';

export interface SessionOptions {
  readonly url: string;
  readonly token: string;
  readonly type: SignatureType;
  readonly ack: RequestedAck;
  /**
   * The interval in milliseconds at which the command signs the last prices again. Without an interval, the command signs each
   * price once.
   */
  readonly every?: number;
}

/**
 * The largest number of messages without an answer. At this limit the session stops reading standard input until answers arrive.
 */
const UNANSWERED_MAX = 64;

/**
 * A run of `tickseal publish`. The session sends lines on one connection, prints every answer, and signs the last prices again.
 */
export class PublishSession {
  readonly #publisher: Publisher;
  readonly #signer: PriceSigner | undefined;
  readonly #type: SignatureType;
  readonly #stderr: CommandStreams['stderr'];
  readonly #out: LineWriter;
  readonly #unanswered = new Set<Promise<void>>();
  readonly #clock: Clock;
  readonly #everyMs: number | undefined;
  readonly #lastPrices = new LastPrices();
  readonly #stop = new AbortController();
  readonly #progress: Progress | undefined;
  #answers = 0;
  #isOk = true;
  /** True when the command has said how to list the publisher. */
  #saidHowToList = false;
  #isUp = false;
  #wasUp = false;
  #isClosing = false;
  /** True when the session has no connection and will make no further connection. */
  isDown = false;

  constructor(
    options: SessionOptions,
    signer: PriceSigner | undefined,
    streams: CommandStreams,
    clock: Clock,
  ) {
    const { url, token, type: signatureType, ack, every } = options;
    this.#signer = signer;
    this.#type = signatureType;
    this.#stderr = streams.stderr;
    this.#clock = clock;
    this.#everyMs = every;
    // The progress line appears only if answers go to a file or pipe, because printed answers also show the progress.
    const { isTTY } = streams.stdout as { readonly isTTY?: boolean };
    if (isTTY !== true) this.#progress = new Progress(streams.stderr);
    this.#out = new LineWriter(streams.stdout, () => this.stop());
    this.#publisher = new Publisher({
      url,
      token,
      signatureType,
      ack,
      openSocket: NODE.openSocket,
      onUp: () => {
        this.#isUp = true;
        this.#wasUp = true;
      },
      onDown: (down) => {
        this.#isUp = false;
        if (this.#isClosing) return;
        this.#progress?.clear();
        writeLine(streams.stderr, shown`publish: ${describeDown(url, down)}`);
        if (this.#wasUp && !down.final) return;
        this.isDown = true;
        this.stop();
      },
    });
  }

  /** Aborted when the session sends no more messages and the input must end. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** Resolves when the command is stopped, or immediately if there are no prices to sign again. */
  async signedAgain(): Promise<void> {
    if (!this.#lastPrices.isEmpty && !this.stopped.aborted) await once(this.stopped, 'abort');
  }

  /** Ends the input. Sent messages still receive their answers. */
  stop(): void {
    this.#stop.abort();
    if (!this.#isUp) void this.close();
  }

  /**
   * Sends the messages of all lines, with at most `UNANSWERED_MAX` unanswered messages. Returns true if the service accepted every
   * price and the connection was not lost permanently.
   */
  async run(lines: Iterable<PriceLine> | AsyncIterable<PriceLine>): Promise<boolean> {
    // The wait comes first, because the session must read no input while the service is unreachable.
    await this.#publisher.opened();
    const timer = this.#everyMs && setInterval(() => this.#signAgain(), this.#everyMs);
    try {
      for await (const line of lines) {
        if (this.#out.isClosed) break;
        await this.#publisher.opened();
        for (const send of this.#sends(line)) {
          this.#awaitAnswer(send());
          if (this.#unanswered.size >= UNANSWERED_MAX) await Promise.race(this.#unanswered);
        }
      }
    } finally {
      clearInterval(timer);
    }
    await Promise.all(this.#unanswered);
    this.#progress?.clear();
    return this.#isOk && !this.isDown;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#publisher.close();
  }

  /**
   * Signs the last prices again. Does nothing without a connection or while too many answers are missing; the next interval tries
   * again.
   */
  #signAgain(): void {
    if (this.#signer === undefined || !this.#isUp) return;
    for (const updates of this.#lastPrices.sign(this.#signer, this.#clock.nowNs())) {
      if (this.#unanswered.size >= UNANSWERED_MAX) return;
      this.#awaitAnswer(this.#publisher.publish(updates));
    }
  }

  #awaitAnswer(result: Promise<PublishResult>): void {
    const answer = result.then((result) => this.#report(result));
    this.#unanswered.add(answer);
    answer.finally(() => this.#unanswered.delete(answer));
  }

  /** Says once which key signed, and the line with which the service would take its prices. */
  #sayHowToList(): void {
    const signer = this.#signer;
    if (signer === undefined || this.#saidHowToList) return;
    this.#saidHowToList = true;
    this.#progress?.clear();
    const line = ownText(listedPublisher(this.#type, signer.publicKey));
    writeLine(
      this.#stderr,
      shown`publish: the prices are signed by ${signer.publicKey}, which the service does not list; its configuration needs under publishers: ${line}`,
    );
  }

  #sends(line: PriceLine): (() => Promise<PublishResult>)[] {
    if (line.kind === 'forward') {
      return line.messages.map(
        ({ text, traceId }) =>
          () =>
            this.#publisher.forward(text, traceId),
      );
    }
    if (line.kind === 'bad') return this.#refuse(line.reason);
    const signer = this.#signer;
    if (signer === undefined)
      return this.#refuse('a price to be signed needs --key: tickseal keygen makes one');
    try {
      const update = signer.sign(line.price);
      if (this.#everyMs !== undefined && !this.#lastPrices.keep(line.price))
        return this.#refuse(`--every signs at most ${LAST_PRICES_MAX} assets again`);
      return [() => this.#publisher.publish([update])];
    } catch (error) {
      if (error instanceof RangeError) return this.#refuse(error.message);
      throw error;
    }
  }

  #refuse(reason: string): [] {
    this.#isOk = false;
    this.#out.json(JSON.stringify({ type: 'refused', error: reason }));
    return [];
  }

  #report(result: PublishResult): void {
    this.#progress?.update('messages answered', ++this.#answers);
    const trace_id = result.traceId;
    if (result.status === 'answered') {
      const { accepted, rejected } = result;
      if (Object.keys(rejected).length > 0) this.#isOk = false;
      if (Object.values(rejected).some((reason) => reason.includes(PUBLISHER_NOT_LISTED)))
        this.#sayHowToList();
      this.#out.json(JSON.stringify({ type: 'ack', trace_id, accepted, rejected }));
    } else if (result.status === 'failed') {
      this.#isOk = false;
      this.#out.json(JSON.stringify({ type: 'error', trace_id, error: result.reason }));
    }
  }
}
