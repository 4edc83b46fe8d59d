import { createInterface } from 'node:readline';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createPriceSigner } from '../client/node.js';
import type { PriceSigner } from '../client/sign/sign_price.js';
import { systemClock } from '../clock/clock.js';
import { parseDurationNs } from '../config/quantity.js';
import { withoutMark } from '../model/byte_order_mark.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { PUBLISH_PATHS } from '../wire/paths.js';
import { ACKS, DEFAULT_ACK } from '../wire/publish_message.js';
import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES } from '../wire/signatures.js';
import { type CommandStreams, withConnectionOptions } from './client_command.js';
import { readSecretKey, withKeyOption } from './key_option.js';
import { parseOracleId } from './option_forms.js';
import { type PriceLine, type PriceLineOptions, parsePriceArgument, parsePriceLine } from './price_line.js';
import { PublishSession, type SessionOptions } from './publish_session.js';
import { errorText, ownText, reasonText, shown, writeLine } from './shown_line.js';
import { SourcesChild } from './sources_child.js';
import { readSources } from './sources_command.js';
import { type MetricsAddress, withSourcesOptions } from './sources_options.js';
import { EXIT_BAD_FILE } from './sources_session.js';

interface PublishFlags extends SessionOptions {
  readonly key?: string;
  readonly oracleId: string;
  readonly scaled: boolean;
  readonly from?: string;
  readonly record?: string;
  readonly metrics?: MetricsAddress;
  readonly skipMissing: boolean;
}

const EVERY_NS_MAX = 86_400n * NS_PER_SECOND;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

const DESCRIPTION = `sign prices and send them; prints every answer as a JSON line

Without arguments, JSON lines are read from standard input. {"asset":"BTCUSD","price":"65000.5"} is signed, with an \
optional timestamp (nanoseconds), trigger and metadata. Signed input is sent unchanged: a signed_prices \
message, an aggregated signed price, or a publisher's signed price.

With --every, the last price of each asset is signed again and sent at that interval, with the present time and the \
trigger "clock", until the command is stopped or standard input ends. Signed messages are sent once.`;

/** Adds `tickseal publish`. The exit status is 1 if a price was not accepted or the connection failed. */
export function registerPublish(program: Command, streams: CommandStreams = process): void {
  const command = withConnectionOptions(program.command('publish').description(DESCRIPTION), streams);
  withSourcesOptions(withKeyOption(command, streams))
    .argument('[prices...]', 'prices such as BTCUSD=65000.5')
    .addOption(
      new Option('--type <type>', 'signature type').choices(SIGNATURE_TYPES).default(DEFAULT_SIGNATURE_TYPE),
    )
    .option('--oracle-id <id>', 'the oracle ID, 5 ASCII characters', parseOracleId, 'oracl')
    .addOption(
      new Option('--ack <ack>', 'wait until a price is judged (true) or on disk (durable)')
        .choices(ACKS.filter((ack) => ack !== DEFAULT_ACK))
        .default('true'),
    )
    .option('--scaled', 'prices are integers: the real price times 10^18', false)
    .option('--from <file>', 'publish the prices of real markets that a file of sources names')
    .option('--every <duration>', 'sign the last prices again at this interval, such as 500ms', parseInterval)
    .action(async (prices: string[], options: PublishFlags) => {
      const isDefaultUrl = command.getOptionValueSource('url') === 'default';
      const status =
        options.from === undefined
          ? await publishPrices(prices, options, streams)
          : await publishFrom(options.from, prices, options, isDefaultUrl, streams);
      if (status !== 0) process.exitCode = status;
    });
}

async function publishPrices(
  prices: readonly string[],
  options: PublishFlags,
  streams: CommandStreams,
): Promise<number> {
  const lacking = options.from === undefined ? sourcesArguments(options)[0] : undefined;
  if (lacking !== undefined) {
    writeLine(streams.stderr, shown`publish: ${lacking} needs --from`);
    return 1;
  }
  const input = new InputLines(streams.stdin);
  let signer: PriceSigner | undefined;
  try {
    signer = options.key === undefined ? undefined : await signerOf(options.key, options, input);
  } catch (error) {
    writeLine(streams.stderr, shown`publish: ${errorText(error)}`);
    input.close();
    return 1;
  }
  if (options.every !== undefined && signer === undefined) {
    writeLine(streams.stderr, shown`publish: --every needs --key`);
    return 1;
  }
  const clock = systemClock();
  const session = new PublishSession(options, signer, streams, clock);
  const lineOptions = { scaled: options.scaled, oracleId: options.oracleId, clock };
  const markets =
    options.from === undefined
      ? undefined
      : new SourcesChild(options.from, { args: sourcesArguments(options) });
  session.stopped.addEventListener('abort', () => {
    input.close();
    markets?.stop();
  });
  const stop = () => session.stop();
  if (options.every !== undefined || markets !== undefined)
    for (const signal of STOP_SIGNALS) process.once(signal, stop);
  try {
    const lines =
      prices.length > 0
        ? argumentLines(prices, lineOptions, session)
        : pricesOf(markets ?? input, lineOptions);
    const isOk = await session.run(lines);
    if (markets?.failure !== undefined)
      writeLine(streams.stderr, shown`publish: ${reasonText(markets.failure)}`);
    if (markets?.exitStatus === EXIT_BAD_FILE) return EXIT_BAD_FILE;
    return isOk && markets?.failure === undefined ? 0 : 1;
  } catch (error) {
    // Two cases need no error message: the session is down and has printed the reason, or the user stopped the command before it
    // had a connection.
    if (!session.isDown && !session.stopped.aborted) throw error;
    return 1;
  } finally {
    for (const signal of STOP_SIGNALS) process.off(signal, stop);
    input.close();
    markets?.stop();
    await session.close();
  }
}

