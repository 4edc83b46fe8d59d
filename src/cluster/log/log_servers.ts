/** The interface to the servers, beside the log itself, for nodes that make prices. */
export interface LogServers {
  /**
   * Returns the state of the servers. @param nowMs the wall clock @throws LogGone when the servers have no log; Error when no server
   * answers, for example during an election among the servers
   */
  serverReport(nowMs: () => number): Promise<ServerReport>;
  /** Returns the same state for the leader, and moves the log's lead off the server of this node. */
  keepLogLeaderApart(nowMs: () => number): Promise<ServerReport>;
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

/** The state of the servers that the leader of the cluster requests every few seconds. */
export interface ServerReport {
  /** The server that this node is connected to. */
  readonly ownServer?: string;
  /** The server that leads the log; writes wait while there is none. */
  readonly logLeader?: string;
  /** The number of servers that have a whole copy of the log, including the leader. */
  readonly currentCopies: number;
  /** The time by which the log leader's clock is ahead of this machine's; the true value is within `clockErrorMs` of it. */
  readonly clockAheadMs: number;
  readonly clockErrorMs: number;
  /** True when the log's lead was moved from the own server to another one. */
  readonly moved: boolean;
}
