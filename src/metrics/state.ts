import type { ReloadState } from './reloads.js';

/** The service's own state at the moment of a scrape. */
export interface ServiceState extends ReloadState {
  /** The program's version. */
  readonly version: string;
  readonly secp256k1: string;
  /** SHA-256 of the configuration file in force, in hex. */
  readonly configSha256: string;
  /** True when `/readyz` answers 200. */
  readonly isReady: boolean;
  /** True when the clock and the signed times can be trusted. */
  readonly isClockOk: boolean;
  readonly activity: Activity;
  /** Absent if the process is alone. */
  readonly cluster: ClusterState | undefined;
}

export interface StoreState {
  /** The size of the data file. */
  readonly bytes: number;
  /** The free bytes of its file system that the service may use. */
  readonly freeBytes: number;
  /** UNIX milliseconds of the last commit; `undefined` before the first. */
  readonly committedAtMs: number | undefined;
  /** The first day that has candles, in days since 1970. */
  readonly oldestDay: number | undefined;
}

/** The last activity of publishers. */
export interface Activity {
  readonly assets: readonly AssetActivity[];
  readonly publishers: readonly PublisherActivity[];
}

export interface AssetActivity {
  readonly symbol: string;
  readonly signatureType: string;
  /** The number of inputs of its price; without a price, the inputs there are. */
  readonly inputs: number;
  /** UNIX seconds at which the last update was accepted; `undefined` before the first. */
  readonly updatedAtSeconds: number | undefined;
}

export interface PublisherActivity {
  /** The public key in hex. */
  readonly key: string;
  readonly signatureType: string;
  readonly updatedAtSeconds: number | undefined;
}

/** The state of a node of a cluster at the moment of a scrape. */
export interface ClusterState {
  readonly role: 'leader' | 'standby' | 'edge';
  /** The epoch of the newest claim that the node has applied. */
  readonly epoch: number;
  /** Records that the log is known to hold and that the node has not applied. */
  readonly logLagRecords: number;
  /** The time in which the node applied no record although some waited; else 0. */
  readonly logLagSeconds: number;
  /** The time without a tick, on a node that does not lead. */
  readonly ticksSilentSeconds: number;
  readonly tickGaps: number;
  readonly refusedWrites: number;
  /** The number of messages that were ignored, because no honest node or server sends them. */
  readonly refusedMessages: number;
  /** Standbys that report themselves, including this node. */
  readonly standbys: number;
  /** Nodes that report themselves, including this one. */
  readonly nodes: number;
  /** Servers that hold a whole copy of the log; `undefined` if the node does not know, like an edge. */
  readonly logCopies: number | undefined;
}
