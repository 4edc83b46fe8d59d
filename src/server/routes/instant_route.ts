import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { PacedTurns } from '../../fair/paced_turns.js';
import type { SignatureType } from '../../model/asset.js';
import type { AssetName } from '../../model/asset_map.js';
import type { SignedAggregate } from '../../model/signed_price.js';
import { type Clock, NS_PER_MS } from '../../model/time.js';
import type { PastReader } from '../../past/past_reader.js';
import { DamagedRecord } from '../../records/envelope.js';
import type { Holding } from '../../records/second_record.js';
import { REST_PATHS } from '../../wire/paths.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { Token } from '../access/tokens.js';
import {
  type AssetSelection,
  assetsParameter,
  type FindAsset,
  findAssets,
  type Route,
  type RouteAnswer,
  type RouteError,
  refuseForeign,
  signatureTypeParameter,
  tokenRoute,
  unixNanoseconds,
} from '../rest/route.js';
import { keptSignedPrice } from '../schemas/past_schemas.js';
import { type aggregatedSignedPrice, assetId } from '../schemas/value_schemas.js';
import { shownAggregateJson } from './aggregate_json.js';

export interface InstantRouteOptions {
  readonly findAsset: FindAsset;
  readonly past: Pick<PastReader, 'inForce' | 'reaches' | 'keptFrom'>;
  /** Returns the newest state of an asset, which may not be on disk yet. */
  readonly newest: (asset: AssetName) => Holding | undefined;
  /** The turns in which the requests of this thread read the past. */
  readonly pastTurns: PacedTurns;
  /** Called once with each damage of the past that a request meets. */
  readonly onPastDamage: (reason: string) => void;
  readonly clock: Clock;
  readonly aggregateJson: (aggregate: SignedAggregate) => string;
  readonly assetsPerRequestMax: number;
}

/** The time after which an edge has received all that was signed until an instant. */
const SETTLING_MS = 200;
const SETTLING_NS = BigInt(SETTLING_MS) * NS_PER_MS;
/** The time for which a request waits for the commit of what it asks for. Commits are 50 ms apart, and longer on a slow disk. */
const COMMIT_MS_MAX = 2_000;
const COMMIT_POLL_MS = 50;
/** The number of requests of a token that may wait on a thread. */
const REQUESTS_MAX = 16;
/** The number of damages that are told. */
const TOLD_MAX = 1_000;

/** An asset of a request. `isListed` is false for one that the configuration no longer has. */
interface WantedName {
  readonly symbol: string;
  readonly names: readonly AssetName[];
  readonly isListed: boolean;
}

/** @param signedPrice the schema of an aggregate, which the documents share with other routes */
export function instantRoutes(
  options: InstantRouteOptions,
  signedPrice: ReturnType<typeof aggregatedSignedPrice>,
): [string, Route][] {
  const { clock, assetsPerRequestMax } = options;
  const past = new InstantReader(options);
  return [
    [
      REST_PATHS.at,
      tokenRoute({
        summary:
          'The aggregated signed price of each asset that was in force at an instant, as it was signed; also of an asset that is no longer configured',
        parameters: {
          timestamp: {
            description:
              'UNIX nanoseconds. An instant less than a fifth of a second ago is answered when it is so long ago',
            required: true,
            schema: unixNanoseconds,
          },
          assets: assetsParameter(assetsPerRequestMax),
          signature_type: signatureTypeParameter,
        },
        response: z.record(assetId, keptSignedPrice(signedPrice)),
        errors: [400, 404, 410, 500, 503],
        handle({ timestamp, assets: symbols, signature_type: signatureType }, token) {
          const aheadNs = timestamp - clock.nowNs();
          if (aheadNs > 0n) return { status: 400, error: 'timestamp lies in the future' };
          const wanted = namesOf({ symbols, signatureType }, token, options);
          if ('error' in wanted) return wanted;
          return past.hasRoom(token.name)
            ? { later: past.answer(token.name, wanted, timestamp, aheadNs) }
            : { status: 429, error: `${REQUESTS_MAX} requests of this token still read the past` };
        },
      }),
    ],
  ];
}

