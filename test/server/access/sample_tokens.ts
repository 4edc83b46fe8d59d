import { createHash } from 'node:crypto';
import type { TokenConfig } from '../../../src/config/config.js';
import { CallerTimes } from '../../../src/server/access/caller_times.js';
import { type LoginOptions, Logins } from '../../../src/server/access/logins.js';
import { Origins } from '../../../src/server/access/origins.js';
import { PublisherLoginCheck } from '../../../src/server/access/publisher_login_check.js';
import { RateLimiter } from '../../../src/server/access/rate_limit.js';
import { createTicketMemory, TicketIssuer } from '../../../src/server/access/ticket_issuer.js';
import type { TokenDirectory } from '../../../src/server/access/tokens.js';
import type { RestRequest } from '../../../src/server/http/rest_exchange.js';
import { FakeClock } from '../../clock/fake_clock.js';

export function sampleToken(text: string, overrides: Partial<TokenConfig> = {}): TokenConfig {
  return {
    name: text,
    sha256: createHash('sha256').update(text).digest(),
    scopes: new Set(['rest', 'stream', 'publish']),
    requestsPerSecond: 5,
    assets: new Set(['*']),
    ...overrides,
  };
}

/** Returns logins that allow more failures than a test makes, and allow pages of `https://app.example`. */
export function sampleLogins(tokens: TokenDirectory, overrides: Partial<LoginOptions> = {}): Logins {
  const { clock = new FakeClock() } = overrides;
  return new Logins({
    tokens,
    publishers: new PublisherLoginCheck({
      findPublisher: () => undefined,
      clock,
      window: { maxPastNs: 0n, maxFutureNs: 0n },
      isSigned: () => false,
    }),
    clock,
    failures: new RateLimiter(clock),
    familiar: new CallerTimes(),
    limitedUntilNs: new BigInt64Array(1),
    tickets: new TicketIssuer(createTicketMemory(), clock),
    origins: new Origins({
      service: {},
      listen: { host: '127.0.0.1', allowedOrigins: ['https://app.example'] },
    }),
    clientOf: ({ address }) => address,
    failuresPerMinute: 1_000,
    onRefused: () => {},
    onLimited: () => {},
    ...overrides,
  });
}

export function sampleRequest(overrides: Partial<RestRequest> = {}): RestRequest {
  return {
    method: 'GET',
    path: '/',
    query: '',
    authorization: [],
    login: [],
    address: '127.0.0.1',
    forwardedFor: [],
    hasBody: false,
    ...overrides,
  };
}
