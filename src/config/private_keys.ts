import { resolve } from 'node:path';
import type { SignatureType } from '../model/asset.js';
import type { PrivateKey, TimedKey } from '../model/key_schedule.js';
import { bySignatureType, DEFAULT_SIGNATURE_TYPE, hasAllDigits } from '../wire/signatures.js';
import type { Config } from './config.js';
import type { Path, Problem } from './document.js';
import { isTimed, type KeySource, SIGNING_KEYS, type SigningKey } from './key_source.js';
import { KEY_RULES } from './publisher_key.js';
import { type ReadText, readSecretFile } from './secret_file.js';
import { shownText } from './shown_text.js';
import { withCure } from './unreadable_file.js';

/**
 * The private keys. Each key has 32 bytes. The keys of curves are big-endian and within 1..n-1. Only an edge of a cluster may omit the EVM key,
 * which is also the default of the key for streaming payloads.
 */
export interface PrivateKeys extends Readonly<Partial<Record<SigningKey, PrivateKey>>> {
  /** The Ed25519 key of the public log. */
  readonly log?: Buffer;
  /** The Ed25519 key of this node's public log of streaming payloads. */
  readonly streamLog?: Buffer;
}

export type KeysResult =
  | { readonly ok: true; readonly keys: PrivateKeys }
  /** The errors. The `path` of an error is the key's place in the configuration file. No message shows any part of a key. */
  | { readonly ok: false; readonly errors: readonly Problem[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the service's private keys from the files or variables of the configuration. Relative paths start at `baseDir`, the folder of the
 * configuration file. The function refuses a key file if users other than its owner can use it.
 */
export function loadKeys({ keys }: Pick<Config, 'keys'>, baseDir: string, env: Environment): KeysResult {
  const loaded: { -readonly [Name in keyof PrivateKeys]: PrivateKeys[Name] } = {};
  const errors: Problem[] = [];
  const load = (name: keyof PrivateKeys, path: Path, source: KeySource): Buffer | undefined => {
    const read = loadKey(name, path, source, baseDir, env);
    if (!('message' in read)) return read;
    errors.push(read);
    return undefined;
  };
  const logKey = keys.log && load('log', ['keys', 'log'], keys.log);
  if (logKey !== undefined) loaded.log = logKey;
  const streamLogKey = keys.streamLog && load('streamLog', ['keys', 'stream_log'], keys.streamLog);
  if (streamLogKey !== undefined) {
    if (logKey?.equals(streamLogKey))
      errors.push({ path: ['keys', 'stream_log'], message: 'holds the same key as keys.log' });
    loaded.streamLog = streamLogKey;
  }
  for (const name of SIGNING_KEYS) {
    const sources = keys[name];
    if (sources === undefined) continue;
    if (!isTimed(sources)) {
      const key = load(name, ['keys', name], sources);
      if (key !== undefined) loaded[name] = key;
      continue;
    }
    const timed: TimedKey[] = [];
    for (const [index, { source, fromNs, untilNs }] of sources.entries()) {
      const path = ['keys', name, index];
      const key = load(name, path, source);
      if (key === undefined) continue;
      const first = timed.findIndex((earlier) => earlier.key.equals(key));
      if (first >= 0) errors.push({ path, message: `holds the same key as keys.${name}[${first}]` });
      timed.push({ key, fromNs, untilNs });
    }
    loaded[name] = timed;
  }
  return errors.length > 0 ? { ok: false, errors } : { ok: true, keys: loaded };
}

/**
 * Reads a text that must be secret.
 * @param path the place of the source in the configuration file
 */
export function readSecret(
  path: Path,
  source: KeySource,
  baseDir: string,
  env: Environment,
): { readonly text: string; readonly path: Path } | Problem {
  const read =
    'file' in source ? readSecretFile(resolve(baseDir, source.file)) : readVariable(source.env, env);
  return { ...read, path: [...path, 'file' in source ? 'file' : 'env'] };
}

/**
 * Reads a private key from hex digits with or without `0x`. A Stark key may lack leading zeros, because its first digit is always 0 and
 * tools often drop leading zeros. An EVM key must have all 64 digits.
 * @returns 32 bytes, or `undefined` when the text is not a key within 1..n-1 of the curve
 */
export function parsePrivateKey(text: string, signatureType: SignatureType): Buffer | undefined {
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{1,64})$/.exec(text.trim()) ?? [];
  if (digits === undefined || (hasAllDigits(signatureType) && digits.length !== 64)) return undefined;
  const scalar = BigInt(`0x${digits}`);
  if (scalar === 0n || scalar >= KEY_RULES[signatureType].privateKeyLimit) return undefined;
  return Buffer.from(digits.padStart(64, '0'), 'hex');
}

/** The types of keys: the curves of prices, and Ed25519 for the public logs. */
const KEY_TYPES: Readonly<Record<keyof PrivateKeys, SignatureType | 'log'>> = {
  ...bySignatureType((type) => type),
  stream: DEFAULT_SIGNATURE_TYPE,
  log: 'log',
  streamLog: 'log',
};

/** Reads an Ed25519 private key from 64 hex digits with or without `0x`. Any 32 bytes are a valid key: RFC 8032, section 5.1.5. */
export function parseLogKey(text: string): Buffer | undefined {
  const [, digits] = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(text.trim()) ?? [];
  return digits === undefined ? undefined : Buffer.from(digits, 'hex');
}

function loadKey(
  name: keyof PrivateKeys,
  path: Path,
  source: KeySource,
  baseDir: string,
  env: Environment,
): Buffer | Problem {
  const read = readSecret(path, source, baseDir, env);
  const type = KEY_TYPES[name];
  if ('message' in read)
    return { ...read, message: withCure(read.message, `tickseal keygen ${type} --out FILE makes one`) };
  if (type === 'log')
    return (
      parseLogKey(read.text) ?? { path: read.path, message: 'holds no log key: expected 32 bytes of hex' }
    );
  return (
    parsePrivateKey(read.text, type) ?? {
      path: read.path,
      message: `holds no ${type} key: expected 32 bytes of hex within 1..n-1 of its curve`,
    }
  );
}

function readVariable(name: string, env: Environment): ReadText {
  const text = env[name];
  return text === undefined || text === ''
    ? { message: `the variable ${shownText(name)} is not set` }
    : { text };
}
