import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Problem } from './document.js';
import type { ConfigFile } from './schema.js';

/** The largest number of warnings about assets, because one warning for each asset of a large file would hide the other warnings. */
const ASSET_WARNINGS_MAX = 20;
/** The smallest ambiguous ID. From this ID on, the first byte of a taxonomy ID is 0xFF. */
const TAXONOMY_ID_AMBIGUOUS_MIN = 0xff00;

/**
 * Finds statements in a valid file that its operator probably does not intend. A service starts with such a file, and logs the warnings.
 */
export function configWarnings(file: ConfigFile): Problem[] {
  return [
    ...taxonomyWarnings(file),
    ...adminWarnings(file),
    ...tokenWarnings(file),
    ...publisherCountWarnings(file),
    ...otherTypeWarnings(file),
    ...clusterWarnings(file),
  ];
}

function* taxonomyWarnings({ service }: ConfigFile): Generator<Problem> {
  if (service.taxonomy_id < TAXONOMY_ID_AMBIGUOUS_MIN) return;
  yield {
    path: ['service', 'taxonomy_id'],
    message: `from ${TAXONOMY_ID_AMBIGUOUS_MIN} on a simplified payload begins with the byte 0xFF, which readers take for the versioned layout`,
  };
}

function* adminWarnings({ admin }: ConfigFile): Generator<Problem> {
  if (isLoopback(admin.host)) return;
  yield {
    path: ['admin', 'host'],
    message: `the admin listener asks for no token, and ${admin.host} may be reached from other machines`,
  };
}

function* tokenWarnings({ tokens }: ConfigFile): Generator<Problem> {
  for (const [index, { scopes, publisher_keys }] of tokens.entries()) {
    if (!scopes.includes('publish') || publisher_keys !== undefined) continue;
    yield {
      path: ['tokens', index, 'scopes'],
      message: 'this token may publish for every publisher; publisher_keys limits it to its own keys',
    };
  }
}

/**
 * Finds assets with too few publishers. The result is a warning, because an error would keep an operator from removing a publisher whose
 * key was stolen.
 */
function publisherCountWarnings({ assets, publishers }: ConfigFile): Problem[] {
  const warnings = assets.flatMap(({ symbol, signature_type, min_publishers }, index): Problem[] => {
    const count = publishers.filter(
      (publisher) =>
        publisher.signature_type === signature_type &&
        (publisher.assets.includes('*') || publisher.assets.includes(symbol)),
    ).length;
    if (count >= min_publishers) return [];
    const message = `${symbol} never has a price: min_publishers is ${min_publishers}, and ${count} of the publishers may feed it`;
    return [{ path: ['assets', index, 'min_publishers'], message }];
  });
  const rest = warnings.length - ASSET_WARNINGS_MAX;
  if (rest <= 0) return warnings;
  return [
    ...warnings.slice(0, ASSET_WARNINGS_MAX),
    { path: ['assets'], message: `${rest} more assets never have a price for want of publishers` },
  ];
}

/** Finds a publisher's symbols that have no asset of the publisher's signature type. A publisher signs prices of one type only. */
function* otherTypeWarnings({ assets, publishers }: ConfigFile): Generator<Problem> {
  const taken = new Set(assets.map(({ symbol, signature_type }) => `${signature_type} ${symbol}`));
  for (const [index, { signature_type, assets: symbols }] of publishers.entries()) {
    const useless = symbols.filter((symbol) => symbol !== '*' && !taken.has(`${signature_type} ${symbol}`));
    if (useless.length === 0) continue;
    const message = `this publisher signs ${signature_type} prices, and no ${signature_type} asset is named ${useless.slice(0, ASSET_WARNINGS_MAX).join(', ')}`;
    yield { path: ['publishers', index, 'assets'], message };
  }
}

function* clusterWarnings({ cluster }: ConfigFile): Generator<Problem> {
  if (cluster === undefined) return;
  const { servers, credentials, tls } = cluster;
  const hosts = servers.map((server) => new URL(server).hostname.replace(/^\[|\]$/g, ''));
  if (hosts.every(isLoopback)) return;
  if (credentials === undefined)
    yield {
      path: ['cluster'],
      message: 'without credentials, whoever reaches the NATS servers can send prices to every node',
    };
  if (tls === undefined && servers.some((server) => !server.startsWith('tls:')))
    yield {
      path: ['cluster'],
      message: 'without tls, prices and the log of the cluster travel where others may read and change them',
    };
}

function isLoopback(host: string): boolean {
  if (isIPv4(host)) return LOOPBACK.check(host, 'ipv4');
  return isIPv6(host) ? LOOPBACK.check(host, 'ipv6') : host.toLowerCase() === 'localhost';
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
