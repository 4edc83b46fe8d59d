import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { MARKETS } from '../../sources/adapters/built_in.js';
import type { SourcesPlan } from '../../sources/plan.js';
import type { SourceDefinition } from '../../sources/sources_schema.js';
import { SourcesChild } from '../sources_child.js';
import { readSources } from '../sources_command.js';
import { makeDemoFolder } from './secrets.js';

/** The real markets of a demo. */
export interface LiveMarkets {
  /** The file of sources. */
  readonly file: string;
  /** The names of the file's sources. */
  readonly sources: readonly string[];
  /** The symbols of the prices that the file publishes. */
  readonly symbols: readonly string[];
}

/** The result of a request to the markets: success, or lines for the user that say why there is no price. */
export type Reached = { readonly ok: true } | { readonly ok: false; readonly report: readonly string[] };

/** The longest wait for the first price. The start of the program and this wait together take less than 10 s. */
export const REACH_MS_MAX = 6_000;

const FILE_NAME = 'live-sources.yaml';
const COINS = ['BTC', 'ETH', 'SOL', 'XRP', 'DOGE'] as const;
const DOLLAR_MARKETS = ['kraken', 'coinbase', 'bitstamp'] as const;
const TETHER_MARKETS = ['binance', 'okx', 'bybit'] as const;

/**
 * Reads a file of sources. Without a file, writes the demo's own file into its data folder.
 * @throws Error when the file has errors, or publishes nothing
 */
export function liveMarkets(
  dataDir: string,
  ownFile: string | undefined,
): LiveMarkets & { plan: SourcesPlan } {
  const file = ownFile ?? writeOwnSources(dataDir);
  const result = readSources(file);
  if (!result.ok) throw new Error(result.errors.join('\n'));
  const { plan } = result;
  const symbols = plan.assets.filter(({ isPublished }) => isPublished).map(({ symbol }) => symbol);
  if (symbols.length === 0) throw new Error(`${file}: no asset is published`);
  return { file, plan, sources: [...plan.sources.keys()], symbols };
}

/** Requests prices from the markets in a separate process, until the first price arrives. */
export async function reachMarkets(
  { file, plan }: { readonly file: string; readonly plan: SourcesPlan },
  stopSignal: AbortSignal,
): Promise<Reached> {
  const troubles = new Map<string, string>();
  const child = new SourcesChild(file, {
    args: ['--skip-missing'],
    onWarning: (line) => {
      const [, source, text] = /^sources: ([^:]+): (.*)$/.exec(line) ?? [];
      if (source !== undefined) troubles.set(source, text!.replace(/; connecting again$/, ''));
    },
  });
  const stop = () => child.stop();
  const timer = setTimeout(stop, REACH_MS_MAX);
  stopSignal.addEventListener('abort', stop);
  try {
    if ((await child.next()) !== undefined) return { ok: true };
    const tried = [...plan.sources].map(
      ([name, definition]) => `  ${placeOf(name, definition)}  ${troubles.get(name) ?? 'no price'}`,
    );
    return { ok: false, report: [child.failure ?? `no price within ${REACH_MS_MAX / 1000} s`, ...tried] };
  } finally {
    clearTimeout(timer);
    stopSignal.removeEventListener('abort', stop);
    stop();
  }
}

/** Names a source. Omits the address of an HTTP source, and user and query of a socket's address, because they may contain a key. */
function placeOf(name: string, definition: SourceDefinition): string {
  const place =
    'exchange' in definition || definition.kind === 'http' || definition.kind === 'command'
      ? definition.kind
      : (definition.url ?? MARKETS[definition.kind].url).replace(
          /^(wss?:\/\/)(?:[^/?]*@)?([^?]*).*$/,
          '$1$2',
        );
  return `${name.padEnd(9)} ${place.padEnd(42)}`;
}

function writeOwnSources(dataDir: string): string {
  makeDemoFolder(dataDir);
  const file = join(resolve(dataDir), FILE_NAME);
  writeFileSync(file, ownSources());
  return file;
}

/** Returns the demo's file of sources: six prices in dollars from six exchanges. Three of these exchanges trade against USDT. */
function ownSources(): string {
  const kinds = [...DOLLAR_MARKETS, ...TETHER_MARKETS];
  const tether = DOLLAR_MARKETS.map((kind) => `${kind} USDT/USD`);
  const inputsOf = (coin: string) => [
    ...DOLLAR_MARKETS.map((kind) => `${kind} ${coin}/USD`),
    ...TETHER_MARKETS.map((kind) => `"${kind} ${coin}/USDT * USDTUSD"`),
  ];
  return `# The real markets of the demo with --live. Each start writes it again; to change it, copy it and name the copy after --live.
sources:
${kinds.map((kind) => `  ${kind}: { kind: ${kind} }\n`).join('')}assets:
  USDTUSD: { from: [${tether.join(', ')}], bounds: [0.5, 1.5] }
${COINS.map((coin) => `  ${coin}USD: { from: [${inputsOf(coin).join(', ')}] }\n`).join('')}publish: { every: 500ms, delta_percent: 0.05 }
`;
}