async function signerOf(
  key: string,
  { type: signatureType, oracleId }: PublishFlags,
  input: InputLines,
): Promise<PriceSigner> {
  const secretKey = await readSecretKey(key, () => input.next());
  return createPriceSigner({ signatureType, secretKey, oracleId });
}

async function* argumentLines(
  prices: readonly string[],
  options: PriceLineOptions,
  session: PublishSession,
): AsyncGenerator<PriceLine> {
  for (const price of prices) yield parsePriceArgument(price, options);
  await session.signedAgain();
}

async function* pricesOf(
  input: Pick<InputLines, 'next' | 'lineNumber'>,
  options: PriceLineOptions,
): AsyncGenerator<PriceLine> {
  for (let line = await input.next(); line !== undefined; line = await input.next())
    if (line.trim() !== '') yield parsePriceLine(line, input.lineNumber, options);
}

/**
 * Starts `tickseal sources` and publishes its prices until a signal. Without an address in the command, the address in the file
 * applies.
 */
async function publishFrom(
  file: string,
  prices: readonly string[],
  options: PublishFlags,
  isDefaultUrl: boolean,
  streams: CommandStreams,
): Promise<number> {
  const result = readSources(file);
  const problem = !result.ok
    ? result.errors.join('\n')
    : prices.length > 0 || options.every !== undefined || options.scaled
      ? 'publish: --from takes no prices, no --scaled and no --every; the file has publish.every'
      : options.key === undefined
        ? 'publish: --from needs --key'
        : undefined;
  if (!result.ok || problem !== undefined) {
    writeLine(streams.stderr, ownText(problem ?? ''));
    return result.ok ? 1 : EXIT_BAD_FILE;
  }
  const { url } = result.plan.publish;
  const address = isDefaultUrl && url !== undefined ? { url: baseOf(url) } : {};
  return await publishPrices([], { ...options, ...address }, streams);
}

/** Returns the options that `tickseal sources` receives. */
function sourcesArguments({ record, metrics, skipMissing }: PublishFlags): string[] {
  return [
    ...(record === undefined ? [] : ['--record', record]),
    ...(metrics === undefined ? [] : ['--metrics', metrics.text]),
    ...(skipMissing ? ['--skip-missing'] : []),
  ];
}

/** Removes the path of publishers from an address. */
function baseOf(url: string): string {
  const path = Object.values(PUBLISH_PATHS).find((path) => url.endsWith(path));
  return path === undefined ? url : url.slice(0, -path.length);
}

/** The lines of standard input. The input opens at the first request for a line. */
class InputLines {
  readonly #stdin: NodeJS.ReadableStream;
  #lines: AsyncIterator<string> | undefined;
  /** The number of the last line read, from 1. */
  lineNumber = 0;

  constructor(stdin: NodeJS.ReadableStream) {
    this.#stdin = stdin;
  }

  /** @returns the next line; `undefined` at the end of the input */
  async next(): Promise<string | undefined> {
    this.#lines ??= createInterface({ input: this.#stdin, crlfDelay: Number.POSITIVE_INFINITY })[
      Symbol.asyncIterator
    ]();
    const { done, value } = await this.#lines.next();
    if (done) return undefined;
    this.lineNumber += 1;
    return this.lineNumber === 1 ? withoutMark(value) : value;
  }

  /** Closes standard input too, because an open input would keep the process alive. */
  close(): void {
    void this.#lines?.return?.();
  }
}

/** @returns the interval in milliseconds */
function parseInterval(text: string): number {
  const durationNs = parseDurationNs(text);
  if (!durationNs || durationNs > EVERY_NS_MAX || durationNs % NS_PER_MS !== 0n)
    throw new InvalidArgumentError('expected whole milliseconds, 1ms to 1d, such as 500ms or 1s');
  return Number(durationNs / NS_PER_MS);
}
