import type { Config } from './config.js';

/** Restores a configuration from another thread. Structured cloning changes each buffer to a plain array. */
export function fromClone(config: Config): Config {
  return {
    ...config,
    tokens: config.tokens.map((token) => ({ ...token, sha256: Buffer.from(token.sha256) })),
    publishers: config.publishers.map((publisher) => ({ ...publisher, key: Buffer.from(publisher.key) })),
  };
}
