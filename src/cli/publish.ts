import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Command, Option } from 'commander';
import { Publisher, type PublishResult } from '../client/publisher.js';
import { createPriceSigner, type PriceSigner, parseSecretKey } from '../client/sign_price.js';
import { systemClock } from '../clock/clock.js';
import { readSecretFile } from '../config/secret_file.js';
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
  withConnectionOptions(program.command('publish').description(DESCRIPTION))
    .argument('[prices...]', 'prices such as BTCUSD=65000.5')
    .option(
      '--key <file|hex>',
      "the publisher's secret key: a file that only its owner can read, or 64 hex digits",
    )
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
  let signer: PriceSigner | undefined;
  try {
    signer = options.key === undefined ? undefined : signerOf(options.key, options);
  } catch (error) {
    streams.stderr.write(`publish: ${(error as Error).message}\n`);
    return false;
  }
  const session = new PublishSession(options, signer, streams);
  const lineOptions = { scaled: options.scaled, oracleId: options.oracleId, clock: systemClock() };
  try {
    const lines =
      prices.length > 0
        ? prices.map((price) => parsePriceArgument(price, lineOptions))
        : inputLines(streams.stdin, lineOptions);
    return await session.run(lines);
  } catch (error) {
    // The reason was printed when the connection went down.
    if (!session.isDown) throw error;
    return false;
  } finally {
    await session.close();
  }
}

async function* inputLines(
  stdin: NodeJS.ReadableStream,
  options: PriceLineOptions,
): AsyncGenerator<PriceLine> {
  let lineNumber = 0;
  // Breaking off closes the interface, and with it standard input.
  for await (const line of createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    lineNumber += 1;
    if (line.trim() !== '') yield parsePriceLine(line, lineNumber, options);
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

/** The texts of its errors never show what was given: it may be the key itself with a digit missing. */
function signerOf(key: string, { type: signatureType, oracleId }: PublishOptions): PriceSigner {
  const secretKey = parseSecretKey(/^(?:0x)?[0-9a-fA-F]{64}$/.test(key) ? key : readKeyFile(key));
  if (secretKey === undefined) throw new RangeError('--key: the file does not hold 32 bytes of hex');
  return createPriceSigner({ signatureType, secretKey, oracleId });
}

function readKeyFile(file: string): string {
  const read = readSecretFile(file);
  if ('text' in read) return read.text.trim();
  throw new RangeError(`--key: ${existsSync(file) ? read.message : 'neither 64 hex digits nor a file'}`);
}
