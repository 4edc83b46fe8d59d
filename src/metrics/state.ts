import type { ReloadState } from './reloads.js';

/** What the service says of its own state at the moment of a scrape. */
export interface ServiceState extends ReloadState {
  /** Of the program. */
  readonly version: string;
  readonly secp256k1: string;
  /** SHA-256 of the configuration file in force, in hex. */
  readonly configSha256: string;
  /** Whether `/readyz` answers 200. */
  readonly isReady: boolean;
  /** Whether the clock and the signed times can be trusted. */
  readonly isClockOk: boolean;
  readonly activity: Activity;
  /** Absent where the process is alone. */
  readonly cluster: ClusterState | undefined;
}

export interface StoreState {
  /** Of the data file. */
  readonly bytes: number;
  /** What its file system has left for the service. */
  readonly freeBytes: number;
  /** UNIX milliseconds of the last commit; `undefined` before the first. */
  readonly committedAtMs: number | undefined;
  /** The first day that has candles, in days since 1970. */
  readonly oldestDay: number | undefined;
}

/** What publishers last did. */
export interface Activity {
  readonly assets: readonly AssetActivity[];
  readonly publishers: readonly PublisherActivity[];
}

export interface AssetActivity {
  readonly symbol: string;
  readonly signatureType: string;
  /** How many inputs its price is made of, or would be if there were enough. */
  readonly inputs: number;
  /** UNIX seconds at which the last update was accepted; `undefined` when there was none. */
  readonly updatedAtSeconds: number | undefined;
}

export interface PublisherActivity {
  /** In hex. */
  readonly key: string;
  readonly signatureType: string;
  readonly updatedAtSeconds: number | undefined;
}

/** What a node of a cluster says of itself at the moment of a scrape. */
export interface ClusterState {
  readonly role: 'leader' | 'standby' | 'edge';
  /** Of the newest claim that it has applied. */
  readonly epoch: number;
  /** Records that the log is known to have and that the node has not applied. */
  readonly logLagRecords: number;
  /** For how long it has not applied one while there were some; else 0. */
  readonly logLagSeconds: number;
  /** For how long no tick came, where the node does not lead. */
  readonly ticksSilentSeconds: number;
  readonly tickGaps: number;
  readonly refusedWrites: number;
  /** Standbys that report themselves, this node included. */
  readonly standbys: number;
  /** Nodes that report themselves, this one included. */
  readonly nodes: number;
  /** Servers that have a whole copy of the log; `undefined` where the node does not know, as an edge. */
  readonly logCopies: number | undefined;
}
