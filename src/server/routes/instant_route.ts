import { z } from 'zod';
import { LostRange } from '../../log/past/lost_range.js';
import type { LineEntry } from '../../log/past/past_entry.js';
import type { PastReader } from '../../log/past/past_reader.js';
import { readSignedLine } from '../../log/records/signed_line.js';
import { NS_PER_SECOND } from '../../model/time.js';
import { listUnknown } from '../../wire/asset_id.js';
import { REST_PATHS } from '../../wire/paths.js';
import type { FindAsset } from '../rest/asked_assets.js';
import {
  assetsParameter,
  ignoreInvalidParameter,
  qualityParameter,
  signatureTypeParameter,
  unixNanoseconds,
} from '../rest/parameters.js';
import { type Route, type RouteAnswer, type RouteError, tokenRoute } from '../rest/route.js';
import type { keptSignedPrice } from '../schemas/past_schemas.js';
import { assetId } from '../schemas/value_schemas.js';
import { notGiven, type OlderPrices } from './older_prices.js';
import type { PastAccess, PastAccessOptions, PastTurn } from './past_access.js';
import { type WantedName, wantedNames } from './wanted_names.js';
import { withQuality } from './with_quality.js';

export interface InstantRouteOptions extends PastAccessOptions {
  readonly findAsset: FindAsset;
  readonly past: Pick<PastReader, 'inForce' | 'reaches' | 'keptFrom'>;
  readonly assetsPerRequestMax: number;
  /** The other nodes of the cluster; absent without a cluster. */
  readonly older?: OlderPrices | undefined;
}

/**
 * @param access the conditions for requests that read the past
 * @param keptPrice the schema of an aggregate of the past, which the documents share with other routes
 */
export function instantRoutes(
  options: InstantRouteOptions,
  access: PastAccess,
  keptPrice: ReturnType<typeof keptSignedPrice>,
): [string, Route][] {
  const { clock, assetsPerRequestMax } = options;
  const past = new InstantReader(options, access);
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
          quality: qualityParameter,
          ignore_invalid: ignoreInvalidParameter,
        },
        response: z.record(assetId, keptPrice),
        errors: [400, 404, 410, 500, 503],
        handle(
          { timestamp, assets: symbols, signature_type: signatureType, quality, ignore_invalid: ignores },
          token,
        ) {
          const aheadNs = timestamp - clock.nowNs();
          if (aheadNs > 0n)
            return { status: 400, error: 'timestamp lies in the future; choose an earlier one' };
          const covered = ignores ? symbols.filter((symbol) => token.maySee(symbol)) : symbols;
          const counted = symbols.length > assetsPerRequestMax ? symbols : covered;
          const wanted = wantedNames(
            { symbols: counted, signatureType },
            token,
            options.findAsset,
            assetsPerRequestMax,
          );
          if ('error' in wanted) return wanted;
          const foreign = ignores ? symbols.filter((symbol) => !covered.includes(symbol)) : undefined;
          const form = { isRated: quality === true, foreign };
          return access.request(token.name, (turn) => past.answer(token.name, wanted, timestamp, turn, form));
        },
      }),
    ],
  ];
}

/** The longest time for which an aggregate is in force: the largest `clock_period`. */
const IN_FORCE_NS_MAX = 86_400n * NS_PER_SECOND;

/**
 * The state of an asset at an instant: the line of its aggregate, `nothing`, or a reason why the state is unknown. `no entry` means that
 * the asset had no price, or that its price is older than the past of this node.
 */
type Instant = Pick<LineEntry, 'line'> | 'nothing' | 'no entry' | 'not on disk' | LostRange;

interface AnswerForm {
  readonly isRated: boolean;
  /** The requested symbols that the token does not cover, for a request that ignores what it cannot get. */
  readonly foreign: readonly string[] | undefined;
}

class InstantReader {
  readonly #options: InstantRouteOptions;
  readonly #access: PastAccess;
  readonly #startNs: bigint;

  constructor(options: InstantRouteOptions, access: PastAccess) {
    this.#options = options;
    this.#access = access;
    this.#startNs = options.clock.nowNs();
  }

