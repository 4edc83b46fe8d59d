import type { SignatureType } from './asset.js';

/**
 * The largest number of assets in a cluster. The prices of more assets would not fit in the 1 MiB that message servers accept by
 * default.
 */
export const CLUSTER_ASSETS_MAX = 50_000;

/** The interval at which earlier accepted inputs of all assets are written to a cluster's log again. */
export const CHECKPOINT_S = 300;

/** The number of bits in a streaming timestamp that contain the node's number. */
export const NODE_BITS = 6;
/** The largest number of a node in a cluster. The numbers begin at 1, because 0 is the number of a process without a cluster. */
export const NODE_MAX = 2 ** NODE_BITS - 1;

/** The processes that serve the same prices, as known to one of them. A process without a cluster is node 0. */
export interface NodeList {
  /** The number of the node that made this list. */
  readonly self: number;
  /** The nodes, ascending by number. */
  readonly nodes: readonly NodeState[];
  /** The keys of these nodes. The list also has the keys of former nodes, as long as aggregates that they signed may be served. */
  readonly signers: readonly NodeSigner[];
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
  /** For `evm` the address with its checksum; for `stark` the x coordinate of the public key. */
  readonly address: string;
  readonly signatureType: SignatureType;
  /** The use of the key: to sign aggregates of its signature type, or to sign streaming payloads. */
  readonly role: 'aggregate' | 'stream';
  /** The UNIX second since which the node has had the key. */
  readonly sinceS: number;
}

/** Returns the keys of all nodes without repetitions. Keys of aggregates come first. Within each use, the node's own keys come first. */
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
