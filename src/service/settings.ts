import type { Config } from '../config/config.js';
import type { PrivateKeys } from '../config/private_keys.js';
import { type AggregateSigner, createAggregateSigner, type PublicKey } from '../crypto/aggregate_signer.js';
import { checksumAddress } from '../crypto/checksum_address.js';
import { evmAddress as evmAddressOf } from '../crypto/evm.js';
import type { CryptoPool } from '../crypto/pool/pool.js';
import { secp256k1 } from '../crypto/secp256k1/secp256k1.js';
import type { StoreOptions } from '../log/store/store_options.js';
import { Catalogue } from '../model/catalogue.js';
import { timedKeysOf } from '../model/key_schedule.js';
import type { Signer } from '../model/node_list.js';
import { NS_PER_MS, secondOf } from '../model/time.js';
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
  const { evm } = keys;
  const signer =
    evm === undefined ? undefined : createAggregateSigner({ ...keys, evm }, config.service.oracleId, pool);
  return { config, keys, catalogue, signer };
}

/**
 * Checks that a reload keeps the keys with which this process signs. The file may lack keys if it is meant for the next start, for example
 * as an edge.
 * @throws Error when a reload would remove keys
 */
export function requireKeys(before: Settings, next: PrivateKeys, { assets }: Config): void {
  if (before.keys.evm !== undefined && next.evm === undefined)
    throw new Error('keys.evm is missing, and this process signs with it until it ends');
  const signsStark = assets.some(({ signatureType }) => signatureType === 'stark');
  if (before.keys.stark !== undefined && next.stark === undefined && signsStark)
    throw new Error('keys.stark is missing, and this process signs with it until it ends');
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
  return { streamKeys: timedKeysOf(keys.stream ?? keys.evm) };
}

/** Returns the keys with which this process signs. @param sinceS the UNIX second at which the process received these keys */
export function signersOf(settings: Settings, sinceS: number): Signer[] {
  const { evm = [], stark = [] } = settings.signer?.publicKeys ?? {};
  const streams = identityOf(settings).streamKeys.map(({ key, ...span }) => {
    return { ...span, text: checksumAddress(evmAddressOf(secp256k1.publicKey(key))) };
  });
  const entry = ({ text, fromNs, untilNs }: PublicKey): Omit<Signer, 'signatureType' | 'role'> => ({
    address: text,
    sinceS,
    ...(fromNs > 0n && { fromS: Number(secondOf(fromNs)) }),
    ...(untilNs !== undefined && { untilS: Number(secondOf(untilNs)) }),
  });
  return [
    ...evm.map((key): Signer => ({ ...entry(key), signatureType: 'evm', role: 'aggregate' })),
    ...stark.map((key): Signer => ({ ...entry(key), signatureType: 'stark', role: 'aggregate' })),
    ...streams.map((key): Signer => ({ ...entry(key), signatureType: 'evm', role: 'stream' })),
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
