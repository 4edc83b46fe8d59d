import { EquivocationError } from '../connect/errors.js';
import type { ClientOptions } from '../prices/client_context.js';
import type { StreamClient } from '../prices/stream_client.js';
import { parseHexInteger } from '../verify/bytes.js';
import { parseDecimalPrice } from '../verify/decimal_price.js';
import type { AgreementRules } from './agreement.js';

/**
 * An operator of a quorum. The options are the options of a client, plus a name. All services of an operator sign with the operator's
 * keys.
 */
export interface QuorumOperator extends ClientOptions {
  /** The name of the operator in ticks and events, 1 to 64 characters. */
  readonly name: string;
}

/** The operators whose prices are compared, and the rules for their agreement. */
export interface QuorumOptions {
  /** The operators, 2 to 16. Each operator has its own keys and services. Two operators must not share a signer or an address. */
  readonly operators: readonly QuorumOperator[];
  /** The number of operators that must agree, at least 2. Default: more than half of the operators. */
  readonly threshold?: number | undefined;
  /** The largest difference between two prices that agree, in percent of the price closer to zero: 0 to 100. Default: 1. */
  readonly maxSpreadPercent?: number | undefined;
  /**
   * The maximum age of a price that counts, in milliseconds. The times of two prices that agree may also differ by at most this value, and
   * a time may be this far ahead of this machine's clock. Default: 10,000.
   */
  readonly maxAgeMs?: number | undefined;
}

/** The options of a client that compares the prices of several operators. */
export interface QuorumClientOptions
  extends Pick<ClientOptions, 'staleAfterMs' | 'worker' | 'inlinePerSecond' | 'fetch'> {
  /** The operators and the rules. */
  readonly quorum: QuorumOptions;
}

/** An operator and its client. */
export interface OperatorClient<C extends StreamClient = StreamClient> {
  readonly name: string;
  readonly client: C;
  /** The number of the operator's services. */
  readonly services: number;
  /** The first proof that the operator has signed contradicting prices. No price of such an operator counts. */
  equivocation: EquivocationError | undefined;
}

/** The checked rules of a quorum. */
export interface QuorumRules extends AgreementRules {
  readonly maxAgeMs: number;
}

export const OPERATORS_MAX = 16;
export const OPERATORS_MIN = 2;
export const THRESHOLD_MIN = 2;
export const SPREAD_PERCENT_MAX = 100;
const NAME_CHARACTERS_MAX = 64;
const SPREAD_PERCENT = 1;
const MAX_AGE_MS = 10_000;

/** @throws TypeError or RangeError that names the option */
export function rulesOf(options: QuorumClientOptions): QuorumRules {
  const single = ['urls', 'token', 'getToken', 'signers', 'oracleId'].find((name) => name in options);
  if (single !== undefined) throw new TypeError(`quorum excludes ${single}: each operator has its own`);
  if (typeof options.quorum !== 'object' || options.quorum === null)
    throw new TypeError('quorum must have operators and rules');
  const { operators, threshold, maxSpreadPercent, maxAgeMs } = options.quorum;
  if (!Array.isArray(operators)) throw new TypeError('quorum.operators must be a list of operators');
  const count = operators.length;
  if (count < OPERATORS_MIN || count > OPERATORS_MAX)
    throw new RangeError(`quorum.operators must name ${OPERATORS_MIN} to ${OPERATORS_MAX} operators`);
  const needed = threshold ?? Math.floor(count / 2) + 1;
  if (!Number.isInteger(needed) || needed < THRESHOLD_MIN || needed > count)
    throw new RangeError(`quorum.threshold must be ${THRESHOLD_MIN} to ${count}, the number of operators`);
  const percent = maxSpreadPercent ?? SPREAD_PERCENT;
  const maxSpread = typeof percent === 'number' ? parseDecimalPrice(String(percent)) : undefined;
  if (maxSpread === undefined || percent < 0 || percent > SPREAD_PERCENT_MAX)
    throw new RangeError(`quorum.maxSpreadPercent must be a number from 0 to ${SPREAD_PERCENT_MAX}`);
  const ageMs = maxAgeMs ?? MAX_AGE_MS;
  if (!Number.isSafeInteger(ageMs) || ageMs < 1)
    throw new RangeError('quorum.maxAgeMs must be a whole number of milliseconds above 0');
  return { threshold: needed, maxSpread, maxAgeMs: ageMs, maxAgeNs: BigInt(ageMs) * 1_000_000n };
}

