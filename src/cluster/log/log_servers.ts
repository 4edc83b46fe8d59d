/** Requests about the message servers themselves, for nodes that make prices. The log itself is not part of this interface. */
export interface LogServers {
  /** The reason why the server that this node has reached last cannot be used; `undefined` for a server that can be used. */
  readonly serverProblem: string | undefined;
  /**
   * Returns the state of the servers.
   * @param nowMs the wall clock
   * @param asksDisks true to ask each server of the log how soon it writes to its disk
   * @throws Error when no server answers, for example during an election among the servers
   */
  serverReport(nowMs: () => number, asksDisks: boolean): Promise<ServerReport>;
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
}

/** The state of the servers. Each node requests it every few seconds. */
export interface ServerReport {
  /** A sentence for each stream that the servers no longer have, because somebody deleted it or the servers lost their disks. */
  readonly goneStreams: readonly string[];
  /** The state of the log; absent when its stream is gone. */
  readonly log?: LogReport;
  /** The disks of the servers that keep the log, if they were asked for. */
  readonly disks?: readonly ServerDisk[] | undefined;
}

export interface LogReport {
  /** The number of servers with a complete copy of the log, including the server that leads the log. */
  readonly currentCopies: number;
  /** The clock of the log's leader minus the clock of this machine. The error of this value is at most `clockErrorMs`. */
  readonly clockAheadMs: number;
  readonly clockErrorMs: number;
}
