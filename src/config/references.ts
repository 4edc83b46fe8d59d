import { checksumAddress } from '../crypto/checksum_address.js';
import { createCalendars } from '../model/calendar/calendars.js';
import { BUILT_IN_CALENDARS, type CalendarDefinition } from '../model/calendar/definition.js';
import { parseHex } from '../model/hex.js';
import {
  DEFAULT_SIGNATURE_TYPE,
  ORACLE_ID_LENGTH,
  SIGNATURE_TYPES,
  SIGNATURES,
  type SignatureType,
} from '../wire/signatures.js';
import { clusterProblems } from './cluster_references.js';
import type { Problem } from './document.js';
import { keyTimeProblems } from './key_times.js';
import { logOriginOf, streamOriginOf } from './log_section.js';
import { canonicalKey, KEY_RULES, parsePublisherKey } from './publisher_key.js';
import type { ReadableFile } from './readable_file.js';
import { shownText } from './shown_text.js';
import { hashToken } from './token_hash.js';

/** Finds conflicts between two keys of the file. */
export function* referenceProblems(file: ReadableFile): Generator<Problem> {
  yield* listenerProblems(file);
  yield* keyProblems(file);
  yield* keyTimeProblems(file);
  yield* logProblems(file);
  yield* clusterProblems(file);
  yield* tokenProblems(file);
  yield* assetProblems(file);
  yield* classProblems(file);
  yield* publisherProblems(file);
  yield* calendarProblems(file);
  yield* unknownAssets(file);
  yield* wrongChecksums(file);
}

function* listenerProblems({ listen, admin }: ReadableFile): Generator<Problem> {
  if (
    admin.port !== undefined &&
    admin.port !== 0 &&
    admin.port === listen.port &&
    admin.host === listen.host
  ) {
    yield { path: ['admin', 'port'], message: 'the same address as listen; each needs its own' };
  }
}

function* keyProblems({ keys, assets, cluster }: ReadableFile): Generator<Problem> {
  if (cluster?.role === 'edge') {
    for (const name of SIGNATURE_TYPES) {
      const message =
        'an edge signs no aggregates, so the key has no place on its machine; only keys.stream has';
      if (keys[name] !== undefined) yield { path: ['keys', name], message };
    }
    return;
  }
  for (const type of SIGNATURE_TYPES) {
    if (keys[type] !== undefined) continue;
    const path = ['keys', type];
    const signed = assets.find(({ signature_type }) => signature_type === type);
    if (type === DEFAULT_SIGNATURE_TYPE)
      yield { path, message: 'missing; expected a mapping of keys to values' };
    else if (signed !== undefined)
      yield {
        path,
        message: `missing, but ${signed.symbol ?? 'an asset'} is a ${type} asset, which this key signs`,
      };
  }
}

function* logProblems({ keys, log, service }: ReadableFile): Generator<Problem> {
  if (keys.log === undefined && keys.stream_log === undefined) return;
  const name = keys.log === undefined ? streamOriginOf({ log, service }) : logOriginOf({ log, service });
  if (name === undefined)
    yield {
      path: ['log', 'origin'],
      message:
        'missing, and service.public_url too: the name of the public log is its address, and stays for ever',
    };
  if (log.batch !== undefined && log.checkpoint !== undefined && log.checkpoint < log.batch)
    yield { path: ['log', 'checkpoint'], message: 'is shorter than batch: a checkpoint needs a new batch' };
}

function* tokenProblems({ tokens, listen }: ReadableFile): Generator<Problem> {
  if (listen.page_token !== undefined) {
    const path = ['listen', 'page_token'];
    const sha256 = hashToken(listen.page_token).toString('hex');
    const token = tokens.find((one) => one.sha256?.toLowerCase() === sha256);
    if (token === undefined) yield { path, message: 'no entry of tokens has the SHA-256 of this token' };
    else if (token.scopes?.includes('publish'))
      yield { path, message: 'everybody receives this token, so it must not have the scope publish' };
  }
  yield* repeatedItems('tokens', 'name', tokens, ({ name }) => name);
  yield* repeatedItems('tokens', 'sha256', tokens, ({ sha256 }) => sha256?.toLowerCase());
}

function* classProblems({ aggregation, assets }: ReadableFile): Generator<Problem> {
  for (const name of Object.keys(aggregation.classes ?? {}))
    if (!assets.some((asset) => asset.class === name))
      yield { path: ['aggregation', 'classes', name], message: 'no asset has this class' };
}

/**
 * The pattern of the symbols that fit beside an oracle ID. The `x` of a Stark price's message must be below the field prime, so a symbol has at
 * most 26 characters of one byte each.
 */
const SHORT_SYMBOL = /^[\x21-\x7e]{1,26}$/;

function* assetProblems({ assets }: ReadableFile): Generator<Problem> {
  yield* repeatedItems('assets', 'id', assets, ({ id }) => id);
  for (const type of SIGNATURE_TYPES) {
    const symbolOf = ({ symbol, signature_type }: (typeof assets)[number]) =>
      signature_type === type ? symbol : undefined;
    yield* repeatedItems('assets', 'symbol', assets, symbolOf);
  }
  for (const [index, { symbol, signature_type }] of assets.entries()) {
    if (symbol === undefined || !coversOracleId(signature_type) || SHORT_SYMBOL.test(symbol)) continue;
    const message = `a ${signature_type} asset has at most 26 ASCII characters`;
    yield { path: ['assets', index, 'symbol'], message };
  }
}

