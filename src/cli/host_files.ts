import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { parseConfig } from '../config/load.js';
import { namedFileProblems } from '../config/named_files.js';
import { createToken } from '../config/token_hash.js';
import { makeFolder } from '../log/store/data_folder.js';
import { toHex } from '../model/hex.js';
import { PUBLISH_PATHS } from '../wire/paths.js';
import { DEFAULT_SIGNATURE_TYPE } from '../wire/signatures.js';
import {
  type HostAsset,
  type HostConfig,
  type HostPublisher,
  hostConfigText,
  typesOf,
} from './host_config.js';
import { marketSymbols, sourcesText } from './host_sources.js';
import { deployFile, ROOT, unitText } from './host_units.js';
import { createPrivateKey, publicKeyText, writeNewFile } from './keygen_command.js';
import type { NamedPublisher } from './option_forms.js';

export interface HostPlan extends Omit<HostConfig, 'assets' | 'publishers' | 'tokens'> {
  /** The folder to fill. */
  readonly dir: string;
  /** The publishers; without one, this host publishes prices of real markets. */
  readonly publishers: readonly NamedPublisher[];
  /** The assets; without one, all of scripts/deploy/sources.yaml. */
  readonly assets: readonly HostAsset[];
}

export interface HostFiles {
  readonly dir: string;
  readonly dataDir: string;
  /** The user of the unit. */
  readonly user: string;
  /** The names of the units. Their files are in the folder. */
  readonly units: readonly string[];
  readonly assets: readonly HostAsset[];
  /** The address or public key that signs the aggregates of each type. */
  readonly signers: readonly string[];
}

/** An error of the configuration that a plan makes. The message has one line for each error. */
export class InvalidPlan extends Error {}

/**
 * Writes the files of one host: configuration, keys, tokens and unit, and for real prices those of their publisher.
 * @throws InvalidPlan when the configuration would have errors; nothing is written then
 * @throws Error with one sentence when the folder is not empty or cannot be written
 */
export function writeHostFiles(plan: HostPlan): HostFiles {
  const dir = resolve(plan.dir);
  if (existsSync(dir) && readdirSync(dir).length > 0)
    throw new Error(`${dir} is not empty: its keys may be in use, so nothing was written; name a new folder`);
  const dataDir = resolve(dir, plan.dataDir);
  const paths = { node: process.execPath, root: ROOT, dir, dataDir };
  for (const path of Object.values(paths))
    if (!/^[\w./@+-]+$/.test(path))
      throw new Error(
        `${path}: a unit of systemd names this path, so it may have only letters, digits and . _ @ + -`,
      );
  const isMarket = plan.publishers.length === 0;
  const marketType = DEFAULT_SIGNATURE_TYPE;
  const marketKey = createPrivateKey(marketType);
  const publishers: HostPublisher[] = isMarket
    ? [{ key: publicKeyText(marketType, marketKey), signatureType: marketType, token: 'sources' }]
    : plan.publishers.map((one, i) => ({ ...one, token: `publisher-${i + 1}` }));
  const names = ['reader', ...publishers.map(({ token }) => token)];
  const tokens = new Map(names.map((name) => [name, createToken()]));
  const markets = deployFile('sources.yaml');
  const assets =
    plan.assets.length > 0
      ? plan.assets
      : marketSymbols(markets).map((symbol) => ({ symbol, calendar: 'none' }));
  const config = hostConfigText(deployFile('tickseal.yaml'), { ...plan, assets, publishers, tokens });
  const checked = parseConfig(config, 'tickseal.yaml');
  if (!checked.ok) throw new InvalidPlan(checked.errors.join('\n'));
  const symbols = assets.map(({ symbol }) => symbol);
  const sources = isMarket ? sourcesText(markets, symbols, publishUrl(plan)) : '';
  const unusable = checked.describe(namedFileProblems(checked.config, process.env));
  if (unusable.length > 0) throw new InvalidPlan(unusable.join('\n'));

  makeFolder(dataDir);
  const write = (name: string, text: string) => writeNewFile(join(dir, name), text);
  write('tickseal.yaml', config);
  const signers = typesOf(publishers).map((type) => {
    const key = createPrivateKey(type);
    write(`keys/${type}.hex`, `${toHex(key)}\n`);
    return publicKeyText(type, key);
  });
  for (const [name, token] of tokens) write(`tokens/${name}`, `${token}\n`);
  const user = process.getuid?.() === 0 ? 'tickseal' : userInfo().username;
  const places = { ...paths, user };
  write('tickseal.service', unitText('tickseal.service', places));
  if (!isMarket) return { dir, dataDir, user, units: ['tickseal'], assets, signers };
  write('keys/publisher.hex', `${toHex(marketKey)}\n`);
  write('sources.yaml', sources);
  write('sources.env', `TICKSEAL_TOKEN=${tokens.get('sources')}\n`);
  write('tickseal-sources.service', unitText('tickseal-sources.service', places));
  return { dir, dataDir, user, units: ['tickseal', 'tickseal-sources'], assets, signers };
}

/** Returns the address at which a publisher on this host reaches the service. */
function publishUrl({ tls, publicUrl, host, port }: HostPlan): string {
  const path = PUBLISH_PATHS[DEFAULT_SIGNATURE_TYPE];
  if (tls === undefined) return `ws://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}${path}`;
  if (publicUrl !== undefined) return `${publicUrl}${path}`;
  throw new RangeError(
    '--sources and --tls-cert need --public-url: the publisher checks the name in the certificate',
  );
}
