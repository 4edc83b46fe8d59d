import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { createPriceSigner, parseSecretKey } from '../../src/client/node.js';
import { parseDurationNs } from '../../src/config/quantity.js';
import { NS_PER_MS } from '../../src/model/time.js';
import { SIGNATURE_TYPES, type SignatureType } from '../../src/wire/signatures.js';
import { CHANNELS, MESSAGE_TYPES } from '../../src/wire/stream.js';

/** The load of a deployment, as the command line describes it. Times are in milliseconds. */
export interface LoadOptions extends LoadBounds {
  /** The base address of the service, with `ws:` or `wss:`. */
  readonly url: URL;
  /** The token; empty without `--token-file`. */
  readonly tokenFile: string;
  readonly readers: number;
  readonly channel: string;
  readonly type: string;
  /** The number of assets of each reader. */
  readonly assets: number;
  /** The number of published updates a second. */
  readonly publish: number;
  /** The type of the assets, and of the publisher's key. */
  readonly signatureType: SignatureType;
  /** The private key of the publisher, in hexadecimal; empty without `--key-file`. */
  readonly keyFile: string;
  readonly oracleId: string;
  /** The number of REST requests a second. */
  readonly rest: number;
  readonly for: number;
  readonly warmUp: number;
  /** The number of processes with readers. */
  readonly processes: number;
  /** The number of connections that are opened in a second. */
  readonly connectRate: number;
  /** The amount that the load raises until a bound breaks. */
  readonly findLimit?: 'readers' | 'publish';
  /** The base address of the service's admin listener. */
  readonly admin?: URL;
  readonly json?: string;
  readonly yesIMayLoadIt?: true;
}

/** The bounds: the largest delays at the 99th percentile, and the largest number of gaps. A run that exceeds a bound ends with status 1. */
export interface LoadBounds {
  readonly maxP99?: number;
  readonly maxOwnP99?: number;
  readonly maxRestP99?: number;
  readonly maxGaps?: number;
}

/** The upper limits of the options. With these limits, a mistyped option cannot exhaust this machine. */
const READERS_MAX = 100_000;
const RATE_MAX = 1_000_000;
const PROCESSES_MAX = 64;
const ASSETS_MAX = 10_000;

/** Returns the command without an action. Its options have the type {@link LoadOptions}. */
export function loadCommand(): Command {
  return new Command('npm run load --')
    .description(
      'Loads a running service. The exit status is 1 if a bound breaks, and 2 for an invalid option.',
    )
    .option('--url <url>', 'the base address of the service', baseUrl('--url', 'ws:', 'wss:'))
    .option('--token-file <file>', 'the access token', readLine('--token-file'), '')
    .option('--readers <n>', 'streaming connections', count('--readers', 1, READERS_MAX), 100)
    .option('--channel <channel>', 'their channel', oneOf('--channel', CHANNELS), '100ms')
    .option('--type <type>', 'the type of their frames', oneOf('--type', MESSAGE_TYPES), 'signed_ecdsa')
    .option('--assets <n>', 'assets of each reader', count('--assets', 1, ASSETS_MAX), 20)
    .option('--publish <n>', 'price updates a second', count('--publish', 0, RATE_MAX), 0)
    .option('--key-file <file>', "the publisher's private key", readLine('--key-file'), '')
    .option('--oracle-id <id>', "the publisher's oracle ID", '')
    .option(
      '--signature-type <type>',
      'the type of the assets and of the key',
      oneOf('--signature-type', SIGNATURE_TYPES),
      'evm',
    )
    .option('--rest <n>', 'requests of /v1/prices/latest a second', count('--rest', 0, RATE_MAX), 0)
    .option('--for <time>', 'the length of the measurement', duration('--for'), 60_000)
    .option('--warm-up <time>', 'the time before the measurement', duration('--warm-up'), 5_000)
    .option('--processes <n>', 'processes with readers', count('--processes', 1, PROCESSES_MAX), 2)
    .option('--connect-rate <n>', 'connections opened in a second', count('--connect-rate', 1, RATE_MAX), 500)
    .option('--max-p99 <time>', "the bound of the frames' delay", duration('--max-p99'))
    .option('--max-own-p99 <time>', 'the bound from an update to its frame', duration('--max-own-p99'))
    .option('--max-rest-p99 <time>', 'the bound of REST answers', duration('--max-rest-p99'))
    .option('--max-gaps <n>', 'the bound of ticks that readers miss', count('--max-gaps', 0, RATE_MAX))
    .option(
      '--find-limit <what>',
      'raises readers or publish until a bound breaks',
      oneOf('--find-limit', ['readers', 'publish']),
    )
    .option(
      '--admin <url>',
      "the admin listener, for the service's CPU time and memory",
      baseUrl('--admin', 'http:', 'https:'),
    )
    .option('--json <file>', 'writes the result', newFile('--json'))
    .option('--yes-i-may-load-it', 'needed for a host other than this machine');
}

