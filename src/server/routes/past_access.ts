import { setTimeout as wait } from 'node:timers/promises';
import { LostRange } from '../../log/past/lost_range.js';
import type { PastReader } from '../../log/past/past_reader.js';
import type { Holding } from '../../log/records/holding.js';
import type { AssetName } from '../../model/asset_map.js';
import { perhapsCoarser } from '../../model/likely_unit.js';
import type { PacedTurns } from '../../model/paced_turns.js';
import { type Clock, NS_PER_MS } from '../../model/time.js';
import type { RouteError } from '../rest/route.js';
import type { LateRouteResult } from '../rest/route_result.js';

export interface PastAccessOptions {
  readonly past: Pick<PastReader, 'reaches' | 'keptFrom'>;
  /** Returns the newest state of an asset. This state may not be on disk yet. */
  readonly newest: (asset: AssetName) => Holding | undefined;
  /** The turns in which the requests of this thread read the past. */
  readonly pastTurns: PacedTurns;
  /** Called for damage of the past that a request finds. */
  readonly onPastDamage: (reason: string) => void;
  readonly clock: Clock;
}

/** The time that an edge may need to receive everything that was signed until an instant. */
const SETTLING_MS = 200;
const SETTLING_NS = BigInt(SETTLING_MS) * NS_PER_MS;
/** The longest time that a request waits for a commit. Commits are 50 ms apart, and further apart on a slow disk. */
const COMMIT_MS_MAX = 2_000;
const COMMIT_POLL_MS = 50;
/** The largest number of waiting requests of a token on a thread. */
const REQUESTS_MAX = 16;

/** Executes work in turn with other requests. */
export type PastTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Thrown at a turn of a request whose client has disconnected. */
class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
  override readonly message = 'the client has disconnected';
}

/**
 * The conditions of requests that read the past. A caller has a limited number of requests, and a request waits until its range
 * is on disk.
 */
export class PastAccess {
  readonly #options: PastAccessOptions;
  /** The newest time up to which the past certainly contains each asset. */
  readonly #committedNs = new WeakMap<AssetName, bigint>();
  readonly #requestsOf = new Map<string, number>();

  constructor(options: PastAccessOptions) {
    this.#options = options;
  }

  /**
   * Answers a request, unless the caller has too many unanswered requests. A request whose client has disconnected gets no more turns.
   */
  request(
    caller: string,
    answer: (turn: PastTurn) => LateRouteResult['later'],
  ): LateRouteResult | RouteError {
    const requests = this.#requestsOf.get(caller) ?? 0;
    if (requests >= REQUESTS_MAX)
      return { status: 429, error: `${REQUESTS_MAX} requests of this token still read the past` };
    let hasLeft = false;
    const turn: PastTurn = (work) =>
      this.#options.pastTurns.run(caller, () => {
        if (hasLeft) throw new ClientLeft();
        return work();
      });
    const later = this.counted(caller, () => answer(turn)).catch((error: unknown) => {
      if (error instanceof ClientLeft) return { status: 499, error: error.message } as const;
      if (error instanceof LostRange) return this.lost('all assets', error);
      throw error;
    });
    return {
      later,
      abandon() {
        hasLeft = true;
      },
    };
  }

  /** Counts work as a request of its caller, until the work is done. */
  async counted<T>(caller: string, work: () => Promise<T>): Promise<T> {
    this.count(caller, 1);
    try {
      return await work();
    } finally {
      this.count(caller, -1);
    }
  }

  /** Changes the number of unanswered requests of a caller. */
  count(caller: string, more: number): void {
    const requests = (this.#requestsOf.get(caller) ?? 0) + more;
    if (requests === 0) this.#requestsOf.delete(caller);
    else this.#requestsOf.set(caller, requests);
  }

  /** Waits until this edge has received everything that was signed until an instant. */
  async settled(atNs: bigint): Promise<void> {
    const unsettledNs = atNs - this.#options.clock.nowNs() + SETTLING_NS;
    if (unsettledNs > 0n) await wait(Number(unsettledNs / NS_PER_MS) + 1);
  }

  /**
   * Waits until the past contains everything that was signed for a configured asset until an instant.
   * @returns false after a timeout
   */
  async isOnDisk(name: AssetName, atNs: bigint): Promise<boolean> {
    const newest = this.#options.newest(name);
    if (newest === undefined || (this.#committedNs.get(name) ?? 0n) > atNs) return true;
    const endMs = performance.now() + COMMIT_MS_MAX;
    while (!(await this.#options.past.reaches(name, newest.timeNs))) {
      if (performance.now() > endMs) return false;
      await wait(COMMIT_POLL_MS);
    }
    this.#committedNs.set(name, newest.timeNs);
    return true;
  }

  /**
   * Returns the error for times that the past does not know, and reports their damage.
   * @param what the prices that are not known, in words
   */
  lost(what: string, { firstNs, lastNs, damage }: LostRange): RouteError {
    if (damage !== undefined) this.#options.onPastDamage(damage);
    return {
      status: 410,
      error: `the signed prices of ${what} are not known from ${firstNs} to ${lastNs}`,
      damaged: { firstNs, lastNs },
    };
  }

  /** Returns the error for a time before the kept past. @param parameter the name of the parameter with the time */
  async gone(parameter: string, atNs: bigint): Promise<RouteError | undefined> {
    const keptFromNs = await this.#options.past.keptFrom();
    if (keptFromNs !== undefined && keptFromNs <= atNs) return undefined;
    const error = `${parameter} is before the signed prices that are kept${perhapsCoarser(atNs)}`;
    return { status: 410, error, keptFromNs };
  }
}
