import { nkeys } from '@nats-io/transport-node';

/** Creates a user's NKey. The servers know the public key; only the node has the seed. */
export function newNatsKey(): { readonly publicKey: string; readonly seed: string } {
  const key = nkeys.createUser();
  return { publicKey: key.getPublicKey(), seed: Buffer.from(key.getSeed()).toString() };
}
