import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { createPriceSigner, parseSecretKey } from '../../src/client/node.js';
import { parseDurationNs } from '../../src/config/quantity.js';
import { NS_PER_MS } from '../../src/model/time.js';
import { SIGNATURE_TYPES, type SignatureType } from '../../src/wire/signatures.js';
import { CHANNELS, MESSAGE_TYPES } from '../../src/wire/stream.js';

/** The load of a deployment, as the command line describes it. */
export interface LoadOptions {
  /** The base address of the service, with `ws:` or `wss:`. */
  readonly url: URL;
  readonly token: string;
  readonly readers: number;
  readonly channel: string;
  readonly type: string;
  /** The number of assets of each reader. */
  readonly assets: number;
  /** The number of published updates a second. */
  readonly publish: number;
  /** The type of the assets, and of the publisher's key. */
  readonly signatureType: SignatureType;
  /** The private key of the publisher, in hexadecimal; empty without `--publish`. */
  readonly key: string;
  readonly oracleId: string;
  /** The number of REST requests a second. */
  readonly rest: number;
  readonly forMs: number;
  readonly warmUpMs: number;
  /** The number of processes with readers. */
  readonly processes: number;
  /** The number of connections that are opened in a second. */
  readonly connectionsPerSecond: number;
  /** The bounds. A run that exceeds a bound ends with status 1. */
  readonly bounds: LoadBounds;
  /** The amount that `--find-limit` raises. */
  readonly findLimit: 'readers' | 'publish' | undefined;
  /** The base address of the service's admin listener. */
  readonly admin: URL | undefined;
  readonly json: string | undefined;
  readonly page: string | undefined;
}

/** The largest delays at the 99th percentile, in milliseconds, and the largest number of gaps. */
export interface LoadBounds {
  readonly p99Ms: number | undefined;
  readonly ownP99Ms: number | undefined;
  readonly restP99Ms: number | undefined;
  readonly gaps: number | undefined;
}

export const HELP = `npm run load -- --url ws://HOST:PORT --token-file FILE [options]

  --readers N              streaming connections (default 100)
  --channel CHANNEL        their channel (default 100ms)
  --type TYPE              unsigned or signed_ecdsa (default signed_ecdsa)
  --assets N               assets of each reader (default 20)
  --publish N              price updates a second, with --key-file FILE and --oracle-id ID
  --signature-type TYPE    the type of the assets and of the key: evm or stark (default evm)
  --rest N                 requests of /v1/prices/latest a second
  --for TIME               the length of the measurement (default 60s), after --warm-up TIME (default 5s)
  --processes N            processes with readers (default 2)
  --connect-rate N         connections that are opened in a second (default 500)
  --max-p99 TIME           the bound of the frames' delay
  --max-own-p99 TIME       the bound from an update to its frame
  --max-rest-p99 TIME      the bound of REST answers
  --max-gaps N             the bound of ticks that readers miss
  --find-limit WHAT        raises readers or publish until a bound breaks
  --admin URL              the admin listener, for the service's CPU time and memory
  --json FILE, --page FILE the result, and a page with charts
  --yes-i-may-load-it      needed for a host other than this machine

The exit status is 0 if all bounds hold, 1 if a bound breaks, and 2 for an invalid option.`;

const DEFAULTS = {
  readers: '100',
  channel: '100ms',
  type: 'signed_ecdsa',
  'signature-type': 'evm',
  assets: '20',
  publish: '0',
  rest: '0',
  for: '60s',
  'warm-up': '5s',
  processes: '2',
  'connect-rate': '500',
} as const;
/** The upper limits of the options. With these limits, a mistyped option cannot exhaust this machine. */
const READERS_MAX = 100_000;
const RATE_MAX = 1_000_000;
const PROCESSES_MAX = 64;
const ASSETS_MAX = 10_000;
const GAPS_MAX = Number.MAX_SAFE_INTEGER;

