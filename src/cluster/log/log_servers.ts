/** What the nodes that make prices ask of the servers beside the log itself. */
export interface LogServers {
  /** @param nowMs the wall clock @throws Error when no server answers, as in an election among them */
  serverReport(nowMs: () => number): Promise<ServerReport>;
  /** The same for the leader: moves the log's lead off the server of this node. */
  keepLogLeaderApart(nowMs: () => number): Promise<ServerReport>;
}

/** What the leader of the cluster should know of the servers every few seconds. */
export interface ServerReport {
  /** The server that this node is connected to. */
  readonly ownServer?: string;
  /** The server that leads the log; writes wait while there is none. */
  readonly logLeader?: string;
  /** Servers that have a whole copy of the log, the leader included. */
  readonly currentCopies: number;
  /** How far the log leader's clock is ahead of this machine's; the true value is within `clockErrorMs` of it. */
  readonly clockAheadMs: number;
  readonly clockErrorMs: number;
  /** Whether the log's lead was handed to another server, away from the own one. */
  readonly moved: boolean;
}
