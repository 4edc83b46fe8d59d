import type { Scope } from '../../config/config.js';
import type { LoginFault } from '../../ingest/login.js';
import type { SignatureType } from '../../model/asset.js';
import { type Clock, NS_PER_SECOND, secondOf } from '../../model/time.js';
import { failure, type RestRequest, type RestResponse } from '../http/messages.js';
import { loginName, type PublisherLogin, type PublisherLogins } from './publisher_logins.js';
import { type Allowance, limitHeaders, RateLimiter } from './rate_limit.js';
import { hashOf, readTokenText, Token, type TokenDirectory } from './tokens.js';

/** Who may come in: the holder of a token, or a publisher that logged in with a signature. */
export type Caller = Token | PublisherLogin;

export interface LoginOptions {
  readonly tokens: TokenDirectory;
  readonly publishers: PublisherLogins;
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

/** `limited`: the client address had made too many failed logins, and the token or signature was not looked at. */
export type RefusedLogin = LoginFault | 'limited';

const MINUTE_NS = 60n * NS_PER_SECOND;
const REPORT_INTERVAL_NS = 10n * NS_PER_SECOND;
/** Pairs of a client address and a token or publisher key that was used from there. */
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
  /** The second in which a use was last remembered: to read an address takes a fifth of a request. */
  readonly #rememberedAtS = new WeakMap<Caller, bigint>();
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
    this.#remember(request, token, hash);
    return token.has(scope) ? token : failure(403, `the access token has no scope "${scope}"`);
  }

  /**
   * A login by signature.
   * @param pathType the signature type that the path takes, if only one
   * @returns the publisher, or the response that refuses the request: 400, 401, 403 or 429
   */
  authorizePublisher(request: RestRequest, pathType?: SignatureType): PublisherLogin | RestResponse {
    const { publishers, clock } = this.#options;
    if (request.authorization.length > 0 && request.login.length > 0)
      return failure(400, 'the request has an Authorization header and headers of a login by signature');
    const claim = publishers.read(request.login, pathType);
    if ('error' in claim) return this.#refuse(request, claim.reason, claim.error, claim.status);
    const name = loginName(claim.publisher);
    if (clock.nowNs() < this.#limitedUntilNs) {
      const limited = this.#limitOf(request, name);
      if (limited !== undefined) return this.#refuseLimited(request, limited);
    }
    const login = publishers.verify(claim);
    if ('error' in login) return this.#refuse(request, login.reason, login.error, login.status);
    this.#remember(request, login, name);
    return login;
  }

  /** Whether a reload has left the caller its right. */
  isValid(caller: Caller, scope: Scope): boolean {
    const { tokens, publishers } = this.#options;
    return caller instanceof Token ? tokens.isValid(caller, scope) : publishers.isValid(caller);
  }

  /**
   * @param name the hash of a token, or a publisher's name
   * @returns what is left to the client address when that is nothing, unless the name is familiar there
   */
  #limitOf(request: RestRequest, name: string): Allowance | undefined {
    const client = this.#options.clientOf(request);
    const allowance = this.#failures.peek(client, this.#options.failuresPerMinute, MINUTE_NS);
    return allowance.allowed || this.#familiar.has(`${client} ${name}`) ? undefined : allowance;
  }

  #remember(request: RestRequest, caller: Caller, name: string): void {
    const nowS = secondOf(this.#options.clock.nowNs());
    if (this.#rememberedAtS.get(caller) === nowS) return;
    this.#rememberedAtS.set(caller, nowS);
    const pair = `${this.#options.clientOf(request)} ${name}`;
    this.#familiar.delete(pair);
    this.#familiar.add(pair);
    const [oldest] = this.#familiar;
    if (this.#familiar.size > FAMILIAR_MAX && oldest !== undefined) this.#familiar.delete(oldest);
  }

  #refuse(request: RestRequest, reason: RefusedLogin, error: string, status = 401): RestResponse {
    const { clientOf, failuresPerMinute, onRefused } = this.#options;
    const allowance = this.#failures.take(clientOf(request), failuresPerMinute, MINUTE_NS);
    if (!allowance.allowed) return this.#refuseLimited(request, allowance);
    onRefused(reason);
    if (allowance.remaining === 0) this.#watch(allowance);
    return failure(status, error, status === 401 ? [['WWW-Authenticate', 'Basic realm="tickseal"']] : []);
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
