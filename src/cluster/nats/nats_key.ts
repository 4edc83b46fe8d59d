import { nkeys } from '@nats-io/transport-node';

/** Makes an NKey of a user. The servers know the public key; only the node has the seed. */
export function newNatsKey(): { readonly publicKey: string; readonly seed: string } {
  const key = nkeys.createUser();
  return { publicKey: key.getPublicKey(), seed: Buffer.from(key.getSeed()).toString() };
}
