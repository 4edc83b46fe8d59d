import type { Scope } from '../../config/config.js';
import type { SignatureType } from '../../model/asset.js';
import { type Clock, NS_PER_SECOND, secondOf, type TimeNs } from '../../model/time.js';
import type { LoginFault } from '../../prices/publisher_login.js';
import { STREAM_PROTOCOL, TICKET_LIFETIME_S, TICKET_PREFIX } from '../../wire/stream_ticket.js';
import { failure, type RestRequest, type RestResponse } from '../http/rest_exchange.js';
import type { CallerTimes } from './caller_times.js';
import type { Origins } from './origins.js';
import {
  loginName,
  type PublisherLogin,
  type PublisherLoginCheck,
  type SignedLogin,
} from './publisher_login_check.js';
import { type Allowance, limitHeaders, type RateLimiter } from './rate_limit.js';
import type { TicketIssuer } from './ticket_issuer.js';
import { hashOf, readTokenText, Token, type TokenDirectory, tokenOfUserPass } from './tokens.js';

/** A caller: the holder of a token, or a publisher that logged in with a signature. */
export type Caller = Token | PublisherLogin;

export interface LoginOptions {
  readonly tokens: TokenDirectory;
  readonly publishers: PublisherLoginCheck;
  readonly tickets: TicketIssuer;
  /** The web pages that may open streams with tickets. */
  readonly origins: Origins;
  readonly clock: Clock;
  /** Returns the client address to which limits count a request. */
  readonly clientOf: (request: RestRequest) => string;
  /** The number of failed logins that a client address may make in a minute. The address may make all of them at once. */
  readonly failuresPerMinute: number;
  /** Counts failed logins. */
  readonly failures: RateLimiter;
  /** The times at which a token or publisher key was last used from a client address. All threads share these times. */
  readonly familiar: CallerTimes;
  /** The time until which some client address may be above its limit, in memory that all threads share. */
  readonly limitedUntilNs: BigInt64Array;
  /** Called when the service refused a login. */
  readonly onRefused: (reason: RefusedLogin) => void;
  /** Called when a client address made too many failed logins; at most every 10 s. */
  readonly onLimited: (client: string) => void;
}

/**
 * The reason for a refused login.
 * - `limited`: the client address had made too many failed logins, so the service did not check the token or signature.
 * - `ticket`: the ticket is unknown, used or expired.
 * - `origin`: the web page may not open streams.
 * - `used up`: the login by signature has opened as many connections as one login may.
 */
export type RefusedLogin = LoginFault | 'limited' | 'ticket' | 'origin' | 'used up';

const MINUTE_NS = 60n * NS_PER_SECOND;
const REPORT_INTERVAL_NS = 10n * NS_PER_SECOND;

/**
 * Admits callers, and limits failed logins per client address. Above the limit, the service looks up only tokens that the same address used
 * before. So an attacker who guesses tokens learns nothing more, and other callers at the same address can still log in.
 */
export class Logins {
  readonly #options: LoginOptions;
  readonly #failures: RateLimiter;
  /**
   * The second in which this thread last stored a use of the caller. A thread stores uses once a second, because reading an
   * address takes 20 % of the time of a request.
   */
  readonly #rememberedAtS = new WeakMap<Caller, bigint>();
  #reportedNs = 0n;

  constructor(options: LoginOptions) {
    this.#options = options;
    this.#failures = options.failures;
  }

