import type { Config } from '../config/config.js';
import type { PrivateKeys } from '../config/private_keys.js';
import { type AggregateSigner, createAggregateSigner, type PublicKey } from '../crypto/aggregate_signer.js';
import type { CryptoPool } from '../crypto/pool/pool.js';
import { SIGNATURE_RULES } from '../crypto/signatures/signature_table.js';
import type { StoreOptions } from '../log/store/store_options.js';
import type { SignatureType } from '../model/asset.js';
import { Catalogue } from '../model/catalogue.js';
import { timedKeysOf } from '../model/key_schedule.js';
import type { Signer } from '../model/node_list.js';
import { NS_PER_MS, secondOf } from '../model/time.js';
import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES } from '../wire/signatures.js';
import type { Identity } from './edge/edge_command.js';

/** The settings that a reload changes. */
export interface Settings {
  readonly config: Config;
  readonly keys: PrivateKeys;
  readonly catalogue: Catalogue;
  /** The signer of aggregates; absent on an edge of a cluster. */
  readonly signer: AggregateSigner | undefined;
}

/** Derives the settings from a configuration. @param before the current catalogue, for a reload */
export function deriveSettings(
  config: Config,
  keys: PrivateKeys,
  pool: CryptoPool,
  before?: Catalogue,
): Settings {
  const catalogue = new Catalogue(config, before);
  const signs = keys[DEFAULT_SIGNATURE_TYPE] !== undefined;
  const signer = signs ? createAggregateSigner(keys, config.service.oracleId, pool) : undefined;
  return { config, keys, catalogue, signer };
}

/**
 * Checks that a reload keeps the keys with which this process signs. The file may lack keys if it is meant for the next start, for example
 * as an edge.
 * @throws Error when a reload would remove keys
 */
export function requireKeys(before: Settings, next: PrivateKeys, { assets }: Config): void {
  for (const type of SIGNATURE_TYPES) {
    const signs =
      type === DEFAULT_SIGNATURE_TYPE || assets.some(({ signatureType }) => signatureType === type);
    if (before.keys[type] !== undefined && next[type] === undefined && signs)
      throw new Error(`keys.${type} is missing, and this process signs with it until it ends`);
  }
}

/** Returns the logs that a reload would switch on or off, which only a start does. */
export function switchedLogs(before: PrivateKeys, next: PrivateKeys): string[] {
  return LOG_KEYS.flatMap(([key, path]) =>
    (before[key] === undefined) === (next[key] === undefined) ? [] : [path],
  );
}

/** Returns the keys after a reload. The keys of logs may change, but no log is switched on or off. */
export function withSameLogs(before: PrivateKeys, next: PrivateKeys): PrivateKeys {
  const { log: _log, streamLog: _streamLog, ...others } = next;
  const logs = LOG_KEYS.flatMap(([key]) =>
    before[key] === undefined ? [] : [[key, next[key] ?? before[key]] as const],
  );
  return { ...others, ...Object.fromEntries(logs) };
}

/** The keys that switch logs on, with their paths in the configuration. */
const LOG_KEYS = [
  ['log', 'keys.log'],
  ['streamLog', 'keys.stream_log'],
] as const;

export function identityOf({ keys }: Settings): Identity {
  return { streamKeys: timedKeysOf(keys.stream ?? keys[DEFAULT_SIGNATURE_TYPE]) };
}

/** Returns the keys with which this process signs. @param sinceS the UNIX second at which the process received these keys */
export function signersOf(settings: Settings, sinceS: number): Signer[] {
  const { keyText, publicKey } = SIGNATURE_RULES[DEFAULT_SIGNATURE_TYPE];
  const streams = identityOf(settings).streamKeys.map(({ key, ...span }) => {
    return { ...span, text: keyText(publicKey(key)) };
  });
  const aggregates = (type: SignatureType) => settings.signer?.publicKeys[type] ?? [];
  const entry = ({ text, fromNs, untilNs }: PublicKey): Omit<Signer, 'signatureType' | 'role'> => ({
    address: text,
    sinceS,
    ...(fromNs > 0n && { fromS: Number(secondOf(fromNs)) }),
    ...(untilNs !== undefined && { untilS: Number(secondOf(untilNs)) }),
  });
  return [
    ...SIGNATURE_TYPES.flatMap((signatureType) =>
      aggregates(signatureType).map((key): Signer => ({ ...entry(key), signatureType, role: 'aggregate' })),
    ),
    ...streams.map(
      (key): Signer => ({ ...entry(key), signatureType: DEFAULT_SIGNATURE_TYPE, role: 'stream' }),
    ),
  ];
}

export function storeOptions({
  catalogue,
  config,
}: Settings): Pick<StoreOptions, 'assets' | 'candleRetentionMs'> {
  return {
    assets: catalogue.listed,
    candleRetentionMs: Number(config.storage.candleRetentionNs / NS_PER_MS),
  };
}
