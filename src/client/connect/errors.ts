import { visibleText } from '../../wire/foreign_text.js';
import type { Check } from '../verify/checks.js';
import { TOO_MANY_REQUESTS } from './refusal.js';

/** The base class of every error that the client gives to its caller, except the `TypeError` and `RangeError` of wrong arguments. */
export abstract class TicksealError extends Error {
  /** @internal */
  constructor(message: string) {
    super(visibleText(message, MESSAGE_CHARACTERS_MAX));
  }
}

/** The greatest number of characters of a message. Each text of a service in it is much shorter. */
const MESSAGE_CHARACTERS_MAX = 2_000;

/** An error for prices whose check failed. Such prices never become ticks or results. */
export class UnverifiedError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'UnverifiedError';
  /** The symbols of the prices; empty if the symbols cannot be read. */
  readonly symbols: readonly string[];
  /** The checks with their outcomes. */
  readonly checks: readonly Check[];
  /** The base address of the service that sent the prices. */
  readonly url: string;

  /** @internal */
  constructor(url: string, symbols: readonly string[], checks: readonly Check[]) {
    const failed = checks.filter(({ status }) => status === 'failed');
    super(`${url}: not verified: ${failed.map(({ name, reason }) => `${name}: ${reason}`).join('; ')}`);
    this.url = url;
    this.symbols = symbols;
    this.checks = checks;
  }
}

/** An error for streaming IDs whose symbols no signer of the client has signed. Prices of such IDs never become ticks. */
export class UnsignedMappingError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'UnsignedMappingError';

  /** @internal */
  constructor(
    /** The base address of the service. */
    readonly url: string,
    reason: string,
    /** The key that signed the mapping; `undefined` if the key is not the only fault. */
    readonly signer?: string,
  ) {
    super(`${url}: unsigned mapping: ${reason}`);
  }
}

/** An error for symbols that no service has for this token and the wanted signature type. */
export class UnknownAssetError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'UnknownAssetError';

  /** @internal */
  constructor(
    /** The symbols that no service has. */
    readonly symbols: readonly string[],
  ) {
    super(`no such asset: ${symbols.join(', ')}`);
  }
}

/** An error for a request or a connection that the service refused. */
export class RefusedError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'RefusedError';
  /** The milliseconds until the service allows another request; `undefined` for a status other than 429. */
  readonly retryAfterMs: number | undefined;
  /** The time in UNIX nanoseconds from which the service has signed prices; `undefined` for a status other than 410. */
  readonly keptFromNs: bigint | undefined;

  /** @internal */
  constructor(
    /** The base address of the service. */
    readonly url: string,
    /** The HTTP status; 0 for a WebSocket that was closed permanently, or refused on a platform that does not report the status. */
    readonly status: number,
    reason: string,
    /** The path of the request. */
    path = '',
    retryAfterMs?: number,
    keptFromNs?: bigint,
  ) {
    super(`${url}${path}: ${reason}`);
    this.retryAfterMs = retryAfterMs;
    this.keptFromNs = keptFromNs;
  }
}

/** Returns whether the refusal is temporary, because the token or the address sent too many requests. */
export function isRateLimited(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.status === TOO_MANY_REQUESTS;
}

/** An error for a service that cannot be reached or that failed to answer. */
export class UnreachableError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'UnreachableError';

  /** @internal */
  constructor(
    /** The base address of the service. */
    readonly url: string,
    reason: string,
    /** The path of the request. */
    path = '',
    /** The HTTP status; `undefined` without an answer. */
    readonly status?: number,
  ) {
    super(`${url}${path}: ${reason}`);
  }
}

/** An error for past prices that the service has lost. Later prices can be read with `from: lastNs + 1n`. */
export class LostRangeError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'LostRangeError';

  /** @internal */
  constructor(
    /** The base address of the service. */
    readonly url: string,
    reason: string,
    /** The first UNIX nanosecond of the lost time. */
    readonly firstNs: bigint,
    /** The last UNIX nanosecond of the lost time. */
    readonly lastNs: bigint,
  ) {
    super(`${url}: ${reason}`);
  }
}

/** An error for a message that this client cannot read, or for an error message that the service sent without a request. */
export class ProtocolError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'ProtocolError';

  /** @internal */
  constructor(
    /** The base address of the service. */
    readonly url: string,
    reason: string,
  ) {
    super(`${url}: ${reason}`);
  }
}

/**
 * An error for a signature of the service that another signature of the service contradicts: the service signed two prices for one asset
 * and time, or gave two meanings to one streaming ID, or its public log has another price at the place of a price, or no price.
 */
export class EquivocationError extends TicksealError {
  /** The name of the class. The name stays the same when a bundler renames the class. */
  override readonly name = 'EquivocationError';

  /** @internal */
  constructor(
    /** The base address of the service that sent the later signature. */
    readonly url: string,
    /** The symbol of the price, or the later meaning of the ID with its signature type, such as `evm BTCUSD`. */
    readonly symbol: string,
    statement: string,
    /** The text of an evidence file. Anybody can check the evidence with `tickseal log verify`, without the service. */
    readonly evidence: string,
  ) {
    super(`${url}: ${statement}`);
  }
}
