import type { Check } from '../verify/checks.js';

/** The base of all errors that the client gives to its caller, except the `TypeError` and `RangeError` of wrong arguments. */
export abstract class TicksealError extends Error {}

/** A price whose check failed. Such a price never becomes a tick or a result. */
export class UnverifiedError extends TicksealError {
  override readonly name = 'UnverifiedError';
  /** The symbols that the price claims; empty if it is unreadable. */
  readonly symbols: readonly string[];
  /** All checks with its outcome. */
  readonly checks: readonly Check[];
  /** Base address of the service that sent the price. */
  readonly url: string;

  constructor(url: string, symbols: readonly string[], checks: readonly Check[]) {
    const failed = checks.filter(({ status }) => status === 'failed');
    super(`${url}: not verified: ${failed.map(({ name, reason }) => `${name}: ${reason}`).join('; ')}`);
    this.url = url;
    this.symbols = symbols;
    this.checks = checks;
  }
}

/** The error when no service has an asset with this symbol, signature type and token. */
export class UnknownAssetError extends TicksealError {
  override readonly name = 'UnknownAssetError';

  constructor(readonly symbols: readonly string[]) {
    super(`no such asset: ${symbols.join(', ')}`);
  }
}

/** The error when the service refused a request or a connection. */
export class RefusedError extends TicksealError {
  override readonly name = 'RefusedError';
  /** Set with status 429. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly url: string,
    /** The status of HTTP; 0 when a WebSocket was closed permanently, or was refused and the platform does not report a status. */
    readonly status: number,
    reason: string,
    /** The path of the request. */
    path = '',
    retryAfterMs?: number,
  ) {
    super(`${url}${path}: ${reason}`);
    this.retryAfterMs = retryAfterMs;
  }
}

const TOO_MANY_REQUESTS = 429;

/** Tells whether the service refused only temporarily: the token, or the address, had sent too many requests. */
export function isRateLimited(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.status === TOO_MANY_REQUESTS;
}

/** The error when the service cannot be reached, or failed to answer. */
export class UnreachableError extends TicksealError {
  override readonly name = 'UnreachableError';

  constructor(
    readonly url: string,
    reason: string,
    /** The path of the request. */
    path = '',
  ) {
    super(`${url}${path}: ${reason}`);
  }
}

/** The error when the service sent an unreadable message, or an error that answers no request. */
export class ProtocolError extends TicksealError {
  override readonly name = 'ProtocolError';

  constructor(
    readonly url: string,
    reason: string,
  ) {
    super(`${url}: ${reason}`);
  }
}
