import type { PastFigures } from '../../log/past/hour_writer.js';
import type { StoreFigures } from '../../log/store/store_options.js';
import type { Activity } from '../../prices/activity.js';
import type { ReloadState } from './reloads.js';

/** The service's own state at a scrape. */
export interface ServiceState extends ReloadState {
  /** The program's version. */
  readonly version: string;
  /** The commit of the build, or `unknown`. */
  readonly commit: string;
  readonly secp256k1: string;
  /** The SHA-256 of the active configuration file, in hex. */
  readonly configSha256: string;
  /** True when `/readyz` answers 200. */
  readonly isReady: boolean;
  /** True when the service trusts the clock and the signed times. */
  readonly isClockOk: boolean;
  readonly activity: Activity;
  /** The state of the announcements of keys; `undefined` if the service announces no keys. */
  readonly announced: AnnouncedState | undefined;
  /** The state of the node; absent if the process has no cluster. */
  readonly cluster: ClusterState | undefined;
  /** The state of the public log; `undefined` if this process writes no public log. */
  readonly publicLog: PublicLogState | undefined;
  /** The state of the log of streaming payloads; `undefined` if this process writes no such log. */
  readonly streamLog: PublicLogState | undefined;
}

export interface PublicLogState {
  /** The number of batches in the public files. */
  readonly size: number;
  /** The time since the last publication of a checkpoint, in seconds; `undefined` before the first checkpoint. */
  readonly checkpointAgeSeconds: number | undefined;
  /** The longest time until a checkpoint covers a price, in seconds. The service promises this time to readers. */
  readonly maxDelaySeconds: number;
  /** The number of witnesses that cosigned the published checkpoint. */
  readonly witnesses: number;
  /** False when no checkpoint had the quorum of the witnesses during the whole grace period. */
  readonly hasQuorum: boolean;
  readonly isStopped: boolean;
}

export interface AnnouncedState {
  /** The number of keys with which this process signs now, although the newest announcement does not allow them. */
  readonly unannouncedKeys: number;
  /** The first key that will sign although the newest announcement does not allow it then, and the UNIX second at which it begins. */
  readonly nextUnannounced: { readonly address: string; readonly fromSeconds: number } | undefined;
  /** The UNIX second at which the newest announcement expires. */
  readonly expiresAtSeconds: number;
}

/** The state of the store, and of the files with signed prices of the past. */
export interface StoreState extends StoreFigures {
  readonly past: PastFigures;
}

/** The state of a cluster's node at a scrape. */
export interface ClusterState {
  readonly role: 'leader' | 'standby' | 'edge';
  /** The epoch of the newest claim that the node has applied. */
  readonly epoch: number;
  /** The number of known records of the log that the node has not applied yet. */
  readonly logLagRecords: number;
  /** The time since the node last applied a record, in seconds, while known records wait; otherwise 0. */
  readonly logLagSeconds: number;
  /** The time since the last tick, in seconds, on a node that does not lead. */
  readonly ticksSilentSeconds: number;
  readonly tickGaps: number;
  readonly refusedWrites: number;
  /** The number of ignored messages. No honest node or server sends these messages. */
  readonly refusedMessages: number;
  /** The number of log records without effect, because no leader wrote them or because they are damaged. */
  readonly skippedRecords: number;
  /** The number of standbys that send reports, including this node. */
  readonly standbys: number;
  /** The number of nodes that send reports, including this node. */
  readonly nodes: number;
  /**
   * The number of servers that have a complete copy of the log; `undefined` if the node does not know the number, for example on an edge.
   */
  readonly logCopies: number | undefined;
  /**
   * The number of servers that do not answer, or that may lose acknowledged records in a power failure; `undefined` if the node
   * does not ask them.
   */
  readonly forgetfulServers: number | undefined;
}
