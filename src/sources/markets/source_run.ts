import type { Schedule } from '../../client/connect/liveness.js';
import { type Clock, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../../model/time.js';
import type { MarketEvent } from '../adapters/market.js';
import type { Decision } from '../decision.js';
import { MarketRoom } from '../market_room.js';
import type { SourcesPlan } from '../plan.js';
import type { RecordedCall } from '../recording.js';
import type { OpenedConnection } from '../room_state.js';
import type { SourceFault } from '../source_fault.js';
import type { FrameSink, MarketFeed } from './market_feed.js';
import { type FeedWorld, openFeed } from './open_feed.js';
import type { Recorder } from './recorder.js';
import { SourceMeter } from './source_meter.js';
import { WarningLog } from './warning_log.js';

/** The interval at which the process shows that it runs. */
const ALIVE_MS = 250;
/** The longest time without work of the process after which the frames that wait are read. */
const STALL_NS_MAX = 5n * NS_PER_SECOND;
/** The smallest change of the difference between the clocks that is recorded. The wall clock's small corrections are slower. */
const SHIFT_NS_MIN = NS_PER_MS;
/** The smallest step of the wall clock that is reported to the operator. */
const REPORTED_SHIFT_NS = NS_PER_SECOND;

export interface SourceRunOptions {
  readonly plan: SourcesPlan;
  /** The wall clock, whose times the decisions show. */
  readonly clock: Clock;
  /** The clock of all ages, which never goes back; by default the wall clock. */
  readonly steady?: Clock | undefined;
  readonly schedule: Schedule;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  /** The variables that headers of HTTP sources may name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder whose packages a source of kind `ccxt` may use; by default this program's. */
  readonly folder?: string | undefined;
  readonly write: (line: string, decision: Decision) => void;
  readonly warn: (text: string) => void;
  readonly recorder?: Recorder | undefined;
}

/** A run of all sources of a file: feeds on one side, decisions on the other. */
export class SourceRun {
  readonly #options: SourceRunOptions;
  readonly #steady: Clock;
  /** The wall clock minus the steady clock, as the room knows it. */
  #shiftNs = 0n;
  readonly #room: MarketRoom;
  /** Returns the state of the room. One function serves all recorded calls. */
  readonly #state = () => this.#room.state();
  readonly #feeds: MarketFeed[] = [];
  readonly #closed = new AbortController();
  /** The counts of all events. */
  readonly meter: SourceMeter;
  #connections = 0;
  /** The last time at which the process was known to run. */
  #aliveNs: bigint;
  #cancelTick: () => void = () => {};
  #cancelAlive: () => void = () => {};

  constructor(options: SourceRunOptions) {
    this.#options = options;
    const { plan, write, clock, steady = clock } = options;
    this.#steady = steady;
    this.#aliveNs = steady.nowNs();
    this.meter = new SourceMeter(plan, this.#nowMs());
    this.#room = new MarketRoom(plan, (line, decision, trigger) => {
      this.meter.countWritten(decision, trigger);
      this.#record(decision.atNs, { wrote: line });
      write(line, decision);
    });
  }

  /**
   * Opens all sources. A source that cannot be reached does not delay the others. Resolves after the lists of pairs are read, with the
   * faults of the file that the lists show. The rest of the file still runs.
   */
  async open(): Promise<readonly SourceFault[]> {
    this.#tick();
    this.#watchStalls();
    const { sources } = this.#options.plan;
    const faults = await Promise.all([...sources.keys()].map((name) => this.#openSource(name)));
    return faults.flat();
  }

  /** Returns the decision on every asset now. */
  decisions(): Decision[] {
    return this.#room.decisions(this.#steady.nowNs());
  }

  close(): void {
    this.#closed.abort();
    this.#cancelTick();
    this.#cancelAlive();
    for (const feed of this.#feeds) feed.close();
  }

  async #openSource(name: string): Promise<readonly SourceFault[]> {
    const { plan, schedule, random, env, folder = process.cwd() } = this.#options;
    const { signal } = this.#closed;
    const symbols = this.#symbolsOf(name);
    if (symbols.size === 0) return [];
    const source = { name, definition: plan.sources.get(name)!, symbols };
    const world: FeedWorld = { clock: this.#steady, schedule, random, env, folder, signal };
    const { feed, faults } = await openFeed(source, this.#sinkOf(name), world);
    this.meter.sources.get(name)!.faults = faults.length;
    if (feed === undefined || signal.aborted) return faults;
    this.#feeds.push(feed);
    feed.open();
    return faults;
  }

  /** Returns a source's symbols, each with the shortest `max_age` of its assets in milliseconds. */
  #symbolsOf(source: string): ReadonlyMap<string, number> {
    const symbols = new Map<string, number>();
    for (const { inputs, maxAgeNs } of this.#options.plan.assets)
      for (const input of inputs) {
        if (input.source !== source) continue;
        const maxAgeMs = Number(maxAgeNs / NS_PER_MS);
        symbols.set(input.symbol, Math.min(maxAgeMs, symbols.get(input.symbol) ?? maxAgeMs));
      }
    return symbols;
  }

  #sinkOf(source: string): FrameSink {
    const { warn } = this.#options;
    const clock = this.#steady;
    const warnings = new WarningLog(
      (text) => warn(`${source}: ${text}`),
      () => this.#nowMs(),
    );
    const counts = this.meter.sources.get(source)!;
    const ofRest = new Set<number>();
    return {
      begin: (symbols, isRest = false) => {
        const connection = ++this.#connections;
        if (isRest) ofRest.add(connection);
        else counts.opened++;
        const opened: OpenedConnection = {
          begin: connection,
          source,
          symbols,
          rest: isRest || undefined,
        };
        this.#record(clock.nowNs(), opened);
        return { connection, session: this.#room.open(opened) };
      },
      end: (connection) => {
        if (!ofRest.delete(connection)) counts.ended++;
        this.#record(clock.nowNs(), { end: connection });
        this.#room.close(connection);
      },
      read: (connection, frame): readonly MarketEvent[] => {
        const atNs = clock.nowNs();
        if (this.#hasStalled(atNs)) return [];
        this.#record(atNs, { read: connection, frame });
        const events = this.#room.read(connection, frame, atNs);
        this.meter.countFrame(source, frame, events, Number(atNs / NS_PER_MS));
        return events;
      },
      lacks: (pairs) => {
        counts.faults = pairs;
      },
      warn: (text) => warnings.add(text),
    };
  }

  #tick(): void {
    const { plan, schedule } = this.#options;
    const everyMs = Number(plan.publish.everyNs / NS_PER_MS);
    this.#cancelTick = schedule(() => {
      const nowNs = this.#steady.nowNs();
      this.#followWallClock(nowNs);
      this.#record(nowNs, { tick: true });
      this.meter.countTick(this.#room.tick(nowNs));
      this.#tick();
    }, everyMs);
  }

  /** Tells the room of a step of the wall clock. Ages do not follow it. */
  #followWallClock(nowNs: TimeNs): void {
    const shiftNs = this.#options.clock.nowNs() - nowNs;
    const stepNs = shiftNs - this.#shiftNs;
    if (stepNs < SHIFT_NS_MIN && stepNs > -SHIFT_NS_MIN) return;
    this.#shiftNs = shiftNs;
    this.#record(nowNs, { shift: String(shiftNs) });
    this.#room.shift(shiftNs);
    if (stepNs >= REPORTED_SHIFT_NS || stepNs <= -REPORTED_SHIFT_NS)
      this.#options.warn(
        `the clock of this host has moved by ${Number(stepNs / NS_PER_MS) / 1000} s; ages do not follow it`,
      );
  }

  #watchStalls(): void {
    this.#cancelAlive = this.#options.schedule(() => {
      const nowNs = this.#steady.nowNs();
      if (!this.#hasStalled(nowNs)) this.#aliveNs = nowNs;
      this.#watchStalls();
    }, ALIVE_MS);
  }

  /**
   * Returns whether the process stood still, for example because it was stopped, or its output was not read. The frames that arrived in
   * that time would count as new, so all connections begin again.
   */
  #hasStalled(nowNs: TimeNs): boolean {
    const stalledNs = nowNs - this.#aliveNs;
    if (stalledNs <= STALL_NS_MAX) return false;
    this.#aliveNs = nowNs;
    const reason = `the process stood still for ${Number(stalledNs / NS_PER_MS) / 1000} s`;
    for (const feed of this.#feeds) feed.renew(reason);
    return true;
  }

  #record(atNs: TimeNs, call: RecordedCall): void {
    this.#options.recorder?.add(atNs, call, this.#state);
  }

  #nowMs(): number {
    return Number(this.#steady.nowNs() / NS_PER_MS);
  }
}
