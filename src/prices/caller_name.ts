import type { SignatureType } from '../model/asset.js';

/**
 * The name of a publishing caller: the hash of a token in hex, or a key. Another thread or machine uses the name to find the
 * caller in its own configuration.
 */
export type CallerName =
  | { readonly token: string }
  | { readonly signatureType: SignatureType; readonly key: Uint8Array };
