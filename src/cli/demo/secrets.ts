import { randomBytes } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createToken } from '../../config/token_hash.js';
import { dataFolderProblem, makeFolder } from '../../log/store/data_folder.js';
import type { SignatureType } from '../../model/asset.js';
import { bySignatureType } from '../../wire/signatures.js';

/**
 * All secrets of a demo. The demo makes the secrets once and stores them, so tokens and signers stay the same after a restart.
 */
export interface DemoSecrets {
  /** The token of the user of the demo, with every scope. */
  readonly token: string;
  /** The token of the simulated publishers. */
  readonly publisherToken: string;
  /** The service's keys, in hex. */
  readonly serviceKeys: Readonly<Record<SignatureType, string>>;
  /** The simulated publishers' keys, in hex. */
  readonly publisherKeys: Readonly<Record<SignatureType, readonly string[]>>;
}

/** The secrets of the publisher of real prices. */
export interface MarketSecrets {
  readonly token: string;
  /** The EVM key, in hex. */
  readonly key: string;
}

const FILE_NAME = 'demo-secrets.json';
const MARKET_FILE_NAME = 'demo-markets.json';
const PUBLISHERS_PER_TYPE = 3;
const KEY_BYTES = 32;

/** Reads the secrets in `dataDir`, or makes them if they do not exist. Only the owner can read the file. */
export function ensureDemoSecrets(dataDir: string): { secrets: DemoSecrets; created: boolean } {
  makeDemoFolder(dataDir);
  const created = writeIfAbsent(join(dataDir, FILE_NAME), freshSecrets());
  return { secrets: readDemoSecrets(dataDir), created };
}

/** Reads the secrets of the publisher of real prices in `dataDir`, or makes them if they do not exist. */
export function ensureMarketSecrets(dataDir: string): MarketSecrets {
  const file = join(dataDir, MARKET_FILE_NAME);
  writeIfAbsent(file, { token: createToken(), key: freshKey() } satisfies MarketSecrets);
  return readSecrets(file);
}

/** Makes the demo's folder unless it exists. @throws Error when it cannot be used */
export function makeDemoFolder(dataDir: string): void {
  const problem = dataFolderProblem(dataDir);
  if (problem !== undefined) throw new Error(`--data: the folder ${dataDir} cannot be used: ${problem}`);
  makeFolder(dataDir);
}

/** Writes secrets into a file that only the owner can read. @returns false when the file already existed */
function writeIfAbsent(file: string, secrets: object): boolean {
  try {
    writeFileSync(file, `${JSON.stringify(secrets, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/**
 * Reads the secrets that {@link ensureDemoSecrets} made.
 * @throws Error when the file is missing or damaged, or when users other than the owner can access it.
 */
export function readDemoSecrets(dataDir: string): DemoSecrets {
  return readSecrets(join(dataDir, FILE_NAME));
}

function readSecrets<T>(file: string): T {
  const { mode = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if ((mode & 0o077) !== 0) throw new Error(`${file} is open to its group or to others; chmod 600 it`);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error(`${file} cannot be read: remove it to begin the demo afresh`, { cause });
  }
}

function freshSecrets(): DemoSecrets {
  const keys = () => Array.from({ length: PUBLISHERS_PER_TYPE }, freshKey);
  return {
    token: createToken(),
    publisherToken: createToken(),
    serviceKeys: bySignatureType(freshKey),
    publisherKeys: bySignatureType(keys),
  };
}

/**
 * Returns a key that is valid for all signature types. The function clears the top bits, because Stark's order is a little above 2^251.
 */
function freshKey(): string {
  const key = randomBytes(KEY_BYTES);
  key[0]! &= 0x07;
  return `0x${key.toString('hex')}`;
}
