import type { LogServers, ServerDisk } from '../cluster/log/log_servers.js';

export interface LogDisksOptions {
  readonly servers: Pick<LogServers, 'serverDisks'>;
  /** Called when {@link LogDisks.doubt} changes, with a sentence for the operator. */
  readonly onChanged: (doubt: string | undefined) => void;
}

const ASK_MS = 10_000;
/** The minimum and maximum interval between requests while servers do not answer. */
const [RETRY_MS_MIN, RETRY_MS_MAX] = [1_000, 60_000];
/** The longest time for which a silent server's last answer counts, if the server takes part in writes. */
const ANSWER_MS_MAX = 30_000;

interface KnownDisk extends ServerDisk {
  readonly answeredMs: number;
}

/**
 * The disks of the servers that keep the log. Unless configured otherwise, a server acknowledges a record before it is on disk. No client
 * notices this before a power cut. So this class asks the servers at intervals.
 */
export class LogDisks {
  readonly #options: LogDisksOptions;
  #known: readonly KnownDisk[] | undefined;
  #failures = 0;
  #isAsking = false;
  #askMs = Number.NEGATIVE_INFINITY;
  #doubt: string | undefined;

  constructor(options: LogDisksOptions) {
    this.#options = options;
  }

  /** The number of servers that may lose acknowledged records in a power cut; `undefined` before the first answer. */
  get forgetfulCount(): number | undefined {
    return this.#known?.filter(({ syncMs }) => syncMs !== 0).length;
  }

  /** The reason why a power cut may lose an acknowledged record; `undefined` when all acknowledged records are on disk. */
  get doubt(): string | undefined {
    if (this.#known === undefined) return 'the NATS servers have not said yet whether they sync each write';
    const doubts = this.#known.flatMap(doubtsOf);
    return doubts.length === 0 ? undefined : doubts.join(', ');
  }

  /**
   * Asks the servers when a request is due.
   * @param nowMs the time of a monotonic clock
   */
  tick(nowMs: number): void {
    if (this.#isAsking || nowMs < this.#askMs) return;
    this.#isAsking = true;
    this.#options.servers
      .serverDisks()
      .then(
        (disks) => this.#note(disks, nowMs),
        // During an election the servers neither answer nor accept writes.
        () => this.#askAgain(nowMs),
      )
      .finally(() => {
        this.#isAsking = false;
      });
  }

  #note(disks: readonly ServerDisk[], nowMs: number): void {
    const before = new Map(this.#known?.map((disk) => [disk.server, disk]));
    this.#known = disks.map((disk) => {
      const last = before.get(disk.server);
      if (disk.syncMs !== undefined || last === undefined) return { ...disk, answeredMs: nowMs };
      // An absent server has acknowledged nothing since its last answer, so that answer still counts.
      const isOld = !disk.isAway && nowMs >= last.answeredMs + ANSWER_MS_MAX;
      return { ...disk, syncMs: isOld ? undefined : last.syncMs, answeredMs: last.answeredMs };
    });
    if (disks.some(({ syncMs, isAway }) => syncMs === undefined && !isAway)) this.#askAgain(nowMs);
    else {
      this.#failures = 0;
      this.#askMs = nowMs + ASK_MS;
    }
    const { doubt } = this;
    if (doubt !== this.#doubt) this.#options.onChanged(doubt);
    this.#doubt = doubt;
  }

  #askAgain(nowMs: number): void {
    this.#askMs = nowMs + Math.min(RETRY_MS_MIN * 2 ** this.#failures++, RETRY_MS_MAX);
  }
}

function doubtsOf({ server, syncMs }: ServerDisk): string[] {
  if (syncMs === 0) return [];
  if (syncMs === undefined) return [`NATS server ${server} does not say whether it syncs each write`];
  const interval = Number.isFinite(syncMs) ? `is ${syncMs / 1_000} s` : 'is unknown';
  return [`NATS server ${server} may forget in a power cut: its sync_interval ${interval}, not always`];
}
