import type { PublicLogFacts } from '../../model/node_list.js';
import type { Clock } from '../../model/time.js';
import { HASH_FORM } from '../../publiclog/ledger/record_form.js';
import { HASH_BYTES } from '../../tlog/tree_hash.js';
import type { BatchSource } from './batch_source.js';
import type { OpenLog } from './public_log.js';
import type { LogKey, PublicLogFigures } from './public_log_options.js';

export interface StreamLogOptions {
  /** The log that receives the hashes. It belongs to this node alone. */
  readonly log: OpenLog;
  readonly clock: Pick<Clock, 'nowNs'>;
  /** The number of the start of this process. Readers recognize a start by it. */
  readonly epoch: number;
}

/**
 * The public log of the streaming payloads that this node signs. Each batch has the hashes that arrived since the batch before. So a hash
 * that arrives late is in a later batch, and no hash is left out.
 */
export class StreamLog {
  readonly #log: OpenLog;
  readonly #clock: Pick<Clock, 'nowNs'>;
  /** The earliest time of the next hash. */
  #fromNs: bigint;
  #isClosed = false;

  constructor({ log, clock, epoch }: StreamLogOptions) {
    this.#log = log;
    this.#clock = clock;
    this.#fromNs = log.endNs;
    const isClosed = () => this.#isClosed;
    const source: BatchSource = {
      epoch,
      get isOver() {
        return isClosed();
      },
      endPeriod: (periodNs) => this.#endPeriod(periodNs),
      signingSinceNs: undefined,
      durable: () => log.write(),
      doubt: undefined,
      append: async (...part) => log.follow(...part),
    };
    log.lead(source);
  }

  /** Adds the hashes of payloads, without gaps, from any thread of this process. */
  add(hashes: Uint8Array): void {
    if (this.#isClosed) return;
    const nowNs = this.#clock.nowNs();
    const timeNs = nowNs > this.#fromNs ? nowNs : this.#fromNs;
    for (let at = 0; at < hashes.length; at += HASH_BYTES) {
      const record = Buffer.allocUnsafe(HASH_BYTES + 8);
      record.set(hashes.subarray(at, at + HASH_BYTES));
      record.writeBigUInt64BE(timeNs, HASH_FORM.timeAt);
      this.#log.add(record);
    }
  }

  tick(): void {
    this.#log.tick();
  }

  get facts(): PublicLogFacts | undefined {
    return this.#log.facts;
  }

  /** Signs checkpoints with another key from now on. */
  changeKey(next: LogKey): void {
    this.#log.changeKey(next);
  }

  figures(): PublicLogFigures {
    return this.#log.figures();
  }

  /** Returns the reasons why the log does not continue. */
  troubles(): readonly string[] {
    return this.#log.troubles().map((reason) => `streams: ${reason}`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#log.close();
  }

  /** Ends the period on the clock. After a step back of the clock, the periods are short until the clock has caught up. */
  #endPeriod(periodNs: bigint): bigint {
    const nowNs = this.#clock.nowNs();
    const endNs = nowNs - (nowNs % periodNs);
    if (endNs > this.#fromNs) this.#fromNs = endNs;
    else if (nowNs < this.#fromNs - periodNs) this.#fromNs += 1n;
    return this.#fromNs;
  }
}