  async answer(
    caller: string,
    wanted: readonly WantedName[],
    atNs: bigint,
    turn: PastTurn,
    form: AnswerForm,
  ): Promise<RouteAnswer | RouteError> {
    await this.#access.settled(atNs);
    const missing: WantedName[] = [];
    const found = new Map<WantedName, Instant>();
    for (const one of wanted) {
      const known = this.#inMemory(one, atNs);
      if (known === undefined) missing.push(one);
      else found.set(one, known);
    }
    if (missing.length > 0) {
      const before = await this.#access.gone('timestamp', atNs);
      if (before !== undefined) {
        const refusal = await this.#fromOthers(caller, missing, atNs, found, before);
        return refusal ?? unknownFault(found, form) ?? dataOf(wanted, found, form);
      }
    }
    // The loop reads one asset after the other, so a request for many assets needs no more memory than a request for a single
    // asset.
    for (const one of missing)
      found.set(one, (await this.#ifNotOnDisk(one, atNs)) ?? (await turn(() => this.#onDisk(one, atNs))));
    return (
      (await this.#completeFromOthers(caller, found, atNs)) ??
      (await this.#faultIn(found, atNs, form)) ??
      dataOf(wanted, found, form)
    );
  }

  /** Finds the aggregates that this node lost, and those that were signed before the past of this node, but were still in force at its beginning. */
  async #completeFromOthers(
    caller: string,
    found: Map<WantedName, Instant>,
    atNs: bigint,
  ): Promise<RouteError | undefined> {
    const lost = [...found].flatMap(([one, state]) => (state instanceof LostRange ? [one] : []));
    if (lost.length > 0 && this.#options.older !== undefined) {
      const refusal = await this.#fromOthers(caller, lost, atNs, found, { status: 410, error: '' });
      if (refusal !== undefined && refusal.status !== 410) return refusal;
    }
    const unseen = [...found].flatMap(([one, state]) => (state === 'no entry' ? [one] : []));
    for (const one of unseen) found.set(one, 'nothing');
    const listed = unseen.filter(({ isListed }) => isListed);
    if (listed.length === 0 || this.#options.older === undefined) return undefined;
    const keptFromNs = await this.#options.past.keptFrom();
    if (keptFromNs === undefined || atNs >= keptFromNs + IN_FORCE_NS_MAX) return undefined;
    const refusal = await this.#fromOthers(caller, listed, atNs, found, { status: 410, error: '' });
    // If no other node answers, only the past of this node is known.
    return refusal?.status === 410 ? undefined : refusal;
  }

  /**
   * Finds the states of assets in the pasts of other nodes, for an instant before the past of this node.
   * @param before the error if no other node answers
   */
  async #fromOthers(
    caller: string,
    missing: readonly WantedName[],
    atNs: bigint,
    found: Map<WantedName, Instant>,
    before: RouteError,
  ): Promise<RouteError | undefined> {
    const names = missing.flatMap((one) => one.names);
    const answer = await this.#options.older?.at(caller, names, atNs);
    if (answer?.given === undefined) return answer === undefined ? before : notGiven(before, answer);
    for (const one of missing) {
      const name = one.names.find((each) => answer.given.has(each));
      found.set(one, name === undefined ? 'nothing' : answer.given.get(name)!);
    }
    return undefined;
  }

  /** Returns the state of an asset that has not changed since the instant; `undefined` if the asset changed or is not listed. */
  /** A state that the start found is not the answer, because only the past knows whether later ones are lost. */
  #inMemory({ names: [name], isListed }: WantedName, atNs: bigint): Instant | undefined {
    const newest = isListed ? this.#options.newest(name!) : undefined;
    if (newest === undefined || newest.timeNs > atNs || newest.timeNs < this.#startNs) return undefined;
    if (newest.state === 'gap') return undefined;
    return newest.state === 'priced' ? newest : 'nothing';
  }

  async #ifNotOnDisk({ names, isListed }: WantedName, atNs: bigint): Promise<Instant | undefined> {
    return !isListed || (await this.#access.isOnDisk(names[0]!, atNs)) ? undefined : 'not on disk';
  }

  async #onDisk({ names }: WantedName, atNs: bigint): Promise<Instant> {
    let ended = false;
    try {
      for (const name of names) {
        const entry = await this.#options.past.inForce(name, atNs);
        if (entry?.kind === 'ended') ended = true;
        if (entry?.kind === 'priced') return entry;
      }
      return ended ? 'nothing' : 'no entry';
    } catch (error) {
      if (error instanceof LostRange) return error;
      throw error;
    }
  }

  /** Returns an error if the state of a requested asset is unknown. */
  async #faultIn(
    found: ReadonlyMap<WantedName, Instant>,
    atNs: bigint,
    form: AnswerForm,
  ): Promise<RouteError | undefined> {
    const late: string[] = [];
    const nothing: WantedName[] = [];
    for (const [one, state] of found) {
      if (state instanceof LostRange) return this.#access.lost(one.symbol, state);
      if (state === 'not on disk') late.push(one.symbol);
      if (state === 'nothing') nothing.push(one);
    }
    if (late.length > 0)
      return { status: 503, error: `the past of these assets is not on disk yet: ${late.join(', ')}` };
    if (nothing.length === 0) return undefined;
    // The service may have removed files since the beginning of this request.
    const gone = nothing.some(({ isListed }) => isListed)
      ? await this.#access.gone('timestamp', atNs)
      : undefined;
    return gone ?? unknownFault(found, form);
  }
}

/** Returns the assets that are not configured and had no price at the instant. */
function unknownIn(found: ReadonlyMap<WantedName, Instant>): WantedName[] {
  return [...found].flatMap(([one, state]) => (state === 'nothing' && !one.isListed ? [one] : []));
}

function unknownFault(
  found: ReadonlyMap<WantedName, Instant>,
  { foreign }: AnswerForm,
): RouteError | undefined {
  const unknown = unknownIn(found);
  if (unknown.length === 0 || foreign !== undefined) return undefined;
  return {
    status: 400,
    error: `assets names assets that are not configured and had no price at timestamp: ${listUnknown(unknown)}`,
  };
}

function dataOf(
  wanted: readonly WantedName[],
  found: ReadonlyMap<WantedName, Instant>,
  { isRated, foreign }: AnswerForm,
): RouteAnswer | RouteError {
  const texts: string[] = [];
  for (const one of wanted) {
    const state = found.get(one)!;
    if (typeof state !== 'object' || state instanceof LostRange) continue;
    const text = isRated ? withQuality(state.line, readSignedLine(state.line)) : state.line;
    texts.push(`${JSON.stringify(one.symbol)}:${text}`);
  }
  if (texts.length === 0) return { status: 404, error: 'none of the assets had a price at timestamp' };
  const invalid = foreign && [...unknownIn(found).map(({ symbol }) => symbol), ...foreign];
  return { data: `{${texts.join()}}`, invalid };
}
