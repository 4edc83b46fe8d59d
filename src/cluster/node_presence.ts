import { NODE_MAX } from '../model/node_list.js';
import type { Bus } from './bus.js';
import { decodeNodeReport, encodeNodeReport, type NodeReport, type OwnReport } from './node_report.js';
import { REPORT_TOPICS, reporterOf, reportTopic, type Sender } from './subjects.js';
import type { ClusterTiming } from './timing.js';

/** The number of report intervals after which a silent node no longer counts as present. */
const MISSED_REPORTS_MAX = 4;
/** The numbers of report intervals between which a silent node counts as missing. Later it counts as removed. */
const MISSING_REPORTS = { from: 2.5, to: 20 };

export interface NodePresenceOptions {
  readonly bus: Pick<Bus, 'send' | 'listen'>;
  /** This node. */
  readonly self: Sender;
  readonly run: string;
  /** Returns the current report of this node. */
  readonly report: () => OwnReport;
  /** Called when another node reports. */
  readonly received: () => void;
  readonly timing: Pick<ClusterTiming, 'reportMs'>;
  readonly nowMs: () => number;
}

interface KnownNode {
  readonly report: NodeReport;
  readonly receivedMs: number;
}

/** Reports this node to the other nodes, and keeps the reports of the other nodes. */
export class NodePresence {
  readonly #options: NodePresenceOptions;
  readonly #known = new Map<number, KnownNode>();
  #reportedMs = Number.NEGATIVE_INFINITY;
  #stopListening: (() => void) | undefined;
  #twinMs = Number.NEGATIVE_INFINITY;
  #refused = 0;
  #appliedMax = 0;
  #appliedMaxMs = Number.NEGATIVE_INFINITY;

  constructor(options: NodePresenceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stopListening = this.#options.bus.listen(REPORT_TOPICS, (bytes, topic) =>
      this.#receive(reporterOf(topic), bytes),
    );
  }

  stop(): void {
    this.#stopListening?.();
  }

  /** Sends this node's report when it is due. */
  tick(nowMs: number): void {
    if (nowMs >= this.nextDueMs()) this.#send();
  }

  /** Sends a report at the next tick, because the facts about this node have changed. */
  changed(): void {
    this.#reportedMs = Number.NEGATIVE_INFINITY;
  }

  /** The number of messages on report topics that were not a report from the topic's node. */
  get refused(): number {
    return this.#refused;
  }

  /** The highest sequence of the log that any aggregator has reported as applied, including aggregators that are now away. */
  get appliedMax(): number {
    return this.#appliedMax;
  }

  /** The time at which {@link appliedMax} last grew. */
  get appliedMaxMs(): number {
    return this.#appliedMaxMs;
  }

  /** True when the reports of another node have stopped. */
  get isOneMissing(): boolean {
    const { nowMs, timing } = this.#options;
    const reports = (receivedMs: number) => (nowMs() - receivedMs) / timing.reportMs;
    return [...this.#known.values()]
      .map(({ receivedMs }) => reports(receivedMs))
      .some((missed) => missed > MISSING_REPORTS.from && missed < MISSING_REPORTS.to);
  }

  nextDueMs(): number {
    return this.#reportedMs + this.#options.timing.reportMs;
  }

  /** Returns the reports of the other present nodes, by node number. */
  present(): NodeReport[] {
    const sinceMs = this.#sinceMs;
    return [...this.#known.values()]
      .filter(({ receivedMs }) => receivedMs >= sinceMs)
      .map(({ report }) => report)
      .sort((a, b) => a.node - b.node);
  }

  /** Returns the number of standbys that may claim before this node. */
  rank(): number {
    return this.#standbysBelow(this.#options.self.node);
  }

  get hasStandby(): boolean {
    return this.#standbysBelow(NODE_MAX + 1) > 0;
  }

  /** True when another node with a correct clock leads or could lead. */
  get hasOtherFit(): boolean {
    return this.present().some(({ isFit }) => isFit);
  }

  /** True when another process reports with this node's number: a predecessor, or a node that was given the same number by mistake. */
  get hasTwin(): boolean {
    return this.#twinMs >= this.#sinceMs;
  }

  #send(): void {
    const { bus, self, report, nowMs } = this.#options;
    this.#reportedMs = nowMs();
    bus.send(reportTopic(self), encodeNodeReport(report()));
  }

  #standbysBelow(nodeMax: number): number {
    const sinceMs = this.#sinceMs;
    let count = 0;
    for (const { report, receivedMs } of this.#known.values())
      if (report.role === 'standby' && report.node < nodeMax && receivedMs >= sinceMs) count++;
    return count;
  }

  get #sinceMs(): number {
    return this.#options.nowMs() - MISSED_REPORTS_MAX * this.#options.timing.reportMs;
  }

  #receive(sender: Sender, bytes: Uint8Array): void {
    const report = sender.node >= 1 && sender.node <= NODE_MAX ? decodeNodeReport(sender, bytes) : undefined;
    if (report === undefined) {
      this.#refused++;
      return;
    }
    const { self, run, nowMs, received } = this.#options;
    if (report.node !== self.node) {
      const before = this.#known.get(report.node);
      // A node that starts needs the keys of the others, so that it can verify what they have kept.
      if (before === undefined || before.receivedMs < this.#sinceMs) this.#send();
      this.#known.set(report.node, { report, receivedMs: nowMs() });
      if (sender.role === 'aggregator') this.#noteApplied(report.applied);
      received();
    } else if (report.run !== run) this.#twinMs = nowMs();
  }

  #noteApplied(sequence: number): void {
    if (sequence <= this.#appliedMax) return;
    this.#appliedMax = sequence;
    this.#appliedMaxMs = this.#options.nowMs();
  }
}
