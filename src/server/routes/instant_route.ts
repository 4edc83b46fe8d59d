import { z } from 'zod';
import type { SignedAggregate } from '../../model/signed_price.js';
import type { PastReader } from '../../past/past_reader.js';
import { DamagedRecord } from '../../records/envelope.js';
import { REST_PATHS } from '../../wire/paths.js';
import {
  assetsParameter,
  type FindAsset,
  qualityParameter,
  type Route,
  type RouteAnswer,
  type RouteError,
  signatureTypeParameter,
  tokenRoute,
  unixNanoseconds,
} from '../rest/route.js';
import type { keptSignedPrice } from '../schemas/past_schemas.js';
import { assetId } from '../schemas/value_schemas.js';
import { shownAggregateJson, withQuality } from './aggregate_json.js';
import type { PastAccess, PastAccessOptions } from './past_access.js';
import { type WantedName, wantedNames } from './wanted_names.js';

export interface InstantRouteOptions extends PastAccessOptions {
  readonly findAsset: FindAsset;
  readonly past: Pick<PastReader, 'inForce' | 'reaches' | 'keptFrom'>;
  readonly aggregateJson: (aggregate: SignedAggregate) => string;
  readonly assetsPerRequestMax: number;
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
        },
        response: z.record(assetId, keptPrice),
        errors: [400, 404, 410, 500, 503],
        handle({ timestamp, assets: symbols, signature_type: signatureType, quality }, token) {
          const aheadNs = timestamp - clock.nowNs();
          if (aheadNs > 0n) return { status: 400, error: 'timestamp lies in the future' };
          const wanted = wantedNames(
            { symbols, signatureType },
            token,
            options.findAsset,
            assetsPerRequestMax,
          );
          if ('error' in wanted) return wanted;
          return access.request(token.name, () => past.answer(token.name, wanted, timestamp, quality));
        },
      }),
    ],
  ];
}

/** The state of an asset at an instant: the text of its aggregate, `nothing`, or a reason why the state is unknown. */
type Instant =
  | { readonly text: string; readonly aggregate: SignedAggregate }
  | 'nothing'
  | 'damaged'
  | 'not on disk';

class InstantReader {
  readonly #options: InstantRouteOptions;
  readonly #access: PastAccess;

  constructor(options: InstantRouteOptions, access: PastAccess) {
    this.#options = options;
    this.#access = access;
  }

  async answer(
    caller: string,
    wanted: readonly WantedName[],
    atNs: bigint,
    isRated = false,
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
      if (before !== undefined) return before;
    }
    // The loop reads one asset after the other, so a request for many assets needs no more memory than a request for a single
    // asset.
    for (const one of missing)
      found.set(
        one,
        (await this.#readiness(one, atNs)) ??
          (await this.#options.pastTurns.run(caller, () => this.#onDisk(one, atNs))),
      );
    return (await this.#fault(found, atNs)) ?? dataOf(wanted, found, isRated);
  }

  /** Returns the state of an asset that has not changed since the instant; `undefined` if the asset changed or is not listed. */
  #inMemory({ names: [name], isListed }: WantedName, atNs: bigint): Instant | undefined {
    const newest = isListed ? this.#options.newest(name!) : undefined;
    if (newest === undefined || newest.timeNs > atNs || newest.state === 'gap') return undefined;
    const { aggregate } = newest;
    return aggregate === undefined ? 'nothing' : { text: this.#options.aggregateJson(aggregate), aggregate };
  }

  async #readiness({ names, isListed }: WantedName, atNs: bigint): Promise<Instant | undefined> {
    if (!isListed) return undefined;
    try {
      return (await this.#access.isOnDisk(names[0]!, atNs)) ? undefined : 'not on disk';
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
          return {
            text: shownAggregateJson(entry.aggregate, entry.shown, entry.hasInputs),
            aggregate: entry.aggregate,
          };
      }
      return 'nothing';
    } catch (error) {
      return this.#damaged(error);
    }
  }

  #damaged(error: unknown): Instant {
    if (!(error instanceof DamagedRecord)) throw error;
    this.#access.tell(error.message);
    return 'damaged';
  }

  /** Returns the error of an answer, if the state of an asset in the answer is unknown. */
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
    // The service may have removed files since the beginning of this request.
    const gone = nothing.some(({ isListed }) => isListed)
      ? await this.#access.gone('timestamp', atNs)
      : undefined;
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
  isRated: boolean,
): RouteAnswer | RouteError {
  const texts: string[] = [];
  for (const one of wanted) {
    const state = found.get(one)!;
    if (typeof state !== 'object') continue;
    const text = isRated ? withQuality(state.text, state.aggregate) : state.text;
    texts.push(`${JSON.stringify(one.symbol)}:${text}`);
  }
  if (texts.length === 0) return { status: 404, error: 'none of the assets had a price at timestamp' };
  return { data: `{${texts.join()}}` };
}
