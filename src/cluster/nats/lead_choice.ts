import type { Damaged } from '../log/log_servers.js';

/** The time without an answer to the server that leads the log, after which a server counts as silent. A sound one answers each record. */
const SILENT_MS = 1_500;
/** The time for which the lead stays at a server that reaches more servers than the one before. */
const KEPT_MS = 60_000;

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
 *    which stops writes for 4 to 9 s. A third server may reach both. If the silent server is dead, no server reaches it, so only one other
 *    server is tried.
 * 2. The lead is at the server of the writing node. The loss of one machine would then stop both.
 */
export class LeadChoice {
  /** The silent servers for which the lead has already moved. */
  readonly #tried = new Set<string>();
  /** The silent servers for which the lead moves next. */
  #trying: readonly string[] = [];
  #keptUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * Returns the server to which the lead should move; `undefined` when the lead should stay.
   * @param damaged the servers that must not lead the log
   * @param nowMs a monotonic clock
   */
  next({ leader, ownServer, others }: LogCopies, damaged: Damaged, nowMs: number): string | undefined {
    const silent = others.filter(({ silentMs }) => silentMs > SILENT_MS);
    const fit = others
      .filter((copy) => copy.isCurrent && !silent.includes(copy) && !damaged.has(copy.server))
      .map(({ server }) => server);
    const apart = fit.find((server) => server !== ownServer);
    for (const { server } of others.filter((copy) => !silent.includes(copy))) this.#tried.delete(server);
    const isNew = silent.some(({ server }) => !this.#tried.has(server)) && fit.length > 0;
    this.#trying = isNew ? silent.map(({ server }) => server) : [];
    if (isNew) return apart ?? fit[0];
    const isKept = this.#tried.size === 0 && nowMs < this.#keptUntilMs;
    return leader !== undefined && leader === ownServer && !isKept ? apart : undefined;
  }

  /** Notes that the lead has moved to the chosen server. */
  moved(nowMs: number): void {
    if (this.#trying.length > 0) this.#keptUntilMs = nowMs + KEPT_MS;
    for (const server of this.#trying) this.#tried.add(server);
  }
}
