import type { ConfigFile } from './schema.js';

/** The source of a private key: a file, or an environment variable. */
export type KeySource = { readonly file: string } | { readonly env: string };

export function toKeySource({ file, env }: NonNullable<ConfigFile['keys']['evm']>): KeySource {
  return file === undefined ? { env: env! } : { file };
}
