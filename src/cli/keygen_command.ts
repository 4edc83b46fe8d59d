import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Argument, type Command } from 'commander';
import { parsePrivateKey } from '../config/private_keys.js';
import { SIGNATURE_RULES } from '../crypto/signatures/signature_table.js';
import { makeFolder, systemReason } from '../log/store/data_folder.js';
import type { SignatureType } from '../model/asset.js';
import { toHex } from '../model/hex.js';
import { Ed25519Key } from '../tlog/ed25519_key.js';
import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES, SIGNATURES } from '../wire/signatures.js';
import { outputOf, ownText, reasonText, shown, writeLine } from './shown_line.js';

/** The kinds of keys: two for prices, and one for the public log. */
const KEY_KINDS = [...SIGNATURE_TYPES, 'log'] as const;
type KeyKind = (typeof KEY_KINDS)[number];

/** Adds `keygen [evm|stark|log] --out FILE`, which makes a private key and prints its address or public key. */
export function registerKeygen(program: Command): void {
  const command = program
    .command('keygen')
    .description('make a private key')
    .addArgument(
      new Argument('[type]', 'whose signatures it makes; log for the public log')
        .choices(KEY_KINDS)
        .default(DEFAULT_SIGNATURE_TYPE),
    )
    .option(
      '--out <file>',
      'write the key to a new file that only its owner can read, instead of printing it',
    );
  command.action((type: KeyKind, { out }: { out?: string }) => {
    const { out: stdout, err } = outputOf(command);
    const key = type === 'log' ? randomBytes(32) : createPrivateKey(type);
    if (out !== undefined) {
      try {
        writeNewFile(out, `${toHex(key)}\n`);
      } catch (error) {
        writeLine(err, shown`${out}: cannot be written: ${reasonText(systemReason(error))}; no key was made`);
        process.exitCode = 1;
        return;
      }
    }
    const written = out === undefined ? `private key: ${toHex(key)}` : `private key: in ${out}`;
    const listed =
      type === 'log' ? '' : `\nin the configuration, as a publisher: ${publisherLine(type, key)}`;
    writeLine(stdout, ownText(`${written}\n${publicText(type, key)}${listed}`));
  });
}

/** Returns the line of a publisher of all assets for `publishers` of the configuration. */
function publisherLine(type: SignatureType, key: Buffer): string {
  return listedPublisher(type, publicKeyText(type, key));
}

/** Returns the line of a publisher of all assets. @param publicKey an address, or a Stark public key */
export function listedPublisher(type: SignatureType, publicKey: string): string {
  const typeField = type === DEFAULT_SIGNATURE_TYPE ? '' : `signature_type: ${type}, `;
  return `- { key: "${publicKey}", ${typeField}assets: ["*"] }`;
}

function publicText(type: KeyKind, key: Buffer): string {
  if (type === 'log') return `public key: ${toHex(Buffer.from(new Ed25519Key(key).publicKey))}`;
  return `${SIGNATURES[type].keyName}: ${publicKeyText(type, key)}`;
}

/** Returns a random private key within 1..n-1 of the curve: 32 bytes. */
export function createPrivateKey(type: SignatureType): Buffer {
  for (;;) {
    const bytes = randomBytes(32);
    // The order `n` of the STARK curve is above one of 32 random numbers.
    if (parsePrivateKey(bytes.toString('hex'), type) !== undefined) return bytes;
  }
}

/** Writes a new file. Never replaces a file, because the existing file may contain the only copy of a key. */
export function writeNewFile(file: string, text: string): void {
  makeFolder(dirname(file));
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}

/** Returns the EVM address of a private key, in the mixed case of EIP-55. */
export function addressOf(key: Buffer): string {
  return publicKeyText('evm', key);
}

/** Returns the public key of a private key, as the service shows it. */
export function publicKeyText(type: SignatureType, key: Buffer): string {
  const { keyText, publicKey } = SIGNATURE_RULES[type];
  return keyText(publicKey(key));
}
