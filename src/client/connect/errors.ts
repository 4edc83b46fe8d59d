import type { Check } from '../verify/checks.js';

/** Every error that the client gives to its caller, but for the `TypeError` and `RangeError` of wrong arguments. */
export abstract class TicksealError extends Error {}

/** A price whose check failed. It never becomes a tick or a result. */
export class UnverifiedError extends TicksealError {
  override readonly name = 'UnverifiedError';
  /** The symbols that it claimed to be of; empty when it has no readable form. */
  readonly symbols: readonly string[];
  /** Every check with its outcome. */
  readonly checks: readonly Check[];
  /** Base address of the service that sent it. */
  readonly url: string;

  constructor(url: string, symbols: readonly string[], checks: readonly Check[]) {
    const failed = checks.filter(({ status }) => status === 'failed');
    super(`${url}: not verified: ${failed.map(({ name, reason }) => `${name}: ${reason}`).join('; ')}`);
    this.url = url;
    this.symbols = symbols;
    this.checks = checks;
  }
}

/** No service has an asset with this symbol, signature type and token. */
export class UnknownAssetError extends TicksealError {
  override readonly name = 'UnknownAssetError';

  constructor(readonly symbols: readonly string[]) {
    super(`no such asset: ${symbols.join(', ')}`);
  }
}

/** The service refused a request or a connection. */
export class RefusedError extends TicksealError {
  override readonly name = 'RefusedError';
  /** Set with status 429. */
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly url: string,
    /** Of HTTP; 0 when a WebSocket was closed for good, or was refused and the platform does not tell how. */
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

/** The service refused only for now: the token, or the address, had sent too many requests. */
export function isRateLimited(error: unknown): error is RefusedError {
  return error instanceof RefusedError && error.status === TOO_MANY_REQUESTS;
}

/** The service cannot be reached, or failed to answer. */
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

/** The service sent what this client cannot read, or an error that answers no request. */
export class ProtocolError extends TicksealError {
  override readonly name = 'ProtocolError';

  constructor(
    readonly url: string,
    reason: string,
  ) {
    super(`${url}: ${reason}`);
  }
}