  /**
   * @param nowNs the time of the clock, for a caller that has already read the clock
   * @returns the token, or the response that refuses the request: 401, 403 or 429
   */
  authorize(
    request: RestRequest,
    scope: Scope,
    nowNs: TimeNs = this.#options.clock.nowNs(),
  ): Token | RestResponse {
    const { tokens } = this.#options;
    const { authorization } = request;
    const isLimiting = nowNs < this.#limitedUntilNs;
    if (!isLimiting && authorization.length === 1) {
      const recent = tokens.findRecent(authorization[0]!, nowNs);
      if (recent !== undefined) return withScope(recent, scope);
    }
    const header = readTokenText(authorization);
    if ('error' in header) return this.#refuseLogin(request, header.reason, header.error);
    const hash = this.#hashOf(header.text);
    if (isLimiting) {
      const limited = this.#usedUpAllowance(request, hash);
      if (limited !== undefined) return this.#refuseLimited(request, limited);
    }
    const token = tokens.find(hash);
    if (token === undefined)
      return this.#refuseLogin(
        request,
        'unknown',
        'the access token is not known: ask the operator for one, and send it without a user name',
      );
    this.#rememberLogin(request, token, hash, nowNs);
    tokens.keepRecent(authorization[0]!, token);
    return withScope(token, scope);
  }

  /**
   * Checks a login by signature.
   * @param pathType the only signature type that the path accepts; `undefined` if it accepts all
   * @returns the login, or the response that refuses the request: 400, 401, 403 or 429
   */
  authorizePublisher(request: RestRequest, pathType?: SignatureType): SignedLogin | RestResponse {
    const { publishers, clock } = this.#options;
    if (request.authorization.length > 0 && request.login.length > 0)
      return failure(400, 'the request has an Authorization header and headers of a login by signature');
    const claim = publishers.read(request.login, pathType);
    if ('error' in claim) return this.#refuseLogin(request, claim.reason, claim.error, claim.status);
    const name = loginName(claim.publisher);
    if (clock.nowNs() < this.#limitedUntilNs) {
      const limited = this.#usedUpAllowance(request, name);
      if (limited !== undefined) return this.#refuseLimited(request, limited);
    }
    const login = publishers.verify(claim);
    if ('error' in login) return this.#refuseLogin(request, login.reason, login.error, login.status);
    this.#rememberLogin(request, login.publisher, name);
    return login;
  }

  /**
   * Checks a login to a stream by ticket. A correct ticket is accepted even above the limit of failed logins, because nobody can guess a
   * ticket.
   * @returns the token of the ticket, or the response that refuses the request: 400, 401, 403 or 429
   */
  authorizeTicket(request: RestRequest): Token | RestResponse {
    const { tokens, tickets, origins } = this.#options;
    const ticket = readTicket(request);
    if ('error' in ticket) return failure(400, ticket.error);
    if (!origins.mayOpenStream(request)) return this.#refuseLogin(request, 'origin', FOREIGN_ORIGIN, 403);
    const hash = tickets.take(ticket.text);
    const token = hash === undefined ? undefined : tokens.find(hash);
    if (hash === undefined || token === undefined) return this.#refuseLogin(request, 'ticket', NO_TICKET);
    this.#rememberLogin(request, token, hash);
    return withScope(token, 'stream');
  }

  /** Returns whether the caller still has its right after a reload. */
  isValid(caller: Caller, scope: Scope): boolean {
    const { tokens, publishers } = this.#options;
    return caller instanceof Token ? tokens.isValid(caller, scope) : publishers.isValid(caller);
  }

  /** Returns the hash of the token in a header. The header may contain the token as plain text or as base64. */
  #hashOf(sent: string): string {
    const hash = hashOf(sent);
    if (this.#options.tokens.has(hash)) return hash;
    const token = tokenOfUserPass(sent);
    return token === undefined ? hash : hashOf(token);
  }

  get #limitedUntilNs(): bigint {
    return Atomics.load(this.#options.limitedUntilNs, 0);
  }

  /**
   * @param name the hash of a token, or a publisher's name
   * @returns the allowance of a client address that has used it up; `undefined` otherwise, and for a name that this address used before
   */
  #usedUpAllowance(request: RestRequest, name: string): Allowance | undefined {
    const client = this.#options.clientOf(request);
    const allowance = this.#failures.peek(client, this.#options.failuresPerMinute, MINUTE_NS);
    return allowance.allowed || this.#options.familiar.read(`${client} ${name}`) > 0n ? undefined : allowance;
  }

  #rememberLogin(
    request: RestRequest,
    caller: Caller,
    name: string,
    nowNs: TimeNs = this.#options.clock.nowNs(),
  ): void {
    const nowS = secondOf(nowNs);
    if (this.#rememberedAtS.get(caller) === nowS) return;
    this.#rememberedAtS.set(caller, nowS);
    const { clientOf, familiar } = this.#options;
    familiar.update(`${clientOf(request)} ${name}`, () => nowNs);
  }

  #refuseLogin(request: RestRequest, reason: RefusedLogin, error: string, status = 401): RestResponse {
    const { clientOf, failuresPerMinute, onRefused } = this.#options;
    const allowance = this.#failures.take(clientOf(request), failuresPerMinute, MINUTE_NS);
    if (!allowance.allowed) return this.#refuseLimited(request, allowance);
    onRefused(reason);
    if (allowance.remaining === 0) this.#watchAddresses(allowance);
    // With the scheme `Basic`, a browser asks its user for a name and a password. A page with a ticket does not need this dialog.
    const scheme = reason === 'ticket' ? 'Ticket' : 'Basic';
    return failure(status, error, status === 401 ? [['WWW-Authenticate', `${scheme} realm="tickseal"`]] : []);
  }

  #refuseLimited(request: RestRequest, allowance: Allowance): RestResponse {
    const { clock, clientOf, onRefused, onLimited } = this.#options;
    onRefused('limited');
    this.#watchAddresses(allowance);
    const nowNs = clock.nowNs();
    if (nowNs - this.#reportedNs >= REPORT_INTERVAL_NS || nowNs < this.#reportedNs) {
      this.#reportedNs = nowNs;
      onLimited(clientOf(request));
    }
    return failure(429, 'too many failed logins from this address', limitHeaders(allowance));
  }

  /** Checks client addresses until this address has its whole allowance again. */
  #watchAddresses({ resetS }: Allowance): void {
    const untilNs = this.#options.clock.nowNs() + BigInt(resetS) * NS_PER_SECOND;
    if (untilNs > this.#limitedUntilNs) Atomics.store(this.#options.limitedUntilNs, 0, untilNs);
  }
}

const FOREIGN_ORIGIN = 'the Origin of the web page is not one of listen.allowed_origins';
const NO_TICKET = `the ticket is not known, was used, or is older than ${TICKET_LIFETIME_S} s`;

function withScope(token: Token, scope: Scope): Token | RestResponse {
  return token.has(scope) ? token : failure(403, `the access token has no scope "${scope}"`);
}

/** Returns whether a request for a WebSocket offers a ticket as a subprotocol. */
export function offersTicket({ protocols }: RestRequest): boolean {
  return protocols?.some((protocol) => protocol.startsWith(TICKET_PREFIX)) ?? false;
}

/** Returns the text of the ticket that a request offers, or an error in its headers. */
function readTicket({ protocols = [], authorization }: RestRequest): { text: string } | { error: string } {
  const tickets = protocols.filter((protocol) => protocol.startsWith(TICKET_PREFIX));
  if (tickets.length !== 1) return { error: `the request offers ${tickets.length} tickets` };
  if (authorization.length > 0) return { error: 'the request has an Authorization header and a ticket' };
  // A browser closes a connection when the server selects none of the subprotocols that the page offered.
  if (!protocols.includes(STREAM_PROTOCOL))
    return { error: `a ticket stands beside the subprotocol ${STREAM_PROTOCOL}` };
  return { text: tickets[0]!.slice(TICKET_PREFIX.length) };
}
