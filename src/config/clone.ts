import type { Config } from './config.js';

/** Restores a configuration that came from another thread: structured cloning makes a plain array of each buffer. */
export function fromClone(config: Config): Config {
  return {
    ...config,
    tokens: config.tokens.map((token) => ({ ...token, sha256: Buffer.from(token.sha256) })),
    publishers: config.publishers.map((publisher) => ({ ...publisher, key: Buffer.from(publisher.key) })),
  };
}
