import { PERCENT_SCALE } from '../model/asset.js';
import { nearHorizons } from '../model/calendar/horizon.js';
import type { Problem } from './document.js';
import { limitWarnings } from './limit_warnings.js';
import { RECORDS_NS_ADVISED } from './log_section.js';
import { isLoopback } from './loopback.js';
import { canonicalText } from './publisher_key.js';
import type { ConfigFile } from './schema.js';
import { hashToken } from './token_hash.js';

/** The largest number of warnings of one kind about assets. */
const ASSET_WARNINGS_MAX = 20;
/** The value 100 %, in the form of `max_deviation_percent`. */
const DEVIATION_WITHOUT_EFFECT_MIN = 100n * BigInt(PERCENT_SCALE);
/** The smallest ambiguous ID. From this ID on, the first byte of a taxonomy ID is 0xFF. */
const TAXONOMY_ID_AMBIGUOUS_MIN = 0xff00;

/**
 * Finds settings in a valid file that the operator probably does not intend. A service starts with such a file, and logs the
 * warnings.
 */
export function configWarnings(file: ConfigFile): Problem[] {
  return [
    ...taxonomyWarnings(file),
    ...adminWarnings(file),
    ...tokenWarnings(file),
    ...limitWarnings(file),
    ...firstOf(publisherCountWarnings(file), 'more assets never have a price for want of publishers'),
    ...firstOf(ageWarnings(file), 'more assets have a max_age below their clock_period'),
    ...firstOf(deviationWarnings(file), 'more assets have a max_deviation_percent of 100 or more'),
    ...otherTypeWarnings(file),
    ...clusterWarnings(file),
    ...logWarnings(file),
    ...nearHorizons(file.calendars, Date.now()).map(({ name, message }) => ({
      path: ['calendars', name],
      message,
    })),
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

function* tokenWarnings({ tokens, publishers, listen }: ConfigFile): Generator<Problem> {
  if (listen.page_token !== undefined) {
    const sha256 = hashToken(listen.page_token).toString('hex');
    const { name, requests_per_second: rate } = tokens.find((one) => one.sha256.toLowerCase() === sha256)!;
    yield {
      path: ['listen', 'page_token'],
      message: `everybody who opens the live page reads with the token ${name}; all of them together have its ${rate} requests a second`,
    };
  }
  const known = new Set(publishers.map(({ key }) => canonicalText(key)));
  for (const [index, { scopes, publisher_keys }] of tokens.entries()) {
    const path = ['tokens', index, 'publisher_keys'];
    if (!scopes.includes('publish')) {
      if (publisher_keys !== undefined)
        yield { path, message: 'no effect: this token lacks the scope publish' };
    } else if (publisher_keys === undefined) {
      yield {
        path: ['tokens', index, 'scopes'],
        message: 'this token may publish for every publisher; publisher_keys limits it to its own keys',
      };
    }
    for (const [at, key] of (publisher_keys ?? []).entries()) {
      if (known.has(canonicalText(key))) continue;
      yield { path: [...path, at], message: 'no entry of publishers has this key; its updates are refused' };
    }
  }
}

/** Limits the number of warnings about assets. One warning for each asset of a large file would hide the other warnings. */
function firstOf(warnings: readonly Problem[], others: string): readonly Problem[] {
  const rest = warnings.length - ASSET_WARNINGS_MAX;
  if (rest <= 0) return warnings;
  return [...warnings.slice(0, ASSET_WARNINGS_MAX), { path: ['assets'], message: `${rest} ${others}` }];
}

/**
 * Finds assets with too few publishers. The result is a warning, because an error would prevent an operator from removing a publisher
 * with a stolen key.
 */
function publisherCountWarnings({ assets, publishers }: ConfigFile): Problem[] {
  return assets.flatMap(({ symbol, signature_type, min_publishers }, index): Problem[] => {
    const count = publishers.filter(
      (publisher) =>
        publisher.signature_type === signature_type &&
        (publisher.assets.includes('*') || publisher.assets.includes(symbol)),
    ).length;
    if (count >= min_publishers) return [];
    const message = `${symbol} never has a price: min_publishers is ${min_publishers}, and ${count} of the publishers may feed it`;
    return [{ path: ['assets', index, 'min_publishers'], message }];
  });
}

function ageWarnings({ assets }: ConfigFile): Problem[] {
  return assets.flatMap(({ symbol, max_age, clock_period }, index): Problem[] => {
    if (max_age >= clock_period) return [];
    const message = `below clock_period: all inputs of the newest aggregate of ${symbol} may be too old to count before the next one is signed`;
    return [{ path: ['assets', index, 'max_age'], message }];
  });
}

function deviationWarnings({ assets }: ConfigFile): Problem[] {
  return assets.flatMap(({ symbol, max_deviation_percent = 0n }, index): Problem[] => {
    if (max_deviation_percent < DEVIATION_WITHOUT_EFFECT_MIN) return [];
    const message = `from 100 on no price of ${symbol} is too low to count: even a price near 0 is less than 100 % below the median`;
    return [{ path: ['assets', index, 'max_deviation_percent'], message }];
  });
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

function* logWarnings({ keys, log, cluster }: ConfigFile): Generator<Problem> {
  const isOn = keys.log !== undefined || keys.stream_log !== undefined;
  if (isOn && log.require_quorum && log.policy === undefined)
    yield {
      path: ['log', 'require_quorum'],
      message: 'no effect without log.policy, which names the witnesses',
    };
  if (isOn && log.records_retention < RECORDS_NS_ADVISED)
    yield {
      path: ['log', 'records_retention'],
      message:
        'shorter than 2h: an audit of the log counts records that are missing within an hour as withheld',
    };
  if (keys.log === undefined || cluster?.role !== 'edge') return;
  yield {
    path: ['keys', 'log'],
    message: 'no effect: only the aggregators of a cluster have the public log',
  };
}