/**
 * Makes the client of each operator.
 * @param open makes a client
 * @throws TypeError or RangeError that names the operator and the option
 */
export function clientsOf<C extends StreamClient>(
  options: QuorumClientOptions,
  open: (options: ClientOptions) => C,
): OperatorClient<C>[] {
  const { quorum, staleAfterMs, worker, inlinePerSecond, fetch } = options;
  const shared = { staleAfterMs, worker, inlinePerSecond, fetch };
  requireDistinct(quorum.operators);
  return quorum.operators.map((operator, i) => {
    const { name } = operator;
    try {
      const client = open({ ...shared, ...withoutUndefined(operator) });
      const services = typeof operator.urls === 'string' ? 1 : operator.urls.length;
      const opened: OperatorClient<C> = { name, client, services, equivocation: undefined };
      client.on('error', (error) => {
        if (error instanceof EquivocationError) opened.equivocation ??= error;
      });
      return opened;
    } catch (error) {
      const { message } = error as Error;
      const text = `quorum.operators[${i}]: ${message}`;
      throw error instanceof RangeError ? new RangeError(text) : new TypeError(text);
    }
  });
}

/** Rejects a key or a service that two operators share, because a shared key or service would count twice. */
function requireDistinct(operators: readonly QuorumOperator[]): void {
  const names = new Map<string, number>();
  const keys = new Map<bigint, number>();
  const addresses = new Map<string, number>();
  for (const [i, operator] of operators.entries()) {
    const at = `quorum.operators[${i}]`;
    if (typeof operator !== 'object' || operator === null) throw new TypeError(`${at} must be an operator`);
    const { name, signers, urls } = operator;
    if (typeof name !== 'string' || name === '' || name.length > NAME_CHARACTERS_MAX)
      throw new RangeError(`${at}.name must be text of 1 to ${NAME_CHARACTERS_MAX} characters`);
    if (signers === 'unchecked')
      throw new TypeError(`${at}.signers must name addresses: unchecked prices agree with anything`);
    claimForOperator(names, name, i, `${at}.name: "${name}"`);
    // The operator's client reports the error for values that are not lists of texts.
    for (const signer of Array.isArray(signers) ? signers : []) {
      const key = parseHexInteger(String(signer));
      if (key !== undefined) claimForOperator(keys, key, i, `${at}.signers: ${signer}`);
    }
    for (const url of typeof urls === 'string' ? [urls] : Array.isArray(urls) ? urls : [])
      claimForOperator(addresses, addressOf(String(url)), i, `${at}.urls: an address`);
  }
}

function claimForOperator<K>(owners: Map<K, number>, key: K, operator: number, subject: string): void {
  const owner = owners.get(key);
  if (owner !== undefined && owner !== operator)
    throw new RangeError(`${subject} belongs to quorum.operators[${owner}] too`);
  owners.set(key, operator);
}

/** Returns the normal form of an address, for comparisons: without the default port and without the dot that ends a full host name. */
function addressOf(url: string): string {
  const [, scheme = '', host = '', path = ''] = /^(\w+:\/\/)([^/]*)(.*)$/.exec(url.toLowerCase()) ?? [];
  const http = scheme.replace(/^ws/, 'http');
  const ownHost = host.replace(http === 'https://' ? /:443$/ : /:80$/, '').replace(/\.(?=:|$)/, '');
  return http + ownHost + path.replace(/\/+$/, '');
}

function withoutUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
