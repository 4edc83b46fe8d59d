import type { Scope } from '../../config/config.js';
import { type Clock, NS_PER_SECOND, secondOf } from '../../model/time.js';
import { failure, type RestRequest, type RestResponse } from '../http/messages.js';
import { type Allowance, limitHeaders, RateLimiter } from './rate_limit.js';
import { hashOf, readTokenText, type Token, type TokenDirectory } from './tokens.js';

export interface LoginOptions {
  readonly tokens: TokenDirectory;
  readonly clock: Clock;
  /** Whom limits per client address count a request to. */
  readonly clientOf: (request: RestRequest) => string;
  /** Failed logins that a client address may make in a minute, also at once. */
  readonly failuresPerMinute: number;
  /** A login was refused. */
  readonly onRefused: (reason: RefusedLogin) => void;
  /** A client address has made more failed logins than it may; called at most every 10 s. */
  readonly onLimited: (client: string) => void;
}

/** `limited`: the client address had made too many failed logins, and the token was not looked up. */
export type RefusedLogin = 'missing' | 'repeated' | 'malformed' | 'unknown' | 'limited';

const MINUTE_NS = 60n * NS_PER_SECOND;
const REPORT_INTERVAL_NS = 10n * NS_PER_SECOND;
/** Pairs of a client address and a token that was used from there. */
const FAMILIAR_MAX = 10_000;

/**
 * Decides who may come in, and limits failed logins per client address. Past the limit no token that comes from the address is looked
 * up, but for those that were used from there before: a guesser learns nothing more, and those who share its address
 * are not locked out.
 */
export class Logins {
  readonly #options: LoginOptions;
  readonly #failures: RateLimiter;
  /** In the order in which they were seen last. */
  readonly #familiar = new Set<string>();
  /** The second in which a use of the token was last remembered: to read an address takes a fifth of a request. */
  readonly #rememberedAtS = new WeakMap<Token, bigint>();
  /** Until then there may be a client address past its limit. */
  #limitedUntilNs = 0n;
  #reportedNs = 0n;

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#failures = new RateLimiter(options.clock);
  }

  /** @returns the token, or the response that refuses the request: 401, 403 or 429 */
  authorize(request: RestRequest, scope: Scope): Token | RestResponse {
    const { tokens, clock } = this.#options;
    const header = readTokenText(request.authorization);
    if ('error' in header) return this.#refuse(request, header.reason, header.error);
    const hash = hashOf(header.text);
    const nowNs = clock.nowNs();
    if (nowNs < this.#limitedUntilNs) {
      const limited = this.#limitOf(request, hash);
      if (limited !== undefined) return this.#refuseLimited(request, limited);
    }
    const token = tokens.find(hash);
    if (token === undefined) return this.#refuse(request, 'unknown', 'the access token is not known');
    const nowS = secondOf(nowNs);
    if (this.#rememberedAtS.get(token) !== nowS) {
      this.#rememberedAtS.set(token, nowS);
      this.#remember(`${this.#options.clientOf(request)} ${hash}`);
    }
    return token.has(scope) ? token : failure(403, `the access token has no scope "${scope}"`);
  }

  /** @returns what is left to the client address when that is nothing, unless the token is familiar there */
  #limitOf(request: RestRequest, hash: string): Allowance | undefined {
    const client = this.#options.clientOf(request);
    const allowance = this.#failures.peek(client, this.#options.failuresPerMinute, MINUTE_NS);
    return allowance.allowed || this.#familiar.has(`${client} ${hash}`) ? undefined : allowance;
  }

  #remember(pair: string): void {
    this.#familiar.delete(pair);
    this.#familiar.add(pair);
    const [oldest] = this.#familiar;
    if (this.#familiar.size > FAMILIAR_MAX && oldest !== undefined) this.#familiar.delete(oldest);
  }

  #refuse(request: RestRequest, reason: RefusedLogin, error: string): RestResponse {
    const { clientOf, failuresPerMinute, onRefused } = this.#options;
    const allowance = this.#failures.take(clientOf(request), failuresPerMinute, MINUTE_NS);
    if (!allowance.allowed) return this.#refuseLimited(request, allowance);
    onRefused(reason);
    if (allowance.remaining === 0) this.#watch(allowance);
    return failure(401, error, [['WWW-Authenticate', 'Basic realm="tickseal"']]);
  }

  #refuseLimited(request: RestRequest, allowance: Allowance): RestResponse {
    const { clock, clientOf, onRefused, onLimited } = this.#options;
    onRefused('limited');
    this.#watch(allowance);
    const nowNs = clock.nowNs();
    if (nowNs - this.#reportedNs >= REPORT_INTERVAL_NS || nowNs < this.#reportedNs) {
      this.#reportedNs = nowNs;
      onLimited(clientOf(request));
    }
    return failure(429, 'too many failed logins from this address', limitHeaders(allowance));
  }

  /** Looks at client addresses until this one has its whole allowance again. */
  #watch({ resetS }: Allowance): void {
    const untilNs = this.#options.clock.nowNs() + BigInt(resetS) * NS_PER_SECOND;
    if (untilNs > this.#limitedUntilNs) this.#limitedUntilNs = untilNs;
  }
}
