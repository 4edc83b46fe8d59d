import type { SignatureType } from './asset.js';

/** The largest number of assets of a cluster: all prices of more assets would not fit the 1 MiB that message servers take by default. */
export const CLUSTER_ASSETS_MAX = 50_000;

/** The interval at which the earlier accepted inputs of all assets are written to a cluster's log again. */
export const CHECKPOINT_S = 300;

/** The number of bits that a node's number takes in each streaming timestamp. */
export const NODE_BITS = 6;
/** The largest number of a node in a cluster, from 1 on; 0 is a process that is alone. */
export const NODE_MAX = 2 ** NODE_BITS - 1;

/** The processes that serve the same prices, as one of them knows them. A process that is alone is node 0. */
export interface NodeList {
  /** The node that this list comes from. */
  readonly self: number;
  /** Ascending by number. */
  readonly nodes: readonly NodeState[];
  /** The keys of these nodes, and of former nodes while aggregates that they signed may be served. */
  readonly signers: readonly NodeSigner[];
}

/** The leader makes prices, a standby could, an edge only serves them. */
export type NodeRole = 'leader' | 'standby' | 'edge';

export interface NodeState {
  readonly node: number;
  readonly name: string;
  readonly role: NodeRole;
}

export interface NodeSigner extends Signer {
  readonly node: number;
}

/** A key that a node signs with. */
export interface Signer {
  /** `evm`: the address, with its checksum. `stark`: the x coordinate of the public key. */
  readonly address: string;
  readonly signatureType: SignatureType;
  /** The use of the key: it signs aggregates of that signature type, or streaming payloads. */
  readonly role: 'aggregate' | 'stream';
  /** UNIX seconds since which the node has the key. */
  readonly sinceS: number;
}

/** Returns the keys of all nodes without repetitions: those of aggregates first, and among each kind the node's own first. */
export function distinctSigners({ self, signers }: NodeList): Signer[] {
  const ownFirst = [
    ...signers.filter(({ node }) => node === self),
    ...signers.filter(({ node }) => node !== self),
  ];
  const byKey = new Map<string, Signer>();
  for (const signer of ownFirst) {
    const key = `${signer.role} ${signer.signatureType} ${signer.address}`;
    if (!byKey.has(key)) byKey.set(key, signer);
  }
  const all = [...byKey.values()];
  return [...all.filter(({ role }) => role === 'aggregate'), ...all.filter(({ role }) => role === 'stream')];
}
