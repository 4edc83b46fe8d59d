import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createPriceSigner, parseSecretKey } from '../../client/sign_price.js';
import type { SignatureType } from '../../model/asset.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import { DEMO_CATALOGUE } from './assets.js';
import { demoConfigText, SIMULATION_ORACLE_ID } from './config_text.js';
import { type DemoSecrets, ensureDemoSecrets } from './secrets.js';

export interface Demo {
  readonly configFile: string;
  /** The token of whoever tries the demo. */
  readonly token: string;
  /** The demo is new here: its keys and tokens were made just now. */
  readonly created: boolean;
}

/** Makes the demo's keys, tokens and configuration in `dataDir`; a later start keeps the keys and the tokens. */
export function prepareDemo(dataDir: string, ports: { port: number; adminPort: number }): Demo {
  const dir = resolve(dataDir);
  const { secrets, created } = ensureDemoSecrets(dir);
  const keyFiles = { evm: join(dir, 'demo-evm.hex'), stark: join(dir, 'demo-stark.hex') };
  for (const type of SIGNATURE_TYPES) {
    writeFileSync(keyFiles[type], `${secrets.serviceKeys[type]}\n`, { mode: 0o600 });
  }
  const configFile = join(dir, 'demo.yaml');
  const text = demoConfigText({
    ...ports,
    assets: DEMO_CATALOGUE,
    token: secrets.token,
    publisherToken: secrets.publisherToken,
    keyFiles,
    publishers: { evm: publicKeys(secrets, 'evm'), stark: publicKeys(secrets, 'stark') },
    storageDir: join(dir, 'store'),
  });
  writeFileSync(configFile, text, { mode: 0o600 });
  return { configFile, token: secrets.token, created };
}

function publicKeys(secrets: DemoSecrets, signatureType: SignatureType): string[] {
  return secrets.publisherKeys[signatureType].map((hex) => {
    const secretKey = parseSecretKey(hex)!;
    return createPriceSigner({ signatureType, secretKey, oracleId: SIMULATION_ORACLE_ID }).publicKey;
  });
}
