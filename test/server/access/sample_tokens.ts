import { createHash } from 'node:crypto';
import type { TokenConfig } from '../../../src/config/config.js';

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
