import type { LogRecord } from '../bus.js';

/** Requests about the message servers themselves, for nodes that make prices. The log itself is not part of this interface. */
export interface LogServers {
  /**
   * Returns the state of the servers.
   * @param nowMs the wall clock
   * @throws LogGone when the servers have no log
   * @throws Error when no server answers, for example during an election among the servers
   */
  serverReport(nowMs: () => number): Promise<ServerReport>;
  /**
   * Returns the same report, for the leader of the cluster. Moves the log's lead to another server if this node's server leads the log, or
   * if the server that leads the log does not reach another server.
   * @param damaged the servers that must not lead the log
   */
  keepLogLeaderApart(nowMs: () => number, damaged: Damaged): Promise<ServerReport>;
  /**
   * Returns the server that leads the log.
   * @throws Error when no server leads the log, for example during an election
   */
  logLead(): Promise<LogLead>;
  /**
   * Reads a record from the copy of the server that leads the log, and from no other copy.
   * @returns `undefined` when this server does not have the record or cannot read it
   * @throws Error when no server answers
   */
  leadersRecord(sequence: number): Promise<LogRecord | undefined>;
  /**
   * Moves the lead of the log to another server that has a complete copy.
   * @param damaged the servers that must not lead the log
   * @returns the server that leads now; `undefined` when there is no such server
   */
  moveLogLead(damaged: Damaged): Promise<string | undefined>;
  /**
   * Asks each server of the log how soon it writes to its disk.
   * @throws Error when no server can name the servers that keep the log, for example during an election
   */
  serverDisks(): Promise<readonly ServerDisk[]>;
}

/** Names of servers whose copies of the log are damaged. */
export type Damaged = Pick<ReadonlySet<string>, 'has'>;

/** The lead of the log, according to the server that leads it. */
export interface LogLead {
  readonly server: string;
  /** The sequences of the first and the last record. */
  readonly firstSequence: number;
  readonly lastSequence: number;
}

/** A server that keeps the log, and the server's disk. */
export interface ServerDisk {
  readonly server: string;
  /** True when the other servers report that this server is offline. It then takes part in no writes. */
  readonly isAway: boolean;
  /**
   * The longest time from a record's acknowledgement to its `fsync`, in ms; 0 when the server acknowledges only after `fsync`; `undefined`
   * when the server did not answer.
   */
  readonly syncMs: number | undefined;
  /** The ID of the server's process, which each start changes; `undefined` when the server did not answer. */
  readonly run?: string | undefined;
}

/** Thrown when the servers no longer have the log, because somebody deleted it or the servers lost their disks. */
export class LogGone extends Error {
  override readonly name = 'LogGone';

  constructor(stream: string) {
    super(
      `the NATS servers have no stream ${stream} any more: it was deleted, or they lost their disks; no node can make prices until tickseal store --new-log was run on every data folder`,
    );
  }
}

/** The state of the servers. The cluster's leader requests it every few seconds. */
export interface ServerReport {
  /** The server to which this node is connected. */
  readonly ownServer?: string;
  /** The server that leads the log. Writes wait while no server leads it. */
  readonly logLeader?: string;
  /** The number of servers with a complete copy of the log, including the server that leads the log. */
  readonly currentCopies: number;
  /** The clock of the log's leader minus the clock of this machine. The error of this value is at most `clockErrorMs`. */
  readonly clockAheadMs: number;
  readonly clockErrorMs: number;
  /** True if the request moved the log's lead to another server. */
  readonly moved: boolean;
}