/** @throws Error whose message is one sentence and names the option */
export function parseLoadOptions(args: readonly string[]): LoadOptions {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const text = (name: keyof typeof DEFAULTS) => values[name] ?? DEFAULTS[name];
  const url = baseUrl('--url', values.url, ['ws:', 'wss:']);
  if (!isThisMachine(url.hostname) && values['yes-i-may-load-it'] !== true)
    throw new Error(
      `--url names ${url.hostname}, which is not this machine: add --yes-i-may-load-it if its operator allows the load`,
    );
  const publish = count('--publish', text('publish'), 0, RATE_MAX);
  const rest = count('--rest', text('rest'), 0, RATE_MAX);
  if (publish > 0 && (values['key-file'] === undefined || values['oracle-id'] === undefined))
    throw new Error('--publish needs --key-file and --oracle-id');
  const signatureType = oneOf('--signature-type', text('signature-type'), SIGNATURE_TYPES) as SignatureType;
  const key = values['key-file'] === undefined ? '' : readLine('--key-file', values['key-file']);
  const oracleId = values['oracle-id'] ?? '';
  if (publish > 0) checkSigner(signatureType, key, oracleId);
  const findLimit = values['find-limit'];
  if (findLimit !== undefined && findLimit !== 'readers' && findLimit !== 'publish')
    throw new Error(`--find-limit is readers or publish, not ${findLimit}`);
  const bounds = {
    p99Ms: bound('--max-p99', values['max-p99']),
    ownP99Ms: bound('--max-own-p99', values['max-own-p99']),
    restP99Ms: bound('--max-rest-p99', values['max-rest-p99']),
    gaps: values['max-gaps'] === undefined ? undefined : count('--max-gaps', values['max-gaps'], 0, GAPS_MAX),
  };
  if (findLimit !== undefined && Object.values(bounds).every((one) => one === undefined))
    throw new Error('--find-limit needs a bound, such as --max-p99 5ms');
  if (bounds.ownP99Ms !== undefined && publish === 0) throw new Error('--max-own-p99 needs --publish');
  if (bounds.restP99Ms !== undefined && rest === 0) throw new Error('--max-rest-p99 needs --rest');
  if (findLimit === 'publish' && publish === 0) throw new Error('--find-limit publish needs --publish');
  return {
    url,
    token: values['token-file'] === undefined ? '' : readLine('--token-file', values['token-file']),
    readers: count('--readers', text('readers'), 1, READERS_MAX),
    channel: oneOf('--channel', text('channel'), CHANNELS),
    type: oneOf('--type', text('type'), MESSAGE_TYPES),
    assets: count('--assets', text('assets'), 1, ASSETS_MAX),
    publish,
    signatureType,
    key,
    oracleId,
    rest,
    forMs: durationMs('--for', text('for')),
    warmUpMs: durationMs('--warm-up', text('warm-up')),
    processes: count('--processes', text('processes'), 1, PROCESSES_MAX),
    connectionsPerSecond: count('--connect-rate', text('connect-rate'), 1, RATE_MAX),
    bounds,
    findLimit,
    admin: values.admin === undefined ? undefined : baseUrl('--admin', values.admin, ['http:', 'https:']),
    json: newFile('--json', values.json),
    page: newFile('--page', values.page),
  };
}

const OPTIONS = {
  url: { type: 'string' },
  'token-file': { type: 'string' },
  readers: { type: 'string' },
  channel: { type: 'string' },
  type: { type: 'string' },
  'signature-type': { type: 'string' },
  assets: { type: 'string' },
  publish: { type: 'string' },
  'key-file': { type: 'string' },
  'oracle-id': { type: 'string' },
  rest: { type: 'string' },
  for: { type: 'string' },
  'warm-up': { type: 'string' },
  processes: { type: 'string' },
  'connect-rate': { type: 'string' },
  'max-p99': { type: 'string' },
  'max-own-p99': { type: 'string' },
  'max-rest-p99': { type: 'string' },
  'max-gaps': { type: 'string' },
  'find-limit': { type: 'string' },
  admin: { type: 'string' },
  json: { type: 'string' },
  page: { type: 'string' },
  'yes-i-may-load-it': { type: 'boolean' },
} as const;

function isThisMachine(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}

function baseUrl(name: string, text: string | undefined, protocols: readonly string[]): URL {
  if (text === undefined) throw new Error(`${name} is missing`);
  if (!URL.canParse(text)) throw new Error(`${name} is not a URL: ${text}`);
  const url = new URL(text);
  if (!protocols.includes(url.protocol))
    throw new Error(`${name} begins with ${protocols.join('// or ')}//, not ${url.protocol}//`);
  if (url.username !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new Error(`${name} is only a host and a port, such as ${url.protocol}//${url.host}`);
  return url;
}

/** Checks the publisher's key and oracle ID before the load begins. */
function checkSigner(signatureType: SignatureType, key: string, oracleId: string): void {
  const secretKey = parseSecretKey(key);
  if (secretKey === undefined) throw new Error('--key-file has no private key: 64 hexadecimal digits');
  try {
    createPriceSigner({ signatureType, secretKey, oracleId });
  } catch (error) {
    throw new Error(`--publish cannot sign with --key-file and --oracle-id: ${(error as Error).message}`);
  }
}

/** Checks that a result can be written, because a result that is lost after the load is too late. */
function newFile(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new Error(`${name} ${file} is a folder`);
  try {
    accessSync(dirname(file), constants.W_OK);
  } catch (error) {
    throw new Error(`${name} ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
  return file;
}

function count(name: string, text: string, min: number, max: number): number {
  if (!/^\d{1,16}$/.test(text) || Number(text) < min || Number(text) > max)
    throw new Error(`${name} is a whole number from ${min} to ${max}, not ${text}`);
  return Number(text);
}

function oneOf(name: string, text: string, known: readonly string[]): string {
  if (!known.includes(text)) throw new Error(`${name} is one of ${known.join(' ')}, not ${text}`);
  return text;
}

function bound(name: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : durationMs(name, text);
}

function durationMs(name: string, text: string): number {
  const ns = parseDurationNs(text);
  if (ns === undefined || ns <= 0n) throw new Error(`${name} is a time such as 60s or 5ms, not ${text}`);
  return Number(ns / 1_000n) / Number(NS_PER_MS / 1_000n);
}

function readLine(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Error(`${name} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
