import type { Config } from './config.js';

/** Returns whether a service with this configuration verifies or signs with Stark keys. */
export function usesStark({ assets, publishers }: Pick<Config, 'assets' | 'publishers'>): boolean {
  return [...assets, ...publishers].some(({ signatureType }) => signatureType === 'stark');
}