function* publisherProblems({ publishers }: ReadableFile): Generator<Problem> {
  for (const type of SIGNATURE_TYPES) {
    const keyOf = ({ key, signature_type }: (typeof publishers)[number]) =>
      signature_type === type ? numberText(key) : undefined;
    yield* repeatedItems('publishers', 'key', publishers, keyOf);
  }
  for (const [index, { key, signature_type, oracle_id }] of publishers.entries()) {
    if (key !== undefined && signature_type !== undefined && !parsePublisherKey(key, signature_type)) {
      yield {
        path: ['publishers', index, 'key'],
        message: `expected ${KEY_RULES[signature_type].publisherKey}`,
      };
    }
    if (coversOracleId(signature_type) && oracle_id !== undefined && oracle_id.length !== ORACLE_ID_LENGTH) {
      const message = `the oracle_id of a ${signature_type} publisher is exactly ${ORACLE_ID_LENGTH} ASCII characters`;
      yield { path: ['publishers', index, 'oracle_id'], message };
    }
  }
}

function coversOracleId(type: SignatureType | undefined): boolean {
  return type !== undefined && SIGNATURES[type].coversOracleId;
}

/** Checks that the calendars of all assets exist, and that all definitions are valid. */
function* calendarProblems({ assets, calendars }: ReadableFile): Generator<Problem> {
  const readable = Object.entries(calendars).filter(([, definition]) => definition !== undefined);
  const { errors } = createCalendars(Object.fromEntries(readable) as Record<string, CalendarDefinition>);
  for (const { path, message } of errors) yield { path: ['calendars', ...path], message };
  const names = new Set(['none', ...BUILT_IN_CALENDARS, ...Object.keys(calendars)]);
  for (const [index, { calendar }] of assets.entries()) {
    if (calendar !== undefined && !names.has(calendar)) {
      const message = `unknown calendar ${JSON.stringify(calendar)}; known are ${[...names].join(', ')}`;
      yield { path: ['assets', index, 'calendar'], message };
    }
  }
}

/** Finds symbols for which the file has no asset. Does nothing if an asset lacks a symbol. */
function* unknownAssets({ assets, tokens, publishers, pushed_assets }: ReadableFile): Generator<Problem> {
  const known = new Set(assets.map(({ symbol }) => symbol));
  if (known.has(undefined)) return;
  const unknown = (path: Problem['path'], symbol: string): Problem[] =>
    symbol === '*' || known.has(symbol)
      ? []
      : [{ path, message: `unknown asset ${JSON.stringify(shownText(symbol))}; assets has no such symbol` }];
  for (const [list, holders] of Object.entries({ tokens, publishers })) {
    for (const [index, { assets: symbols = [] }] of holders.entries())
      for (const [at, symbol] of symbols.entries()) yield* unknown([list, index, 'assets', at], symbol);
  }
  for (const [chain, environments] of Object.entries(pushed_assets)) {
    for (const [environment, pushed] of Object.entries(environments))
      for (const symbol of Object.keys(pushed))
        yield* unknown(['pushed_assets', chain, environment, symbol], symbol);
  }
}

/** Finds EVM addresses in mixed case with a wrong checksum. Such an address probably has a wrong digit. */
function* wrongChecksums({ tokens, publishers, deployments }: ReadableFile): Generator<Problem> {
  const wrong = (path: Problem['path'], text: string | undefined): Problem[] => {
    const expected = text && checksumOf(text);
    if (!expected || expected === text) return [];
    const message = `the capital letters do not fit the checksum of this address (EIP-55): check its digits, then write ${expected} or only small letters`;
    return [{ path, message }];
  };
  for (const [index, { key, signature_type }] of publishers.entries())
    if (signature_type === 'evm') yield* wrong(['publishers', index, 'key'], key);
  for (const [index, { publisher_keys = [] }] of tokens.entries())
    for (const [at, key] of publisher_keys.entries())
      yield* wrong(['tokens', index, 'publisher_keys', at], key);
  for (const [index, { proxy_address }] of deployments.entries())
    yield* wrong(['deployments', index, 'proxy_address'], proxy_address);
}

/**
 * Returns an address in the case of its checksum. Returns `undefined` for a text that is not an address, or whose letters all have the
 * same case.
 */
function checksumOf(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text) || !/[a-f]/.test(text.slice(2)) || !/[A-F]/.test(text))
    return undefined;
  return checksumAddress(Buffer.from(text.slice(2), 'hex'));
}

/** Finds the items of `list` whose `identity` equals the `identity` of an earlier item. */
function* repeatedItems<T>(
  list: string,
  key: string,
  items: readonly T[],
  identity: (item: T) => string | number | undefined,
): Generator<Problem> {
  const firstIndexes = new Map<string | number, number>();
  for (const [index, item] of items.entries()) {
    const value = identity(item);
    if (value === undefined) continue;
    const first = firstIndexes.get(value);
    if (first === undefined) firstIndexes.set(value, index);
    else
      yield { path: [list, index, key], message: `the same as ${list}[${first}].${key}: each needs its own` };
  }
}

/** Returns the canonical text of a key, because a file may contain a key in either case, and with or without leading zeros. */
function numberText(key: string | undefined): string | undefined {
  const bytes = key === undefined ? undefined : parseHex(key, 32);
  return bytes && canonicalKey(bytes);
}