/**
 * Returns the names of the wanted assets. The configuration may no longer have an asset; then its name is that of the first type
 * that the past has.
 */
function namesOf(
  { symbols, signatureType }: AssetSelection,
  token: Token,
  { findAsset, assetsPerRequestMax }: InstantRouteOptions,
): readonly WantedName[] | RouteError {
  const types: readonly SignatureType[] = signatureType === undefined ? SIGNATURE_TYPES : [signatureType];
  const listed = symbols.filter((symbol) => findAsset(symbol, signatureType) !== undefined);
  // Assets of the past count for the limit too.
  const counted = symbols.length > assetsPerRequestMax ? symbols : listed;
  const assets = findAssets({ symbols: counted, signatureType }, token, assetsPerRequestMax, findAsset);
  if ('error' in assets) return assets;
  const refusal = refuseForeign(symbols, token);
  if (refusal !== undefined) return refusal;
  return symbols.map((symbol): WantedName => {
    const asset = findAsset(symbol, signatureType);
    if (asset !== undefined) return { symbol, names: [asset], isListed: true };
    return { symbol, names: types.map((type) => ({ symbol, signatureType: type })), isListed: false };
  });
}

/** The state of an asset at an instant: the text of its aggregate, nothing, or a reason why that is not known. */
type Instant = { readonly text: string } | 'nothing' | 'damaged' | 'not on disk';

type Asked = [wanted: readonly WantedName[], atNs: bigint, aheadNs: bigint];

class InstantReader {
  readonly #options: InstantRouteOptions;
  /** The newest time of each asset that the past is known to have. */
  readonly #committedNs = new WeakMap<AssetName, bigint>();
  readonly #requestsOf = new Map<string, number>();
  readonly #turns: PacedTurns;
  readonly #toldDamage = new Set<string>();

  constructor(options: InstantRouteOptions) {
    this.#turns = options.pastTurns;
    this.#options = options;
  }

  /** Tells whether the requests of a caller that are not answered yet allow another one. */
  hasRoom(caller: string): boolean {
    return (this.#requestsOf.get(caller) ?? 0) < REQUESTS_MAX;
  }

  /** @param aheadNs the difference between the instant and the clock; not above 0 */
  async answer(caller: string, ...request: Asked): Promise<RouteAnswer | RouteError> {
    this.#count(caller, 1);
    try {
      return await this.#answer(caller, ...request);
    } finally {
      this.#count(caller, -1);
    }
  }

  #count(caller: string, more: number): void {
    const requests = (this.#requestsOf.get(caller) ?? 0) + more;
    if (requests === 0) this.#requestsOf.delete(caller);
    else this.#requestsOf.set(caller, requests);
  }

  async #answer(
    caller: string,
    wanted: readonly WantedName[],
    atNs: bigint,
    aheadNs: bigint,
  ): Promise<RouteAnswer | RouteError> {
    const unsettledNs = aheadNs + SETTLING_NS;
    if (unsettledNs > 0n) await wait(Number(unsettledNs / NS_PER_MS) + 1);
    const missing: WantedName[] = [];
    const found = new Map<WantedName, Instant>();
    for (const one of wanted) {
      const known = this.#inMemory(one, atNs);
      if (known === undefined) missing.push(one);
      else found.set(one, known);
    }
    if (missing.length > 0) {
      const before = await this.#gone(atNs);
      if (before !== undefined) return before;
    }
    // Reads the assets in turn: a request for many assets takes no more memory and time at once than one for a single asset.
    for (const one of missing)
      found.set(
        one,
        (await this.#readiness(one, atNs)) ?? (await this.#turns.run(caller, () => this.#onDisk(one, atNs))),
      );
    return (await this.#fault(found, atNs)) ?? dataOf(wanted, found);
  }

  /** Returns the state of an asset that has not changed since the instant; `undefined` when it has, or is not listed. */
  #inMemory({ names: [name], isListed }: WantedName, atNs: bigint): Instant | undefined {
    const newest = isListed ? this.#options.newest(name!) : undefined;
    if (newest === undefined || newest.timeNs > atNs || newest.state === 'gap') return undefined;
    const { aggregate } = newest;
    return aggregate === undefined ? 'nothing' : { text: this.#options.aggregateJson(aggregate) };
  }

  async #readiness({ names, isListed }: WantedName, atNs: bigint): Promise<Instant | undefined> {
    const changed = isListed ? this.#options.newest(names[0]!) : undefined;
    if (changed === undefined) return undefined;
    try {
      return (await this.#isCommitted(names[0]!, atNs, changed.timeNs)) ? undefined : 'not on disk';
    } catch (error) {
      return this.#damaged(error);
    }
  }

  async #onDisk({ names }: WantedName, atNs: bigint): Promise<Instant> {
    const { past } = this.#options;
    try {
      for (const name of names) {
        const entry = await past.inForce(name, atNs);
        if (entry?.kind === 'gap') return 'damaged';
        if (entry?.kind === 'priced')
          return { text: shownAggregateJson(entry.aggregate, entry.shown, entry.hasInputs) };
      }
      return 'nothing';
    } catch (error) {
      return this.#damaged(error);
    }
  }

  #damaged(error: unknown): Instant {
    if (!(error instanceof DamagedRecord)) throw error;
    this.#tell(error.message);
    return 'damaged';
  }

