import { createHash } from 'node:crypto';
import type { TokenConfig } from '../../../src/config/config.js';
import { type LoginOptions, Logins } from '../../../src/server/access/logins.js';
import { PublisherLogins } from '../../../src/server/access/publisher_logins.js';
import type { TokenDirectory } from '../../../src/server/access/tokens.js';
import type { RestRequest } from '../../../src/server/http/messages.js';
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

/** Logins that allow more failures than a test makes. */
export function sampleLogins(tokens: TokenDirectory, overrides: Partial<LoginOptions> = {}): Logins {
  return new Logins({
    tokens,
    publishers: new PublisherLogins({
      findPublisher: () => undefined,
      clock: new FakeClock(),
      window: { maxPastNs: 0n, maxFutureNs: 0n },
      isSigned: () => false,
    }),
    clock: new FakeClock(),
    clientOf: ({ address }) => address,
    failuresPerMinute: 1_000,
    onRefused: () => {},
    onLimited: () => {},
    ...overrides,
  });
}

export function sampleRequest(overrides: Partial<RestRequest> = {}): RestRequest {
  return {
    method: 'get',
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
