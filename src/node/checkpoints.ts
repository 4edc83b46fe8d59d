import { CHECKPOINT_S } from '../model/node_list.js';
import { NS_PER_SECOND, secondOf, type TimeNs } from '../model/time.js';

export interface CheckpointsOptions<Asset> {
  readonly assets: () => readonly Asset[];
  /** Appends an asset's inputs and newest aggregate to the log again, if they are older than `beforeNs`. */
  readonly putAgain: (asset: Asset, beforeNs: TimeNs) => void;
}

/**
 * The checkpoints of a log. The log keeps its records only for some time. An input may count for longer, and an aggregate may be the
 * newest aggregate for longer. So a leader writes such inputs and aggregates again. Every node that reads the log then has the inputs
 * that a leader needs, and the newest aggregate and running candle of each asset.
 *
 * The clock gives each asset its own second out of {@link CHECKPOINT_S}, which is the same for each leader. So the leader writes only a
 * few records at a time, and a change of the leader delays an asset by at most one round.
 */
export class Checkpoints<Asset> {
  readonly #options: CheckpointsOptions<Asset>;
  #doneS: number;

  constructor(options: CheckpointsOptions<Asset>, nowNs: TimeNs) {
    this.#options = options;
    this.#doneS = Number(secondOf(nowNs));
  }

  tick(nowNs: TimeNs): void {
    const nowS = Number(secondOf(nowNs));
    // The clock may have been stepped forward or back.
    const firstS = Math.max(Math.min(this.#doneS, nowS), nowS - CHECKPOINT_S) + 1;
    this.#doneS = nowS;
    if (firstS > nowS) return;
    const { assets, putAgain } = this.#options;
    const beforeNs = (nowNs - BigInt(CHECKPOINT_S) * NS_PER_SECOND) as TimeNs;
    const all = assets();
    for (let second = firstS; second <= nowS; second++)
      for (let place = second % CHECKPOINT_S; place < all.length; place += CHECKPOINT_S)
        putAgain(all[place]!, beforeNs);
  }
}
