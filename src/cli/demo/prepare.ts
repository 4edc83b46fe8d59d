import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createPriceSigner, parseSecretKey } from '../../client/sign/sign_price.js';
import type { SignatureType, Simulated } from '../../model/asset.js';
import { bySignatureType, DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { NamedPublisher } from '../option_forms.js';
import { type DemoConfigOptions, demoConfigText, SIMULATION_ORACLE_ID } from './config_text.js';
import { DEMO_CATALOGUE, type DemoAsset, liveCatalogue } from './demo_catalogue.js';
import { type DemoSecrets, ensureDemoSecrets, ensureMarketSecrets, type MarketSecrets } from './secrets.js';

export interface Demo {
  readonly configFile: string;
  /** The token of the user of the demo. */
  readonly token: string;
  /** True when this start made the demo's keys and tokens. */
  readonly created: boolean;
  readonly simulation: Simulated;
  /** The folder of the demo's store. */
  readonly storageDir: string;
  /** The assets whose prices are simulated. */
  readonly simulatedAssets: readonly DemoAsset[];
  /** The secrets of the publisher of real prices, if the demo has one. */
  readonly markets?: MarketSecrets;
}

/**
 * Makes the demo's keys, tokens and configuration in `dataDir`. A later start keeps the keys and the tokens.
 * @param more.realSymbols the symbols with prices of real markets. A demo with real prices has a separate store, so no candle mixes real
 * and simulated prices.
 * @param more.own a publisher beside those of the demo
 */
export function prepareDemo(
  dataDir: string,
  ports: { port: number; adminPort: number },
  {
    realSymbols,
    own,
  }: { realSymbols?: readonly string[] | undefined; own?: NamedPublisher | undefined } = {},
): Demo {
  const dir = resolve(dataDir);
  const { secrets, created } = ensureDemoSecrets(dir);
  const keyFiles = writeServiceKeys(dir, secrets);
  const configFile = join(dir, 'demo.yaml');
  const options = { ...demoIdentity(secrets), ...ports, keyFiles, own };
  const write = (text: string) => writeFileSync(configFile, text, { mode: 0o600 });
  const demo = { configFile, token: secrets.token, created };
  if (realSymbols === undefined) {
    const storageDir = join(dir, 'store');
    write(demoConfigText({ ...options, storageDir }));
    return { ...demo, simulation: true, storageDir, simulatedAssets: options.assets };
  }
  const markets = ensureMarketSecrets(dir);
  const { assets, realIds } = liveCatalogue(realSymbols);
  const publisher = {
    key: publicKeyOf(markets.key, DEFAULT_SIGNATURE_TYPE),
    token: markets.token,
    assetIds: realIds,
  };
  const storageDir = join(dir, 'store-live');
  write(demoConfigText({ ...options, assets, markets: publisher, storageDir }));
  const simulatedAssets = assets.filter(({ id }) => !realIds.has(id));
  const simulation = new Set(simulatedAssets.map(({ id }) => id));
  return { ...demo, simulation, storageDir, simulatedAssets, markets };
}

/**
 * Writes the keys that sign aggregates to the files that the configuration names.
 * @returns the paths of the files
 */
function writeServiceKeys(dir: string, { serviceKeys }: DemoSecrets): Record<SignatureType, string> {
  const keyFiles = bySignatureType((type) => join(dir, `demo-${type}.hex`));
  for (const type of SIGNATURE_TYPES)
    writeFileSync(keyFiles[type], `${serviceKeys[type]}\n`, { mode: 0o600 });
  return keyFiles;
}

/** Returns the identity that all processes of the demo share. */
export function demoIdentity({
  token,
  publisherToken,
  publisherKeys,
}: DemoSecrets): Pick<DemoConfigOptions, 'assets' | 'token' | 'publisherToken' | 'publishers'> {
  const publicKeys = (type: SignatureType) => publisherKeys[type].map((hex) => publicKeyOf(hex, type));
  return {
    assets: DEMO_CATALOGUE,
    token,
    publisherToken,
    publishers: bySignatureType(publicKeys),
  };
}

/** Returns the public key of a private key in hex, as publishers write it. */
export function publicKeyOf(hex: string, signatureType: SignatureType): string {
  const secretKey = parseSecretKey(hex)!;
  return createPriceSigner({ signatureType, secretKey, oracleId: SIMULATION_ORACLE_ID }).publicKey;
}
