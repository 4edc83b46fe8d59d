/** The interface to the servers for nodes that make prices. The interface does not include the log itself. */
export interface LogServers {
  /**
   * Returns the state of the servers.
   * @param nowMs the wall clock
   * @throws LogGone when the servers have no log
   * @throws Error when no server answers, for example during an election among the servers
   */
  serverReport(nowMs: () => number): Promise<ServerReport>;
  /**
   * Returns the same state to the leader. If the server of this node leads the log, this function moves the log's lead to
   * another server.
   */
  keepLogLeaderApart(nowMs: () => number): Promise<ServerReport>;
  /**
   * Asks each server that keeps the log when the server writes to its disk.
   * @throws Error when no server can name the servers that keep the log, for example during an election
   */
  serverDisks(): Promise<readonly ServerDisk[]>;
}

/** A server that keeps the log, and the server's disk. */
export interface ServerDisk {
  readonly server: string;
  /** True when the other servers report that this server is offline. The server then participates in no writes. */
  readonly isAway: boolean;
  /**
   * The longest time, in ms, from a record's acknowledgement to its `fsync`. The time is 0 when the server acknowledges only
   * after `fsync`. `undefined` when the server did not answer.
   */
  readonly syncMs: number | undefined;
}

/** The error for a log that the servers no longer have, because somebody deleted the log or because the servers lost their disks. */
export class LogGone extends Error {
  override readonly name = 'LogGone';

  constructor(stream: string) {
    super(
      `the NATS servers have no stream ${stream} any more: it was deleted, or they lost their disks; no node can make prices until tickseal store --new-log was run on every data folder`,
    );
  }
}

/** The state of the servers. The leader of the cluster requests this state every few seconds. */
export interface ServerReport {
  /** The server to which this node is connected. */
  readonly ownServer?: string;
  /** The server that leads the log. Writes wait while no server leads the log. */
  readonly logLeader?: string;
  /** The number of servers that have a complete copy of the log, including the log's leader. */
  readonly currentCopies: number;
  /**
   * The difference between the clock of the log's leader and the clock of this machine; positive if the leader's clock is
   * ahead. The true difference is within `clockErrorMs` of this value.
   */
  readonly clockAheadMs: number;
  readonly clockErrorMs: number;
  /** True if the log's lead was moved from this node's server to another server. */
  readonly moved: boolean;
}
