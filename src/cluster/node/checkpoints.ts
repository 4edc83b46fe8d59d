import { CHECKPOINT_S } from '../../model/node_list.js';
import { NS_PER_SECOND, secondOf, type TimeNs } from '../../model/time.js';

export interface CheckpointsOptions<Asset> {
  readonly assets: () => readonly Asset[];
  /** Appends an asset's inputs and newest aggregate to the log again if they are older than `beforeNs`. */
  readonly putAgain: (asset: Asset, beforeNs: TimeNs) => void;
}

/**
 * The checkpoints of a log of prices. The log keeps records for a limited time, but an input may be valid for longer, and an aggregate may
 * remain the newest for longer. The leader writes these again. So every node that reads the log has the inputs that a leader needs, and
 * each asset's newest aggregate and running candle.
 *
 * Each asset has its own second among the {@link CHECKPOINT_S} of a round, the same for every leader. So the leader writes only a few
 * records at a time, and a change of leader delays an asset by at most one round.
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
