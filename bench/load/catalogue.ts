import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1.js';
import { fieldNumber } from '../../src/crypto/stark.js';
import { starkPublicKey } from '../../src/crypto/stark_ecdsa.js';
import type { SignatureType } from '../../src/model/asset.js';
import { toHex } from '../../src/model/hex.js';

/** The token of the bench, with every scope. */
export const TOKEN = 'bench';
/** The oracle ID of every publisher. */
export const ORACLE_ID = 'bench';

/** What a service is configured with for a load run. */
export interface LoadCatalogue {
  readonly signatureType: SignatureType;
  /** `A0`, `A1`, …; their streaming IDs are their numbers. */
  readonly assets: number;
  readonly publishers: number;
  /** Default 500ms. */
  readonly clockPeriod?: string;
}

/** One publisher's key pair; the same in every run. */
export interface PublisherKeys {
  /** 32 bytes. */
  readonly secretKey: Buffer;
  /** An EVM address of 20 bytes, or a Stark public key of 32. */
  readonly key: Buffer;
}

/** The service's key for `signed_ecdsa` payloads, and the same for every run. */
export const SERVICE_KEY = secretKeyOf('service');

export function symbolOf(asset: number): string {
  return `A${asset}`;
}

export function publisherKeys(signatureType: SignatureType, publisher: number): PublisherKeys {
  const secretKey = secretKeyOf(`${signatureType} ${publisher}`);
  const key =
    signatureType === 'evm'
      ? evmAddress(secp256k1.publicKey(secretKey))
      : starkPublicKey(fieldNumber(secretKey));
  return { secretKey, key };
}

/**
 * Writes the configuration and keys of a service into a folder of its own, which is gone when this process ends.
 * @returns the configuration file.
 */
export function writeConfig(
  catalogue: LoadCatalogue,
  dir: string = temporaryFolder(),
): { readonly file: string; readonly storageDir: string } {
  const { signatureType, assets, publishers, clockPeriod = '500ms' } = catalogue;
  const keyFile = join(dir, 'service.hex');
  writeFileSync(keyFile, SERVICE_KEY.toString('hex'), { mode: 0o600 });
  const storageDir = join(dir, 'data');
  const config = {
    listen: { host: '127.0.0.1', port: 0 },
    admin: { host: '127.0.0.1', port: 0 },
    keys: { evm: { file: keyFile }, stark: { file: keyFile } },
    tokens: [
      {
        name: 'bench',
        sha256: createHash('sha256').update(TOKEN).digest('hex'),
        scopes: ['rest', 'stream', 'publish'],
        requests_per_second: 1_000_000,
      },
    ],
    assets: Array.from({ length: assets }, (_, asset) => ({
      id: asset,
      symbol: symbolOf(asset),
      signature_type: signatureType,
      max_age: UNLIMITED,
      clock_period: clockPeriod,
    })),
    publishers: Array.from({ length: publishers }, (_, publisher) => ({
      key: toHex(publisherKeys(signatureType, publisher).key),
      signature_type: signatureType,
      oracle_id: ORACLE_ID,
    })),
    // Updates are made with times of a fixed day, so that every run sends the same bytes.
    ingest: { max_past: UNLIMITED },
    storage: { dir: storageDir },
    limits: {
      stream_connections: 100_000,
      connections_per_token: 100_000,
      idle_timeout: '960s',
      slow_consumer: '60s',
    },
  };
  const file = join(dir, 'config.yaml');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify(config));
  return { file, storageDir };
}

const UNLIMITED = '36500d';

function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-bench-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A key for either curve: the top bits are cleared, because Stark's order is a little above 2^251. */
function secretKeyOf(name: string): Buffer {
  const key = createHash('sha256').update(`tickseal bench, ${name}`).digest();
  key[0]! &= 0x07;
  return key;
}
