import type { NodeList } from '../../model/node_list.js';
import type { Bus } from '../bus.js';
import { questionTopic } from '../subjects.js';

export interface PastAskerOptions {
  readonly bus: Pick<Bus, 'ask'>;
  /** Returns the nodes of the cluster. */
  readonly nodes: () => NodeList;
  readonly nowMs: () => number;
}

/**
 * The answer of another node; `busy` while too many questions of this process are unanswered. The bytes are `undefined` when the node did
 * not answer. They are not verified.
 */
export type OtherAnswer = { readonly node: number; readonly bytes: Uint8Array | undefined } | 'busy';

/** The longest wait for the answer of a node. */
const ANSWER_MS_MAX = 1_500;
/** The time for which a node that did not answer receives no questions. */
const SILENT_MS = 10_000;
/** The largest number of unanswered questions of this process. A node answers the same number of questions of one node at once. */
const QUESTIONS_MAX = 4;

/** Sends this process's questions about the past to other nodes. */
export class PastAsker {
  readonly #options: PastAskerOptions;
  readonly #silentUntilMs = new Map<number, number>();
  #asked = 0;

  constructor(options: PastAskerOptions) {
    this.#options = options;
  }

  /**
   * Asks the next node. Standbys come before the leader, because the leader has more work.
   * @param tried the numbers of the nodes that were already asked
   * @returns `undefined` when no other node is left
   */
  async ask(question: Uint8Array, tried: readonly number[]): Promise<OtherAnswer | undefined> {
    const { bus, nodes, nowMs } = this.#options;
    const { self } = nodes();
    const node = this.#nodes().find((one) => !tried.includes(one));
    if (node === undefined) return undefined;
    if (this.#asked >= QUESTIONS_MAX) return 'busy';
    this.#asked++;
    try {
      return { node, bytes: await bus.ask(questionTopic('past', self, node), question, ANSWER_MS_MAX) };
    } catch {
      this.#silentUntilMs.set(node, nowMs() + SILENT_MS);
      return { node, bytes: undefined };
    } finally {
      this.#asked--;
    }
  }

  /** Returns the nodes that can be asked, in the order of asking. */
  #nodes(): number[] {
    const { nodes, nowMs } = this.#options;
    const { self, nodes: all } = nodes();
    const isSilent = (node: number) => nowMs() < (this.#silentUntilMs.get(node) ?? 0);
    return (['standby', 'leader'] as const).flatMap((wanted) =>
      all.flatMap(({ node, role }) => (role === wanted && node !== self && !isSilent(node) ? [node] : [])),
    );
  }
}
