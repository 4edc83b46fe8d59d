import type { ServerDisk } from '../log/log_servers.js';

/** The longest time for which a silent server's last answer counts, if the server takes part in writes. */
const ANSWER_MS_MAX = 30_000;

interface KnownDisk extends ServerDisk {
  readonly answeredMs: number;
}

/**
 * The disks of the servers that keep the log. Unless configured otherwise, a server acknowledges a record before it is on disk. No client
 * notices this before a power cut, so the nodes ask the servers at intervals.
 */
export class LogDisks {
  #known: readonly KnownDisk[] | undefined;

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
   * Notes the answers of the servers.
   * @param nowMs the time of a monotonic clock
   */
  note(disks: readonly ServerDisk[], nowMs: number): void {
    const before = new Map(this.#known?.map((disk) => [disk.server, disk]));
    this.#known = disks.map((disk) => {
      const last = before.get(disk.server);
      if (disk.syncMs !== undefined || last === undefined) return { ...disk, answeredMs: nowMs };
      // An absent server has acknowledged nothing since its last answer, so that answer still counts.
      const isOld = !disk.isAway && nowMs >= last.answeredMs + ANSWER_MS_MAX;
      return { ...disk, syncMs: isOld ? undefined : last.syncMs, answeredMs: last.answeredMs };
    });
  }
}

function doubtsOf({ server, syncMs }: ServerDisk): string[] {
  if (syncMs === 0) return [];
  if (syncMs === undefined) return [`NATS server ${server} does not say whether it syncs each write`];
  const interval = Number.isFinite(syncMs) ? `is ${syncMs / 1_000} s` : 'is unknown';
  return [`NATS server ${server} may forget in a power cut: its sync_interval ${interval}, not always`];
}
