import type { SignatureType } from './asset.js';
import type { KeyState } from './key_schedule.js';

/**
 * The largest number of assets in a cluster. The prices of more assets would not fit in a message between nodes.
 */
export const CLUSTER_ASSETS_MAX = 32_000;

/** The period in which a leader writes the earlier accepted inputs of all assets to the cluster's log again. */
export const CHECKPOINT_S = 300;

/** The number of bits in a streaming timestamp that contain the node's number. */
export const NODE_BITS = 6;
/** The largest number of a node in a cluster. The numbers begin at 1, because 0 is the number of a process without a cluster. */
export const NODE_MAX = 2 ** NODE_BITS - 1;

/** The processes that serve the same prices, from the view of one of these processes. A process without a cluster is node 0. */
export interface NodeList {
  /** The number of the node that made this list. */
  readonly self: number;
  /** The nodes, ascending by number. */
  readonly nodes: readonly NodeState[];
  /** The keys of these nodes, and the keys of former nodes while a node may still serve aggregates with their signatures. */
  readonly signers: readonly NodeSigner[];
  /** The reason why this node must not say what streaming IDs mean; absent when it may. */
  readonly idsRefusal?: string | undefined;
  /** The public log of signed prices; absent without a public log. */
  readonly log?: PublicLogFacts | undefined;
  /** The public log of the streaming payloads that the node `self` signs; absent without such a log. */
  readonly streamLog?: PublicLogFacts | undefined;
  /** The logs of the streaming payloads that these nodes sign, ascending by node. */
  readonly streamLogs?: readonly NodeLogKey[] | undefined;
}

/** The name and the key of a node's log of streaming payloads. */
export interface NodeLogKey extends LogIdentity {
  readonly node: number;
}

/** The name and the key of a public log. */
export interface LogIdentity {
  /** The name of the log: its address without scheme. */
  readonly origin: string;
  /** The key of the log, as a verifier key of C2SP signed-note. */
  readonly vkey: string;
}

/** The facts about a public log with which readers verify the log. */
export interface PublicLogFacts extends LogIdentity {
  /** The text of the policy: the log, its witnesses and their quorum. */
  readonly policy: string;
  /** The longest time between a signature and the checkpoint that covers it, in seconds. */
  readonly maxDelayS: number;
}

/** The role of a node. The leader makes prices, a standby can make prices, and an edge only serves prices. */
export type NodeRole = 'leader' | 'standby' | 'edge';

export interface NodeState {
  readonly node: number;
  readonly name: string;
  readonly role: NodeRole;
}

export interface NodeSigner extends Signer {
  readonly node: number;
}

/** A key with which a node signs. */
export interface Signer {
  /** The address with its checksum for `evm`; the x coordinate of the public key for `stark`. */
  readonly address: string;
  readonly signatureType: SignatureType;
  /** The use of the key: to sign aggregates of its signature type, or to sign streaming payloads. */
  readonly role: 'aggregate' | 'stream';
  /** The UNIX second at which the node received the key. */
  readonly sinceS: number;
  /** The UNIX second from which the key signs; absent for a key without a beginning. */
  readonly fromS?: number | undefined;
  /** The UNIX second at which the next key replaces the key; absent for a key without an end. */
  readonly untilS?: number | undefined;
}

/**
 * The time for which the list still names a former key. Nodes serve the key's aggregates until their inputs are too old, which
 * takes less than an hour.
 */
export const FORMER_KEY_S = 3600;

/** Returns the state of a key at a UNIX second. */
export function stateOf({ fromS = 0, untilS = Number.POSITIVE_INFINITY }: Signer, nowS: number): KeyState {
  if (nowS < fromS) return 'next';
  return nowS < untilS ? 'present' : 'former';
}

/**
 * Returns the keys of all nodes without repetitions: first the current keys, then the keys that were replaced in the last hour.
 * Keys of aggregates come first. Within each use, the node's own keys come first.
 */
export function distinctSigners({ self, signers }: NodeList, nowS: number): Signer[] {
  const inState = (state: KeyState) => signers.filter((signer) => stateOf(signer, nowS) === state);
  const recent = [
    ...inState('present'),
    ...inState('former').filter(({ untilS }) => nowS < untilS! + FORMER_KEY_S),
  ];
  const ownFirst = [
    ...recent.filter(({ node }) => node === self),
    ...recent.filter(({ node }) => node !== self),
  ];
  const byKey = new Map<string, Signer>();
  for (const signer of ownFirst) {
    const key = `${signer.role} ${signer.signatureType} ${signer.address}`;
    if (!byKey.has(key)) byKey.set(key, signer);
  }
  const all = [...byKey.values()];
  return [...all.filter(({ role }) => role === 'aggregate'), ...all.filter(({ role }) => role === 'stream')];
}