/** @throws Error whose message is one sentence and names the option */
export function parseLoadOptions(args: readonly string[]): LoadOptions {
  const quiet = { writeErr: () => {} };
  const command = loadCommand().exitOverride().configureOutput(quiet).parse(args, { from: 'user' });
  const options = command.opts<LoadOptions>();
  const { url, publish, rest, findLimit, maxP99, maxOwnP99, maxRestP99, maxGaps } = options;
  if (url === undefined) throw new Error('--url is missing: it is the base address of the service');
  if (!isThisMachine(url.hostname) && options.yesIMayLoadIt !== true)
    throw new Error(
      `--url names ${url.hostname}, which is not this machine: add --yes-i-may-load-it if its operator allows the load`,
    );
  if (publish > 0) checkSigner(options);
  if (findLimit !== undefined && [maxP99, maxOwnP99, maxRestP99, maxGaps].every((one) => one === undefined))
    throw new Error('--find-limit needs a bound, such as --max-p99 5ms');
  if (maxOwnP99 !== undefined && publish === 0) throw new Error('--max-own-p99 needs --publish');
  if (maxRestP99 !== undefined && rest === 0) throw new Error('--max-rest-p99 needs --rest');
  if (findLimit === 'publish' && publish === 0) throw new Error('--find-limit publish needs --publish');
  return options;
}

export function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

/** Checks the publisher's key and oracle ID before the load begins. */
function checkSigner({ signatureType, keyFile, oracleId }: LoadOptions): void {
  if (keyFile === '' || oracleId === '') throw new Error('--publish needs --key-file and --oracle-id');
  const secretKey = parseSecretKey(keyFile);
  if (secretKey === undefined) throw new Error('--key-file has no private key: 64 hexadecimal digits');
  try {
    createPriceSigner({ signatureType, secretKey, oracleId });
  } catch (error) {
    throw new Error(`--publish cannot sign with --key-file and --oracle-id: ${(error as Error).message}`);
  }
}

function baseUrl(name: string, ...protocols: readonly string[]): (text: string) => URL {
  return (text) => {
    if (!URL.canParse(text)) throw new Error(`${name} is a URL, not ${text}`);
    const url = new URL(text);
    if (!protocols.includes(url.protocol))
      throw new Error(`${name} begins with ${protocols.join('// or ')}//, not ${url.protocol}//`);
    if (url.username !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
      throw new Error(`${name} is only a host and a port, such as ${url.protocol}//${url.host}`);
    return url;
  };
}

/** Checks that a result can be written, because a result that is lost after the load is too late. */
function newFile(name: string): (file: string) => string {
  return (file) => {
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new Error(`${name} ${file} is a folder`);
    try {
      accessSync(dirname(file), constants.W_OK);
    } catch (error) {
      throw new Error(`${name} ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
    }
    return file;
  };
}

function count(name: string, min: number, max: number): (text: string) => number {
  return (text) => {
    if (!/^\d{1,16}$/.test(text) || Number(text) < min || Number(text) > max)
      throw new Error(`${name} is a whole number from ${min} to ${max}, not ${text}`);
    return Number(text);
  };
}

function oneOf(name: string, known: readonly string[]): (text: string) => string {
  return (text) => {
    if (!known.includes(text)) throw new Error(`${name} is one of ${known.join(' ')}, not ${text}`);
    return text;
  };
}

function duration(name: string): (text: string) => number {
  return (text) => {
    const ns = parseDurationNs(text);
    if (ns === undefined || ns <= 0n) throw new Error(`${name} is a time such as 60s or 5ms, not ${text}`);
    return Number(ns / 1_000n) / Number(NS_PER_MS / 1_000n);
  };
}

function readLine(name: string): (file: string) => string {
  return (file) => {
    try {
      return readFileSync(file, 'utf8').trim();
    } catch (error) {
      throw new Error(`${name} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
    }
  };
}
