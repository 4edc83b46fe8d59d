import { hashToken } from '../../config/token_hash.js';
import type { SignatureType } from '../../model/asset.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { NamedPublisher } from '../option_forms.js';
import { DEMO_NAMES, DEMO_PACE, type DemoAsset } from './demo_catalogue.js';

/** The oracle ID of every simulated publisher. */
export const SIMULATION_ORACLE_ID = 'simul';
/** The name of the simulated publishers' token. */
export const SIMULATION_TOKEN_NAME = 'simulated-publishers';
/** The name of the token of the publisher of real prices. */
export const MARKETS_TOKEN_NAME = 'market-publisher';

export interface DemoConfigOptions {
  readonly port: number;
  readonly adminPort: number;
  readonly assets: readonly DemoAsset[];
  readonly token: string;
  readonly publisherToken: string;
  /** Absolute paths of the service's key files, by their names in `keys`. Without them, the text is that of a cluster's node. */
  readonly keyFiles?: Readonly<Record<string, string>>;
  /** The `publisher_key` texts by signature type. */
  readonly publishers: Readonly<Record<SignatureType, readonly string[]>>;
  /** The store's folder, an absolute path or relative to the configuration. */
  readonly storageDir: string;
  /** The publisher of real prices, if the demo has one. */
  readonly markets?: MarketPublisher | undefined;
  /** The user's own publisher, if the user has named one. */
  readonly own?: NamedPublisher | undefined;
}

/** The only publisher of some of the assets. */
export interface MarketPublisher {
  /** The text for `publisher_key`. */
  readonly key: string;
  readonly token: string;
  /** The streaming IDs of the assets. */
  readonly assetIds: ReadonlySet<number>;
}

/** Returns the YAML text of the demo's configuration. */
export function demoConfigText(options: DemoConfigOptions): string {
  const { assets, keyFiles, publishers, publisherToken, markets, own } = options;
  const publisherKeys = Object.values(publishers).flat();
  const isReal = ({ id }: DemoAsset) => markets?.assetIds.has(id) === true;
  const simulatedOf = (type: SignatureType) =>
    markets === undefined
      ? ['*']
      : assets.filter((one) => one.signatureType === type && !isReal(one)).map(({ symbol }) => symbol);
  const publisherTexts = SIGNATURE_TYPES.flatMap((type) =>
    publishers[type].map((key, i) => publisherText(key, type, simulatedOf(type), i)),
  );
  return `# The demo's configuration: ${markets === undefined ? 'simulated publishers' : 'publishers of simulated and of real prices'}, real signatures.
# Each start of the demo writes it again; to change it, copy it and serve the copy with --config.
service: { name: service, taxonomy_id: 1, oracle_id: servc }
listen: { host: 127.0.0.1, port: ${options.port}${keyFiles === undefined ? ', threads: 1' : ''} }
admin: { host: 127.0.0.1, port: ${options.adminPort} }
${keyFiles === undefined ? '' : `keys:\n${Object.entries(keyFiles).map(keyText).join('')}`}tokens:
  - name: demo
    sha256: "${hashToken(options.token).toString('hex')}"
    scopes: [rest, stream, publish]
    publisher_keys: ${JSON.stringify(own === undefined ? publisherKeys : [...publisherKeys, own.key])}
  - name: ${SIMULATION_TOKEN_NAME}
    sha256: "${hashToken(publisherToken).toString('hex')}"
    scopes: [publish]
    publisher_keys: ${JSON.stringify(publisherKeys)}
${markets === undefined ? '' : marketTokenText(markets)}assets:
${assets.map((one) => assetText(one, isReal(one))).join('')}publishers:
${publisherTexts.join('')}${markets === undefined ? '' : marketPublisherText(markets, assets.filter(isReal))}${own === undefined ? '' : ownPublisherText(own)}storage: { dir: ${quotedYaml(options.storageDir)} }
`;
}

function keyText([name, file]: readonly [string, string]): string {
  return `  ${name}: { file: ${quotedYaml(file)} }\n`;
}

/**
 * Returns the text of an asset. An asset with real prices has one publisher, and its prices expire soon after the markets stop
 * sending.
 */
function assetText(asset: DemoAsset, isReal: boolean): string {
  return `  - id: ${asset.id}
    symbol: ${asset.symbol}
    signature_type: ${asset.signatureType}
    aggregation: ${asset.aggregation}
    min_publishers: ${isReal ? 1 : 2}
    max_age: ${isReal ? '15s' : '60s'}
    clock_period: ${DEMO_PACE[asset.signatureType].clockPeriod}
    delta_percent: 0.1
    max_deviation_percent: 5
    calendar: ${asset.calendar}
${namesText(asset.symbol)}`;
}

function namesText(symbol: string): string {
  const [name, assetClass] = DEMO_NAMES.get(symbol) ?? [];
  return name === undefined ? '' : `    name: ${quotedYaml(name)}\n    class: ${assetClass}\n`;
}

/** Returns the text of a publisher. The publishers' weights differ, so a weighted average differs from a plain average. */
function publisherText(
  key: string,
  signatureType: SignatureType,
  symbols: readonly string[],
  i: number,
): string {
  const oracle = `oracle_id: ${SIMULATION_ORACLE_ID}`;
  return `  - { key: ${quotedYaml(key)}, signature_type: ${signatureType}, ${oracle}, assets: ${JSON.stringify(symbols)}, weight: ${i + 1} }\n`;
}

function marketPublisherText({ key }: MarketPublisher, assets: readonly DemoAsset[]): string {
  return `  - { key: ${quotedYaml(key)}, assets: ${JSON.stringify(assets.map(({ symbol }) => symbol))} }\n`;
}

function ownPublisherText({ key, signatureType }: NamedPublisher): string {
  return `  - { key: ${quotedYaml(key)}, signature_type: ${signatureType}, assets: ["*"] }\n`;
}

function marketTokenText({ key, token }: MarketPublisher): string {
  return `  - name: ${MARKETS_TOKEN_NAME}
    sha256: "${hashToken(token).toString('hex')}"
    scopes: [publish]
    publisher_keys: [${quotedYaml(key)}]
`;
}

/** Returns the text as a JSON string, which is also a YAML string. */
function quotedYaml(text: string): string {
  return JSON.stringify(text);
}
