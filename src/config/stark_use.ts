import type { Config } from './config.js';

/** Returns whether a service with this configuration verifies or signs with Stark keys. */
export function usesStark({ assets, publishers }: Config): boolean {
  return [...assets, ...publishers].some(({ signatureType }) => signatureType === 'stark');
}
