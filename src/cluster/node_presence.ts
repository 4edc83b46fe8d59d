import { NODE_MAX } from '../model/node_list.js';
import type { Bus } from './bus.js';
import { decodeNodeReport, encodeNodeReport, type NodeReport } from './node_report.js';
import { NODE_TOPIC } from './subjects.js';
import type { ClusterTiming } from './timing.js';

/** A node is there while its last report is younger than so many intervals. */
const MISSED_REPORTS_MAX = 4;

export interface NodePresenceOptions {
  readonly bus: Pick<Bus, 'send' | 'listen'>;
  /** This node. */
  readonly node: number;
  readonly run: string;
  /** What this node says of itself now. */
  readonly report: () => Omit<NodeReport, 'wireVersion'>;
  /** Another node has reported. */
  readonly heard: () => void;
  readonly timing: Pick<ClusterTiming, 'reportMs'>;
  readonly nowMs: () => number;
}

interface KnownNode {
  readonly report: NodeReport;
  readonly receivedMs: number;
}

/** Reports this node to the others, and knows them by what they report. */
export class NodePresence {
  readonly #options: NodePresenceOptions;
  readonly #known = new Map<number, KnownNode>();
  #reportedMs = Number.NEGATIVE_INFINITY;
  #stopListening: (() => void) | undefined;
  #twinMs = Number.NEGATIVE_INFINITY;

  constructor(options: NodePresenceOptions) {
    this.#options = options;
  }

  start(): void {
    this.#stopListening = this.#options.bus.listen(NODE_TOPIC, (bytes) => this.#receive(bytes));
  }

  stop(): void {
    this.#stopListening?.();
  }

  /** Reports this node to the others. */
  tick(nowMs: number): void {
    if (nowMs < this.nextDueMs()) return;
    this.#reportedMs = nowMs;
    this.#options.bus.send(NODE_TOPIC, encodeNodeReport(this.#options.report()));
  }

  nextDueMs(): number {
    return this.#reportedMs + this.#options.timing.reportMs;
  }

  /** The others that are there, by number. */
  present(): NodeReport[] {
    const sinceMs = this.#sinceMs;
    return [...this.#known.values()]
      .filter(({ receivedMs }) => receivedMs >= sinceMs)
      .map(({ report }) => report)
      .sort((a, b) => a.node - b.node);
  }

  /** Standbys that claim before this node does. */
  rank(): number {
    return this.#standbysBelow(this.#options.node);
  }

  get hasStandby(): boolean {
    return this.#standbysBelow(NODE_MAX + 1) > 0;
  }

  /** Another node could make prices, or does, and its clock is right. */
  get hasOtherFit(): boolean {
    return this.present().some(({ isFit }) => isFit);
  }

  /** Another process reports under the number of this node: the one before it, or two nodes are configured alike. */
  get hasTwin(): boolean {
    return this.#twinMs >= this.#sinceMs;
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

  #receive(bytes: Uint8Array): void {
    const report = decodeNodeReport(bytes);
    if (report === undefined) return;
    const { node, run, nowMs, heard } = this.#options;
    if (report.node !== node) {
      this.#known.set(report.node, { report, receivedMs: nowMs() });
      heard();
    } else if (report.run !== run) this.#twinMs = nowMs();
  }
}
