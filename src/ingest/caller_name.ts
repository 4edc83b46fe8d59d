import type { SignatureType } from '../model/asset.js';

/**
 * The name of a publishing caller, by which another thread or machine finds it in its own configuration: the hash of a token in
 * hex, or a key.
 */
export type CallerName =
  | { readonly token: string }
  | { readonly signatureType: SignatureType; readonly key: Uint8Array };
