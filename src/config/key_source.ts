import type { ConfigFile } from './schema.js';

/** Where a private key comes from: a file, or an environment variable. */
export type KeySource = { readonly file: string } | { readonly env: string };

export function toKeySource({ file, env }: NonNullable<ConfigFile['keys']['evm']>): KeySource {
  return file === undefined ? { env: env! } : { file };
}
