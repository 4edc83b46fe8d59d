/** The interface to the servers for nodes that make prices. The interface does not include the log itself. */
export interface LogServers {
  /**
   * Returns the state of the servers.
   * @param nowMs the wall clock
   * @throws LogGone when the servers have no log; Error when no server answers, for example during an election among the servers
   */
  serverReport(nowMs: () => number): Promise<ServerReport>;
  /**
   * Returns the same state to the leader. If the server of this node leads the log, this function moves the log's lead to
   * another server.
   */
  keepLogLeaderApart(nowMs: () => number): Promise<ServerReport>;
  /**
   * Asks each server that keeps the log when it writes to its disk.
   * @throws Error when no server names those that keep the log, for example during an election among the servers
   */
  serverDisks(): Promise<readonly ServerDisk[]>;
}

/** A server that keeps the log, and its disk. */
export interface ServerDisk {
  readonly server: string;
  /** True when the server is known to be away: it takes part in no write. */
  readonly isAway: boolean;
  /**
   * The longest time, in ms, after which a record is past `fsync`; 0 when a record is acknowledged only after it. `undefined` when
   * the server did not answer.
   */
  readonly syncMs: number | undefined;
}

/** The error for a log that the servers do not have any more: it was deleted, or they lost their disks. */
export class LogGone extends Error {
  override readonly name = 'LogGone';

  constructor(stream: string) {
    super(
      `the NATS servers have no stream ${stream} any more: it was deleted, or they lost their disks; no node can make prices until tickseal store --new-log was run on every data folder`,
    );
  }
}

/** The state of the servers. The leader of the cluster requests it every few seconds. */
export interface ServerReport {
  /** The server to which this node is connected. */
  readonly ownServer?: string;
  /** The server that leads the log. While no server leads the log, writes wait. */
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
