import type { AggregateTimes } from '../clock/aggregate_times.js';
import { secondsOf } from '../clock/clock_watch.js';
import { openAggregateTimes } from '../clock/signed_times.js';
import { LocalLog } from '../cluster/node/local_log.js';
import { withdrawUnreplaced } from '../cluster/node/old_aggregates.js';
import type { OpenLog } from '../cluster/node/public_log.js';
import type { FeedSource } from '../log/feed/feed_source.js';
import type { NodeList } from '../model/node_list.js';
import { type Clock, NS_PER_SECOND, secondOf, type TimeNs } from '../model/time.js';
import type { ReadMessage } from '../prices/message.js';
import type { PublisherSession } from '../prices/publisher_session.js';
import { LocalMaker, type MakerHooks, type MakerParts } from './local_maker.js';
import type { PublicLogState } from './metrics/state.js';
import { OwnSigners } from './own_signers.js';
import type { PriceMaker } from './price_maker.js';
import { publicLogState } from './public_log_state.js';
import type { Settings } from './settings.js';

export interface PriceMakerOptions {
  /** The settings at the start. */
  readonly settings: Settings;
  readonly parts: MakerParts;
  readonly hooks: MakerHooks;
}

/** The node number of a process without a cluster. */
export const SOLO_NODE = 0;

/** Opens a node that always leads and has its log in this process. Resolves when the node may sign times, or when the disk has failed. */
export async function openSolo(options: PriceMakerOptions): Promise<PriceMaker> {
  const { clock, store, publicLog } = options.parts;
  const times = await openAggregateTimes(clock, store.marks, store.newestSecond);
  times.notBefore(publicLog?.endNs ?? 0n);
  return new Solo(options, times);
}

class Solo implements PriceMaker {
  readonly #maker: LocalMaker;
  readonly #signers: OwnSigners;
  readonly #clock: Clock;
  readonly #publicLog: OpenLog | undefined;
  readonly #source: FeedSource;
  #settings: Settings;
  /** The work that waits for {@link start}; `undefined` afterwards. */
  #waiting: (() => void)[] | undefined = [];
  /** The time of the next check for aggregates that are too old. */
  #lookNs = 0n;

  constructor({ settings, parts, hooks }: PriceMakerOptions, times: AggregateTimes) {
    this.#settings = settings;
    this.#clock = parts.clock;
    this.#signers = new OwnSigners(settings, Number(secondOf(parts.clock.nowNs())));
    this.#publicLog = parts.publicLog;
    this.#source = parts.source;
    const log = new LocalLog(parts);
    this.#maker = new LocalMaker({
      parts,
      hooks: { ...hooks, defer: (callback) => this.#defer(callback) },
      settings: () => this.#settings,
      log,
      times,
    });
    const append = async (...part: Parameters<OpenLog['follow']>) => this.#publicLog!.follow(...part);
    this.#maker.leadLog(parts.publicLog, { epoch: SOLO_NODE, append });
  }

  receive(session: PublisherSession, message: ReadMessage) {
    return this.#maker.receive(session, message);
  }

  get updatesWaiting(): number {
    return this.#maker.aggregator.updatesWaiting;
  }

  activity() {
    return this.#maker.aggregator.activity();
  }

  get aggregatesAheadSeconds(): number {
    return secondsOf(this.#maker.times.aheadNs);
  }

  nodes(): NodeList {
    return {
      self: SOLO_NODE,
      nodes: [{ node: SOLO_NODE, name: 'solo', role: 'leader' }],
      signers: this.#signers.list.map((signer) => ({ ...signer, node: SOLO_NODE })),
      log: this.#publicLog?.facts,
    };
  }

  publicLog(): PublicLogState | undefined {
    return publicLogState(this.#publicLog);
  }

  troubles(): readonly string[] {
    return this.#publicLog?.troubles() ?? [];
  }

  clockTroubles(): readonly string[] {
    return this.#maker.clockWatch.reasons();
  }

  nextDueNs(nowNs: TimeNs): bigint | undefined {
    return this.#maker.aggregator.nextDueNs(nowNs);
  }

  tick(nowNs: TimeNs): void {
    this.#maker.tick(nowNs);
    if (nowNs >= this.#lookNs) {
      this.#lookNs = nowNs + NS_PER_SECOND;
      withdrawUnreplaced(this.#source, nowNs);
    }
    this.#publicLog?.tick();
  }

  /**
   * Begins to sign. Until readers are served, their prices are those of the previous process. On a machine with few cores, signing the
   * restored prices before that would make readers wait.
   */
  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const callback of waiting) setImmediate(callback);
  }

  /** Applies settings. A new asset has a price immediately if inputs for it exist. A removed asset loses its price. */
  reload(next: Settings): void {
    this.#settings = next;
    this.#signers.reload(next, Number(secondOf(this.#clock.nowNs())));
    this.#maker.aggregator.reload(next.catalogue);
  }

  async leave(): Promise<void> {}

  async close(): Promise<void> {
    this.#maker.times.close();
  }

  #defer(callback: () => void): void {
    if (this.#waiting === undefined) setImmediate(callback);
    else this.#waiting.push(callback);
  }
}
