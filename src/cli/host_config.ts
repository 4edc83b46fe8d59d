import { resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { hashToken } from '../config/token_hash.js';
import type { SignatureType } from '../model/asset.js';
import { DEFAULT_SIGNATURE_TYPE } from '../wire/signatures.js';
import type { NamedPublisher } from './option_forms.js';

export interface HostAsset {
  readonly symbol: string;
  /** The name of a calendar; `none` for an asset that always trades. */
  readonly calendar: string;
}

export interface HostPublisher extends NamedPublisher {
  /** The name of its token. */
  readonly token: string;
}

export interface HostConfig {
  readonly oracleId: string;
  readonly host: string;
  readonly port: number;
  /** The address of the admin listener. */
  readonly adminHost: string;
  readonly adminPort: number;
  readonly publicUrl: string | undefined;
  /** The files of the certificate and its key. */
  readonly tls: { readonly cert_file: string; readonly key_file: string } | undefined;
  /** The data folder; relative paths start at the folder of the configuration. */
  readonly dataDir: string;
  /** The assets in the order of their streaming IDs, one for each signature type of the publishers. */
  readonly assets: readonly HostAsset[];
  readonly publishers: readonly HostPublisher[];
  /** The text of each token by its name: `reader`, and those of the publishers. */
  readonly tokens: ReadonlyMap<string, string>;
}

/** Returns the signature types of the publishers. */
export function typesOf(publishers: readonly HostPublisher[]): readonly SignatureType[] {
  return [...new Set(publishers.map((one) => one.signatureType))].sort();
}

/**
 * Returns the configuration of a host.
 * @param template the text of scripts/deploy/tickseal.yaml, whose comments and other values stay
 */
export function hostConfigText(template: string, host: HostConfig): string {
  const { publicUrl, tls, publishers, tokens } = host;
  const document = parseDocument(template);
  /** Sets a list with each entry on one line. */
  const setRows = (name: string, entries: readonly object[]) => {
    const list = document.createNode<unknown[]>([]);
    list.items = entries.map((entry) => document.createNode(entry, { flow: true }));
    document.set(name, list);
  };
  document.setIn(['service', 'oracle_id'], host.oracleId);
  if (publicUrl === undefined) document.deleteIn(['service', 'public_url']);
  else document.setIn(['service', 'public_url'], publicUrl);
  document.setIn(['listen', 'host'], host.host);
  document.setIn(['listen', 'port'], host.port);
  if (tls === undefined) document.deleteIn(['listen', 'tls']);
  for (const [name, file] of Object.entries(tls ?? {}))
    document.setIn(['listen', 'tls', name], resolve(file));
  document.setIn(['admin', 'host'], host.adminHost);
  document.setIn(['admin', 'port'], host.adminPort);
  const keys = typesOf(publishers).map((type) => [type, { file: `keys/${type}.hex` }]);
  document.set('keys', document.createNode(Object.fromEntries(keys)));
  const login = (name: string) => ({ name, sha256: hashToken(tokens.get(name)!).toString('hex') });
  setRows('tokens', [
    { ...login('reader'), scopes: ['rest', 'stream'], requests_per_second: 20 },
    ...publishers.map(({ token, key }) => ({ ...login(token), scopes: ['publish'], publisher_keys: [key] })),
  ]);
  setRows('assets', assetRows(host));
  setRows(
    'publishers',
    publishers.map((one) => ({ key: one.key, ...typeEntry(one.signatureType), assets: ['*'] })),
  );
  document.setIn(['storage', 'dir'], host.dataDir);
  return document.toString({ lineWidth: 0 });
}

function assetRows({ assets, publishers }: HostConfig): object[] {
  return typesOf(publishers).flatMap((type, at) => {
    const count = publishers.filter((one) => one.signatureType === type).length;
    return assets.map(({ symbol, calendar }, i) => ({
      id: at * assets.length + i + 1,
      symbol,
      ...typeEntry(type),
      // With three publishers, one may be silent, and one wrong publisher alone cannot move the median far.
      min_publishers: count >= 3 ? 2 : 1,
      max_age: '30s',
      delta_percent: 0.05,
      max_deviation_percent: 5,
      ...(calendar !== 'none' && { calendar }),
    }));
  });
}

function typeEntry(type: SignatureType): object {
  return type === DEFAULT_SIGNATURE_TYPE ? {} : { signature_type: type };
}
