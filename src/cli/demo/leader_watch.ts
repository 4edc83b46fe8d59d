import { boundedFetch } from '../../client/connect/bounded_fetch.js';
import { ADMIN_PATHS } from '../../wire/paths.js';
import type { DemoNode } from './prepare_cluster.js';

const LOOK_MS = 250;
/** The time limit for the answer of one node. */
const ANSWER_MS_MAX = 1_000;

/** Reports the node that leads, and each change of the leader. */
export class LeaderWatch {
  readonly #nodes: readonly DemoNode[];
  readonly #say: (line: string) => void;
  #leader: number | undefined;
  #isMissing = false;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(nodes: readonly DemoNode[], say: (line: string) => void) {
    this.#nodes = nodes.filter(({ role }) => role === 'aggregator');
    this.#say = say;
  }

  /** The number of the last known leader. */
  get leader(): number | undefined {
    return this.#leader;
  }

  async start(): Promise<void> {
    this.#leader = await leaderOf(this.#nodes);
    this.#lookLater();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#look(), LOOK_MS);
  }

  async #look(): Promise<void> {
    const leader = await leaderOf(this.#nodes);
    if (this.#isStopped) return;
    if (leader === undefined) {
      if (!this.#isMissing) this.#say('no node leads');
    } else if (leader !== this.#leader) {
      this.#say(
        `node ${leader} leads${this.#leader === undefined ? '' : `, node ${this.#leader} did before`}`,
      );
    } else if (this.#isMissing) this.#say(`node ${leader} leads again`);
    this.#isMissing = leader === undefined;
    this.#leader = leader ?? this.#leader;
    this.#lookLater();
  }
}

/** @returns the number of the node that leads in the newest epoch; `undefined` if no node leads */
async function leaderOf(nodes: readonly DemoNode[]): Promise<number | undefined> {
  const epochs = await Promise.all(
    nodes.map(async (node) => ({ number: node.number, epoch: await ownEpoch(node) })),
  );
  const leading = epochs.filter(({ epoch }) => epoch > 0).sort((a, b) => b.epoch - a.epoch);
  return leading[0]?.number;
}

/** Returns the epoch in which the node leads, or 0 when the node does not lead or gives no answer. */
async function ownEpoch({ adminUrl }: DemoNode): Promise<number> {
  try {
    const url = adminUrl + ADMIN_PATHS.metrics;
    const text = await (await boundedFetch({ url, answerMsMax: ANSWER_MS_MAX })).wholeText();
    if (!/^tickseal_cluster_role\{role="leader"\} 1$/m.test(text)) return 0;
    return Number(/^tickseal_cluster_epoch (\d+)$/m.exec(text)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
