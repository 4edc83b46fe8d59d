import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { keccak_256 } from '@noble/hashes/sha3.js';
import * as secp256k1 from '@noble/secp256k1';
import { getStarkKey } from '@scure/starknet';
import { Argument, type Command } from 'commander';
import { parsePrivateKey } from '../config/keys.js';
import type { SignatureType } from '../model/asset.js';
import { toHex } from '../model/hex.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';

/** Adds `keygen [evm|stark] --out FILE`: makes a private key, and prints what others know it by. */
export function registerKeygen(program: Command): void {
  const command = program
    .command('keygen')
    .description('make a private key')
    .addArgument(new Argument('[type]', 'whose signatures it makes').choices(SIGNATURE_TYPES).default('evm'))
    .option(
      '--out <file>',
      'write the key to a new file that only its owner can read, instead of printing it',
    );
  command.action((type: SignatureType, { out }: { out?: string }) => {
    const { writeOut, writeErr } = command.configureOutput();
    const key = createPrivateKey(type);
    if (out !== undefined) {
      try {
        writeNewFile(out, `${toHex(key)}\n`);
      } catch (error) {
        writeErr?.(`${out}: cannot be written (${(error as NodeJS.ErrnoException).code}); no key was made\n`);
        process.exitCode = 1;
        return;
      }
    }
    const written = out === undefined ? `private key: ${toHex(key)}` : `private key: in ${out}`;
    writeOut?.(
      `${written}\n${type === 'evm' ? `address: ${addressOf(key)}` : `public key: ${starkKeyOf(key)}`}\n`,
    );
  });
}

/** A random private key within 1..n-1 of the curve: 32 bytes. */
function createPrivateKey(type: SignatureType): Buffer {
  for (;;) {
    const bytes = randomBytes(32);
    // n of the STARK curve has 252 bits: a random number of that size is below it every other time.
    if (type === 'stark') bytes[0]! &= 0x0f;
    if (parsePrivateKey(bytes.toString('hex'), type) !== undefined) return bytes;
  }
}

/** Never replaces a file: the key in it may be the only copy. */
function writeNewFile(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}

/** The EVM address of a private key, in the mixed case of EIP-55. */
export function addressOf(key: Buffer): string {
  const publicKey = secp256k1.getPublicKey(key, false);
  const address = Buffer.from(keccak_256(publicKey.subarray(1))).toString('hex', 12);
  const checksum = Buffer.from(keccak_256(Buffer.from(address, 'ascii'))).toString('hex');
  return `0x${[...address].map((digit, at) => (checksum[at]! >= '8' ? digit.toUpperCase() : digit)).join('')}`;
}

/** The x coordinate of a Stark public key, with all 64 digits. */
export function starkKeyOf(key: Buffer): string {
  return `0x${getStarkKey(key.toString('hex')).slice(2).padStart(64, '0')}`;
}
