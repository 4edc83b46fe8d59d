import type { Logger } from 'pino';
import type { Config } from '../../config/config.js';
import { clientAddressReader, peerAddressReader } from '../../model/client_address.js';
import { type Counters, countBudgetRefusal, countReason } from '../../model/counters.js';
import type { Clock } from '../../model/time.js';
import type { RestRequest } from '../http/rest_exchange.js';
import { AddressConnections } from './address_connections.js';
import { BudgetDirectory } from './caller_budgets.js';
import { CallerTimes } from './caller_times.js';
import { Logins, type RefusedLogin } from './logins.js';
import { Origins } from './origins.js';
import { PublisherLoginCheck, type PublisherLoginsOptions } from './publisher_login_check.js';
import { RateLimiter } from './rate_limit.js';
import { RefusedRequests } from './refused_requests.js';
import { CallerCounts, type SharedAccess } from './shared_access.js';
import type { TicketIssuer } from './ticket_issuer.js';
import { TokenDirectory } from './tokens.js';

export interface AccessOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly counters: Counters;
  readonly logger: Pick<Logger, 'warn'>;
  readonly access: {
    /** The counts and tickets of all threads. */
    readonly shared: SharedAccess;
    /** The number of this thread. */
    readonly thread: number;
    /** The issuer of tickets for the routes. */
    readonly tickets: TicketIssuer;
    readonly findPublisher: PublisherLoginsOptions['findPublisher'];
    readonly isLoginSigned: PublisherLoginsOptions['isSigned'];
  };
}

/** The access control of a thread. It admits callers, and counts the use of each caller. */
export interface Access {
  readonly logins: Logins;
  readonly origins: Origins;
  /** Returns the client address to which limits count a request. */
  readonly clientOf: (request: RestRequest) => string;
  /** Limits requests. */
  readonly limiter: RateLimiter;
  readonly refused: RefusedRequests;
  /** Limits the connections of each login by signature. */
  readonly loginConnections: RateLimiter;
  readonly countRefusedLogin: (reason: RefusedLogin) => void;
  /** The time for which a login by signature is valid. */
  readonly loginValidNs: bigint;
  readonly addresses: AddressConnections;
  readonly callers: CallerCounts;
  readonly budgets: BudgetDirectory;
  /** Applies changed tokens and publishers. */
  reload(tokens: Config['tokens']): void;
}

export function openAccess({ config, clock, counters, logger, access }: AccessOptions): Access {
  const { limits, ingest } = config;
  const { shared, tickets, findPublisher, isLoginSigned } = access;
  const tokens = new TokenDirectory(config.tokens);
  const publishers = new PublisherLoginCheck({
    findPublisher,
    isSigned: isLoginSigned,
    clock,
    window: { maxPastNs: ingest.loginMaxPastNs, maxFutureNs: ingest.loginMaxFutureNs },
  });
  const clientOf = clientAddressReader(config.listen.trustedProxies);
  const origins = new Origins(config);
  const countRefusedLogin = (reason: RefusedLogin) => countReason(counters.loginsRefused, reason);
  const logins = new Logins({
    tokens,
    publishers,
    tickets,
    origins,
    clock,
    clientOf,
    failuresPerMinute: limits.failedLoginsPerMinute,
    failures: new RateLimiter(clock, new CallerTimes(shared.failures)),
    familiar: new CallerTimes(shared.familiar),
    limitedUntilNs: new BigInt64Array(shared.limitedUntilNs),
    onRefused: countRefusedLogin,
    onLimited: (address) => logger.warn({ address }, 'too many failed logins from an address'),
  });
  const addresses = new AddressConnections({
    memory: shared.addresses,
    thread: access.thread,
    limiter: new RateLimiter(clock, new CallerTimes(shared.addresses.recent)),
    perAddressMax: limits.connectionsPerAddress,
    peerOf: peerAddressReader(config.listen.trustedProxies),
    onRefused() {
      counters.connectionsRefused++;
    },
  });
  const callers = new CallerCounts(shared.callers, access.thread);
  const budgets = new BudgetDirectory(limits, callers, (limit, caller) =>
    countBudgetRefusal(counters, limit, caller),
  );
  return {
    logins,
    origins,
    clientOf,
    limiter: new RateLimiter(clock, new CallerTimes(shared.requests)),
    refused: new RefusedRequests({
      clientOf,
      limiter: new RateLimiter(clock, new CallerTimes(shared.refusals)),
      perMinute: limits.refusedRequestsPerMinute,
    }),
    loginConnections: new RateLimiter(clock, new CallerTimes(shared.loginConnections)),
    countRefusedLogin,
    loginValidNs: ingest.loginMaxPastNs + ingest.loginMaxFutureNs,
    addresses,
    callers,
    budgets,
    reload(next) {
      tokens.reload(next);
      publishers.reload();
    },
  };
}
