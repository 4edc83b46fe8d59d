/** The answer of `/v1/nodes`. */
export interface NodesAnswer {
  /** The node that answers; 0 for a process without a cluster. */
  readonly self: number;
  readonly nodes: readonly { readonly node: number; readonly name: string; readonly role: string }[];
}

/** The node that serves the page, the node that makes the prices, and the time of the last change. */
export class NodeLog {
  #answer: NodesAnswer | undefined;
  #leader: number | undefined;
  #change = '';

  /** @param nowText the time of day, for people */
  take(answer: NodesAnswer, nowText: string): void {
    this.#answer = answer;
    const leader = answer.nodes.find(({ role }) => role === 'leader')?.node;
    if (leader === undefined || leader === this.#leader) return;
    this.#change = this.#leader === undefined ? '' : ` since ${nowText}; before, node ${this.#leader} did`;
    this.#leader = leader;
  }

  /** True in a cluster; false for a process without a cluster. */
  get isCluster(): boolean {
    return this.#answer !== undefined && this.#answer.self !== 0;
  }

  /** True while no node makes prices. */
  get isLeaderless(): boolean {
    return this.isCluster && !this.#answer!.nodes.some(({ role }) => role === 'leader');
  }

  /**
   * Returns a description of the node that serves the page and the node that makes the prices; empty for a process without a cluster.
   */
  get text(): string {
    if (!this.isCluster) return '';
    const { self } = this.#answer!;
    if (this.isLeaderless) return `Node ${self} serves this page. No node makes prices just now.`;
    return this.#leader === self
      ? `Node ${self} serves this page and makes the prices${this.#change}.`
      : `Node ${self} serves this page. Node ${this.#leader} makes the prices${this.#change}.`;
  }

  /** Lists each node with its role. */
  facts(): (readonly [name: string, value: string])[] {
    if (!this.isCluster) return [];
    const { self, nodes } = this.#answer!;
    return nodes.map(({ node, name, role }) => [
      `Node ${node}`,
      `${role} on ${name}${node === self ? ', serves this page' : ''}`,
    ]);
  }
}
