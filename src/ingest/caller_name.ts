import type { SignatureType } from '../model/asset.js';

/** Who publishes, as another thread or machine finds it in its own configuration: a token by its hash in hex, or a key. */
export type CallerName =
  | { readonly token: string }
  | { readonly signatureType: SignatureType; readonly key: Uint8Array };
