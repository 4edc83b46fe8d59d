import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { Publisher, type PublishResult } from '../client/publisher.js';
import { createPriceSigner, type PriceSigner } from '../client/sign_price.js';
import { systemClock } from '../clock/clock.js';
import type { SignatureType } from '../model/asset.js';
import { ACKS, DEFAULT_ACK, type RequestedAck } from '../wire/publish.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import {
  type CommandStreams,
  describeDown,
  LineWriter,
  openSocket,
  withConnectionOptions,
} from './client_command.js';
import { readSecretKey, withKeyOption } from './key_option.js';
import { type PriceLine, type PriceLineOptions, parsePriceArgument, parsePriceLine } from './price_line.js';

interface PublishOptions {
  readonly url: string;
  readonly token: string;
  readonly key?: string;
  readonly type: SignatureType;
  readonly oracleId: string;
  readonly ack: RequestedAck;
  readonly scaled: boolean;
}

/** Messages whose answers are awaited at once; standard input is read no faster than they come. */
const UNANSWERED_MAX = 64;

const DESCRIPTION = `sign prices and send them; prints every answer as a JSON line

Without arguments, JSON lines are read from standard input. {"asset":"BTCUSD","price":"65000.5"} is signed, with an \
optional timestamp (nanoseconds), trigger and metadata. What is signed already is sent as it is: a signed_prices \
message, an aggregated signed price, or a publisher's signed price.`;

/** Adds `tickseal publish`. Exit status 1: something was not accepted, or there is no connection. */
export function registerPublish(program: Command, streams: CommandStreams = process): void {
  const command = withConnectionOptions(program.command('publish').description(DESCRIPTION), streams);
  withKeyOption(command, streams)
    .argument('[prices...]', 'prices such as BTCUSD=65000.5')
    .addOption(new Option('--type <type>', 'signature type').choices(SIGNATURE_TYPES).default('evm'))
    .option('--oracle-id <id>', 'the oracle ID, 5 ASCII characters', 'oracl')
    .addOption(
      new Option('--ack <ack>', 'wait until a price is judged (true) or on disk (durable)')
        .choices(ACKS.filter((ack) => ack !== DEFAULT_ACK))
        .default('true'),
    )
    .option('--scaled', 'prices are integers: the real price times 10^18', false)
    .action(async (prices: string[], options: PublishOptions) => {
      const isOk = await publish(prices, options, streams);
      if (!isOk) process.exitCode = 1;
    });
}

async function publish(
  prices: readonly string[],
  options: PublishOptions,
  streams: CommandStreams,
): Promise<boolean> {
  const input = new InputLines(streams.stdin);
  let signer: PriceSigner | undefined;
  try {
    signer = options.key === undefined ? undefined : await signerOf(options.key, options, input);
  } catch (error) {
    streams.stderr.write(`publish: ${(error as Error).message}\n`);
    input.close();
    return false;
  }
  const session = new PublishSession(options, signer, streams);
  const lineOptions = { scaled: options.scaled, oracleId: options.oracleId, clock: systemClock() };
  try {
    const lines =
      prices.length > 0
        ? prices.map((price) => parsePriceArgument(price, lineOptions))
        : pricesOf(input, lineOptions);
    return await session.run(lines);
  } catch (error) {
    // The reason was printed when the connection went down.
    if (!session.isDown) throw error;
    return false;
  } finally {
    input.close();
    await session.close();
  }
}

async function signerOf(
  key: string,
  { type: signatureType, oracleId }: PublishOptions,
  input: InputLines,
): Promise<PriceSigner> {
  const secretKey = await readSecretKey(key, () => input.next());
  return createPriceSigner({ signatureType, secretKey, oracleId });
}

async function* pricesOf(input: InputLines, options: PriceLineOptions): AsyncGenerator<PriceLine> {
  for (let line = await input.next(); line !== undefined; line = await input.next())
    if (line.trim() !== '') yield parsePriceLine(line, input.lineNumber, options);
}

/** The lines of standard input, which is opened when the first one is asked for. */
class InputLines {
  readonly #stdin: NodeJS.ReadableStream;
  #lines: AsyncIterator<string> | undefined;
  /** Of the line that was read last, from 1. */
  lineNumber = 0;

  constructor(stdin: NodeJS.ReadableStream) {
    this.#stdin = stdin;
  }

  /** @returns `undefined` at the end. */
  async next(): Promise<string | undefined> {
    this.#lines ??= createInterface({ input: this.#stdin, crlfDelay: Number.POSITIVE_INFINITY })[
      Symbol.asyncIterator
    ]();
    const { done, value } = await this.#lines.next();
    if (done) return undefined;
    this.lineNumber += 1;
    return value;
  }

  /** Closes standard input too, so that nothing waits for it. */
  close(): void {
    void this.#lines?.return?.();
  }
}

class PublishSession {
  readonly #publisher: Publisher;
  readonly #signer: PriceSigner | undefined;
  readonly #out: LineWriter;
  readonly #unanswered = new Set<Promise<void>>();
  #isOk = true;
  #wasUp = false;
  #isClosing = false;
  isDown = false;

  constructor(options: PublishOptions, signer: PriceSigner | undefined, streams: CommandStreams) {
    this.#signer = signer;
    this.#out = new LineWriter(streams.stdout, () => {});
    const { url, token, type: signatureType, ack } = options;
    this.#publisher = new Publisher({
      url,
      token,
      signatureType,
      ack,
      openSocket,
      onUp: () => {
        this.#wasUp = true;
      },
      onDown: (down) => {
        if (this.#isClosing) return;
        streams.stderr.write(`publish: ${describeDown(url, down)}\n`);
        if (this.#wasUp && !down.final) return;
        this.isDown = true;
        void this.#publisher.close();
      },
    });
  }

  /** Sends every line and awaits its answer; returns whether everything was accepted. */
  async run(lines: Iterable<PriceLine> | AsyncIterable<PriceLine>): Promise<boolean> {
    // Waiting first means that input is not read for a service that is not there.
    await this.#publisher.opened();
    for await (const line of lines) {
      if (this.#out.isClosed) break;
      await this.#publisher.opened();
      for (const send of this.#sends(line)) {
        const answer = send().then((result) => this.#report(result));
        this.#unanswered.add(answer);
        answer.finally(() => this.#unanswered.delete(answer));
        if (this.#unanswered.size >= UNANSWERED_MAX) await Promise.race(this.#unanswered);
      }
    }
    await Promise.all(this.#unanswered);
    return this.#isOk;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#publisher.close();
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
    if (signer === undefined) return this.#refuse('a price to be signed needs --key');
    try {
      const update = signer.sign(line.price);
      return [() => this.#publisher.publish([update])];
    } catch (error) {
      if (error instanceof RangeError) return this.#refuse(error.message);
      throw error;
    }
  }

  #refuse(reason: string): [] {
    this.#isOk = false;
    this.#out.write(JSON.stringify({ type: 'refused', error: reason }));
    return [];
  }

  #report(result: PublishResult): void {
    const trace_id = result.traceId;
    if (result.status === 'answered') {
      const { accepted, rejected } = result;
      if (Object.keys(rejected).length > 0) this.#isOk = false;
      this.#out.write(JSON.stringify({ type: 'ack', trace_id, accepted, rejected }));
    } else if (result.status === 'failed') {
      this.#isOk = false;
      this.#out.write(JSON.stringify({ type: 'error', trace_id, error: result.reason }));
    }
  }
}
