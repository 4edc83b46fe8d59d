import { createHash } from 'node:crypto';
import type { SignatureType } from '../../model/asset.js';
import type { DemoAsset } from './demo_catalogue.js';

/** The oracle ID of every simulated publisher. */
export const SIMULATION_ORACLE_ID = 'simul';
/** The name of the simulated publishers' token. */
export const SIMULATION_TOKEN_NAME = 'simulated-publishers';

export interface DemoConfigOptions {
  readonly port: number;
  readonly adminPort: number;
  readonly assets: readonly DemoAsset[];
  readonly token: string;
  readonly publisherToken: string;
  /** Absolute paths of the service's key files, by their names in `keys`. */
  readonly keyFiles: Readonly<Record<string, string>>;
  /** The `publisher_key` texts by signature type. */
  readonly publishers: Readonly<Record<SignatureType, readonly string[]>>;
  /** An absolute path. */
  readonly storageDir: string;
  /** The section `cluster` of a node of a cluster. */
  readonly cluster?: DemoClusterSection;
}

export interface DemoClusterSection {
  readonly role: 'aggregator' | 'edge';
  readonly node: number;
  readonly servers: readonly string[];
  readonly credentials: { readonly file: string };
}

/** Returns the YAML text of the demo's configuration. */
export function demoConfigText(options: DemoConfigOptions): string {
  const { keyFiles, publishers, publisherToken, cluster } = options;
  const publisherKeys = [...publishers.evm, ...publishers.stark];
  return `# The demo's configuration: simulated publishers, real signatures.
# It is written anew at every start of the demo; to change it, copy it and serve the copy with --config.
service: { name: service, taxonomy_id: 1, oracle_id: servc }
listen: { host: 127.0.0.1, port: ${options.port}${cluster === undefined ? '' : ', threads: 1'} }
admin: { host: 127.0.0.1, port: ${options.adminPort} }
keys:
${Object.entries(keyFiles).map(keyText).join('')}tokens:
  - name: demo
    sha256: "${sha256Hex(options.token)}"
    scopes: [rest, stream, publish]
    publisher_keys: ${JSON.stringify(publisherKeys)}
  - name: ${SIMULATION_TOKEN_NAME}
    sha256: "${sha256Hex(publisherToken)}"
    scopes: [publish]
    publisher_keys: ${JSON.stringify(publisherKeys)}
assets:
${options.assets.map(assetText).join('')}publishers:
${publishers.evm.map((key, i) => publisherText(key, 'evm', i)).join('')}${publishers.stark
  .map((key, i) => publisherText(key, 'stark', i))
  .join('')}storage: { dir: ${quoted(options.storageDir)} }
${cluster === undefined ? '' : `cluster: ${JSON.stringify(cluster)}\n`}`;
}

function keyText([name, file]: readonly [string, string]): string {
  return `  ${name}: { file: ${quoted(file)} }\n`;
}

/**
 * The periods of signing. Stark aggregates are signed less often, because a Stark signature costs the service more
 * time.
 */
const CLOCK_PERIOD: Readonly<Record<SignatureType, string>> = { evm: '500ms', stark: '2s' };

function assetText(asset: DemoAsset): string {
  return `  - id: ${asset.id}
    symbol: ${asset.symbol}
    signature_type: ${asset.signatureType}
    aggregation: ${asset.aggregation}
    min_publishers: 2
    max_age: 60s
    clock_period: ${CLOCK_PERIOD[asset.signatureType]}
    delta_percent: 0.1
    max_deviation_percent: 5
    calendar: ${asset.calendar}
`;
}

/** Returns the text of a publisher. Weights differ, so that a weighted average differs from an average. */
function publisherText(key: string, signatureType: SignatureType, i: number): string {
  const oracle = `oracle_id: ${SIMULATION_ORACLE_ID}`;
  return `  - { key: ${quoted(key)}, signature_type: ${signatureType}, ${oracle}, assets: ["*"], weight: ${i + 1} }\n`;
}

function sha256Hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Returns a JSON string, which is also a YAML string. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
