import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { type Authenticator, nkeys } from '@nats-io/transport-node';

/** The bytes before the 32 bytes of an Ed25519 key in its PKCS #8 form. */
const PKCS8_START = Buffer.from('302e020100300506032b657004220420', 'hex');
/** The first byte of the public key of a user, which makes its first letter a U. */
const USER_BYTE = 20 << 3;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const CRC16_POLYNOMIAL = 0x1021;

/** Creates a user's NKey. The servers know the public key; only the node has the seed. */
export function newNatsKey(): { readonly publicKey: string; readonly seed: string } {
  const key = nkeys.createUser();
  return { publicKey: key.getPublicKey(), seed: Buffer.from(key.getSeed()).toString() };
}

/** Returns the public key of a seed. */
export function natsPublicKey(seed: string): string {
  return nkeys.fromSeed(Buffer.from(seed)).getPublicKey();
}

/**
 * Returns the function that answers a server's challenge with the NKey of a user. The function of the client itself takes 50 ms of CPU time
 * at the start of a process, because it signs in JavaScript.
 * @param seed the text of the seed
 */
export function natsKeyAuthenticator(seed: string): Authenticator {
  return (nonce) => {
    const pair = nkeys.fromSeed(Buffer.from(seed)) as unknown as { getRawSeed(): Uint8Array };
    const der = Buffer.concat([PKCS8_START, pair.getRawSeed()]);
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const { x } = createPublicKey(key).export({ format: 'jwk' });
    const nkey = userKeyText(Buffer.from(x!, 'base64url'));
    return { nkey, sig: nonce ? sign(null, Buffer.from(nonce), key).toString('base64') : '' };
  };
}

/** Returns the text of a user's public key: base32 of its kind, the key and a checksum. */
function userKeyText(publicKey: Uint8Array): string {
  const bytes = [USER_BYTE, ...publicKey];
  const checksum = crc16(bytes);
  const bits = [...bytes, checksum & 0xff, checksum >> 8].map((byte) => byte.toString(2).padStart(8, '0'));
  return bits.join('').replace(/.{5}/g, (five) => BASE32[Number.parseInt(five, 2)]!);
}

function crc16(bytes: readonly number[]): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? CRC16_POLYNOMIAL : 0)) & 0xffff;
  }
  return crc;
}
