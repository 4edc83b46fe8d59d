import { compareText } from '../../model/compare_text.js';
import type {
  NodeList,
  NodeRole,
  NodeSigner,
  NodeState,
  PublicLogFacts,
  Signer,
} from '../../model/node_list.js';
import type { ClusterMember } from '../member.js';
import type { NodeReport } from '../node_report.js';

export interface NodeDirectoryOptions {
  /** The number of this node. */
  readonly node: number;
  readonly name: string;
  readonly signers: () => readonly Signer[];
  /** This node's logs; absent when they are off. */
  readonly logs: {
    readonly publicLog?: { readonly facts: PublicLogFacts | undefined } | undefined;
  };
  readonly member: Pick<ClusterMember, 'role' | 'leader' | 'nodes' | 'ticks'>;
  readonly nowMs: () => number;
}

/**
 * The time for which the list keeps the keys of a removed node. Other nodes serve its aggregates until their inputs are too old, which
 * takes less than an hour.
 */
const GONE_MS_MAX = 3_600_000;
const GONE_KEYS_MAX = 256;

/** The nodes of a cluster and their keys, as known to one node. */
export class NodeDirectory {
  readonly #options: NodeDirectoryOptions;
  /** The keys with which nodes signed aggregates, by node and key; the least recently used key first. */
  readonly #seen = new Map<string, { readonly signer: NodeSigner; readonly seenMs: number }>();
  #toldText = '';
  #told: NodeList | undefined;

  constructor(options: NodeDirectoryOptions) {
    this.#options = options;
  }

  /** Returns the nodes and their keys if they have changed since the last call. */
  takeChanged(): NodeList | undefined {
    const nodes = this.nodes();
    const text = JSON.stringify(nodes);
    if (text === this.#toldText) return undefined;
    this.#toldText = text;
    this.#told = nodes;
    return nodes;
  }

  /** Returns true if the taken list has keys of a node. */
  hasKeysOf(node: number): boolean {
    return this.#told?.signers.some((signer) => signer.node === node) ?? false;
  }

  /** The reason in the taken list why this node must not say what streaming IDs mean. */
  get idsRefusal(): string | undefined {
    return (this.#told ?? this.#options.member.ticks).idsRefusal;
  }

  nodes(): NodeList {
    const { node, name, member } = this.#options;
    const log = this.#options.logs.publicLog?.facts;
    const { idsRefusal } = member.ticks;
    const others = member.nodes.present();
    const self: NodeState = { node, name, role: member.role };
    const states = others.map((report) => ({
      node: report.node,
      name: report.name,
      role: this.#roleOf(report),
    }));
    return {
      self: node,
      nodes: [...states, self].sort((a, b) => a.node - b.node),
      signers: this.#signers(others),
      ...(log && { log }),
      ...(idsRefusal !== undefined && { idsRefusal }),
      streamLogs: others.flatMap(({ node: other, streamLog }) =>
        streamLog ? [{ ...streamLog, node: other }] : [],
      ),
    };
  }

  /** Returns a node's role. The log names a new leader earlier than that node's report. */
  #roleOf({ node, role }: NodeReport): NodeRole {
    if (this.#options.member.leader?.node === node) return 'leader';
    return role === 'leader' ? 'standby' : role;
  }

  #signers(others: readonly NodeReport[]): NodeSigner[] {
    const { node, signers, nowMs } = this.#options;
    const present = [{ node, signers: signers() }, ...others].flatMap((one) =>
      one.signers.map((signer): NodeSigner => ({ ...signer, node: one.node })),
    );
    for (const signer of present) if (signer.role === 'aggregate') this.#noteSigner(signer, nowMs());
    const streams = present.filter(({ role }) => role === 'stream');
    return [...this.#aggregateSigners(nowMs()), ...streams].sort((a, b) => a.node - b.node);
  }

  #noteSigner(signer: NodeSigner, nowMs: number): void {
    const key = `${signer.node} ${signer.signatureType} ${signer.address}`;
    this.#seen.delete(key);
    this.#seen.set(key, { signer, seenMs: nowMs });
  }

  #aggregateSigners(nowMs: number): NodeSigner[] {
    for (const [key, { seenMs }] of this.#seen) {
      if (this.#seen.size <= GONE_KEYS_MAX && nowMs < seenMs + GONE_MS_MAX) break;
      this.#seen.delete(key);
    }
    // The result is sorted, so that it does not depend on the times at which keys were seen.
    return [...this.#seen.values()]
      .map(({ signer }) => signer)
      .sort((a, b) => compareText(a.signatureType, b.signatureType) || compareText(a.address, b.address));
  }
}