  /** Waits until the past has the entry of an asset that is in memory, unless it is known to have a later one than wanted. */
  async #isCommitted(name: AssetName, atNs: bigint, timeNs: bigint): Promise<boolean> {
    if ((this.#committedNs.get(name) ?? 0n) > atNs) return true;
    const endMs = performance.now() + COMMIT_MS_MAX;
    while (!(await this.#options.past.reaches(name, timeNs))) {
      if (performance.now() > endMs) return false;
      await wait(COMMIT_POLL_MS);
    }
    this.#committedNs.set(name, timeNs);
    return true;
  }

  #tell(damage: string): void {
    if (this.#toldDamage.has(damage) || this.#toldDamage.size >= TOLD_MAX) return;
    this.#toldDamage.add(damage);
    this.#options.onPastDamage(damage);
  }

  async #gone(atNs: bigint): Promise<RouteError | undefined> {
    const keptFromNs = await this.#options.past.keptFrom();
    if (keptFromNs !== undefined && keptFromNs <= atNs) return undefined;
    return { status: 410, error: 'timestamp is before the signed prices that are kept', keptFromNs };
  }

  /** Returns the error of an answer that is not known as a whole. */
  async #fault(found: ReadonlyMap<WantedName, Instant>, atNs: bigint): Promise<RouteError | undefined> {
    const symbolsOf = (state: Instant) =>
      [...found].filter(([, one]) => one === state).map(([{ symbol }]) => symbol);
    const damaged = symbolsOf('damaged');
    if (damaged.length > 0)
      return {
        status: 500,
        error: `the past of these assets is damaged at timestamp: ${damaged.join(', ')}`,
      };
    const late = symbolsOf('not on disk');
    if (late.length > 0)
      return { status: 503, error: `the past of these assets is not on disk yet: ${late.join(', ')}` };
    const nothing = [...found].filter(([, state]) => state === 'nothing').map(([one]) => one);
    if (nothing.length === 0) return undefined;
    // Files may have been removed since the beginning of this request.
    const gone = nothing.some(({ isListed }) => isListed) ? await this.#gone(atNs) : undefined;
    if (gone !== undefined) return gone;
    const unknown = nothing.filter(({ isListed }) => !isListed).map(({ symbol }) => symbol);
    if (unknown.length === 0) return undefined;
    return {
      status: 400,
      error: `assets names assets that are not configured and had no price at timestamp: ${unknown.join(', ')}`,
    };
  }
}

function dataOf(
  wanted: readonly WantedName[],
  found: ReadonlyMap<WantedName, Instant>,
): RouteAnswer | RouteError {
  const texts: string[] = [];
  for (const one of wanted) {
    const state = found.get(one)!;
    if (typeof state === 'object') texts.push(`${JSON.stringify(one.symbol)}:${state.text}`);
  }
  if (texts.length === 0) return { status: 404, error: 'none of the assets had a price at timestamp' };
  return { data: `{${texts.join()}}` };
}
