import type { Damaged } from '../log/log_servers.js';

/** The time without an answer to the server that leads the log, after which a server counts as silent. A sound one answers each record. */
const SILENT_MS = 1_500;
/** The shortest time after which a silent server causes an election. */
const ELECTION_MS = 4_000;
/** The time for which the lead stays at a server that reaches more servers than the one before. */
const KEPT_MS = 600_000;

/** The state of the log's servers, according to the server that leads the log. */
export interface LogCopies {
  readonly leader: string | undefined;
  /** The server to which the writing node is connected. */
  readonly ownServer: string | undefined;
  /** The copies of the other servers. */
  readonly others: readonly LogCopy[];
}

interface LogCopy {
  readonly server: string;
  /** True when the copy is complete. */
  readonly isCurrent: boolean;
  /** The time since the last answer of the server to the server that leads the log. */
  readonly silentMs: number;
}

/**
 * Chooses the server that should lead the log, for two reasons:
 * 1. A server does not reach the lead. If only the link between these two is broken, the silent server would cause elections, each of
 *    which stops writes for 4 to 9 s. A third server may reach both. After an election the lead stays, because the server that led before
 *    is probably dead.
 * 2. The lead is at the server of the writing node. The loss of one machine would then stop both.
 */
export class LeadChoice {
  #keptUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * Returns the server to which the lead should move; `undefined` when the lead should stay.
   * @param damaged the servers that must not lead the log
   * @param nowMs a monotonic clock
   */
  next({ leader, ownServer, others }: LogCopies, damaged: Damaged, nowMs: number): string | undefined {
    const fit = others
      .filter((copy) => copy.isCurrent && copy.silentMs <= SILENT_MS && !damaged.has(copy.server))
      .map(({ server }) => server);
    const apart = fit.find((server) => server !== ownServer);
    if (others.some(({ silentMs }) => silentMs > SILENT_MS && silentMs < ELECTION_MS) && fit.length > 0) {
      this.#keptUntilMs = nowMs + KEPT_MS;
      return apart ?? fit[0];
    }
    return leader !== undefined && leader === ownServer && nowMs >= this.#keptUntilMs ? apart : undefined;
  }
}
