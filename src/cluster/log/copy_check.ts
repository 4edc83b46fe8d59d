import type { LogPosition } from '../bus.js';
import type { Damaged, LogLead, LogServers } from './log_servers.js';
import { recordId } from './record_chain.js';
import { RecordHashes } from './record_hashes.js';

export interface CopyCheckOptions {
  readonly servers: Pick<LogServers, 'logLead' | 'leadersRecord' | 'moveLogLead' | 'serverDisks'>;
  /** Returns true on the one node that checks: the leader of the cluster. */
  readonly leads: () => boolean;
  /** Called when {@link CopyCheck.reason} changes, with the reason. */
  readonly onChanged: (reason: string | undefined) => void;
  readonly hashes?: RecordHashes;
}

const CHECK_MS = 1_000;
/** The largest number of records that a node reads again in a second, for which it needs about 3 % of a core. */
export const CHECKED_RECORDS_MAX = 100;
/** The number of bytes after which a node reads no further record in the same second. */
const CHECKED_BYTES_MAX = 1024 * 1024;
/** The shortest time between the beginnings of two passes over the same copy. */
const PASS_MS = 60_000;
/** The interval between attempts to move the lead of the log. An election among the servers takes up to 9 s. */
const MOVE_MS = 10_000;
/** The interval between requests for the processes of the servers, while a copy is damaged. */
const RUNS_MS = 10_000;

/** The difference between a server's copy and the record that this node has applied. */
interface CopyDamage {
  readonly sequence: number;
  readonly fault: string;
  /** The process of the server that had the damage; `undefined` until the server names it. */
  readonly run: string | undefined;
}

/**
 * Reads the records of the log again, slowly, and compares them with the hashes of the records that this node has applied. A server may
 * lose or change a record after its commit, for example when its disk flips a bit. No node reads an applied record again, so without this
 * check, no node would notice, and the server could pass the damage on to the other servers when it leads the log.
 *
 * Only the copy of the server that leads the log is read, because any server may answer other reads. So a damaged copy is found when its
 * server leads the log. Then another server with a complete copy takes the lead. The newest records are read first.
 */
export class CopyCheck {
  readonly #options: CopyCheckOptions;
  readonly #hashes: RecordHashes;
  readonly #damaged = new Map<string, CopyDamage>();
  /** The server whose copy is being read. */
  #server: string | undefined;
  /** The sequence of the next record to read; below the first record when the pass is over. */
  #next = 0;
  #passMs = 0;
  #dueMs = 0;
  #moveMs = 0;
  #runsMs = 0;
  #isChecking = false;
  #reason: string | undefined;

  constructor(options: CopyCheckOptions) {
    this.#options = options;
    this.#hashes = options.hashes ?? new RecordHashes();
  }

  /** The number of servers whose copies are damaged. */
  get damagedCount(): number {
    return this.#damaged.size;
  }

  /** The servers that must not lead the log. */
  get damaged(): Damaged {
    return this.#damaged;
  }

  /** The names of the damaged servers and of a record that each of them lacks; `undefined` when no copy is known to be damaged. */
  get reason(): string | undefined {
    if (this.#damaged.size === 0) return undefined;
    const texts = [...this.#damaged].map(
      ([server, { fault, sequence }]) => `NATS server ${server} ${fault} record ${sequence} of the log`,
    );
    return `${texts.join(', ')}: see "When a server damages its copy" in CLUSTER.md`;
  }

  /** Notes an applied record. */
  applied(position: LogPosition): void {
    this.#hashes.add(position);
  }

  /**
   * Reads the next records when they are due.
   * @param nowMs the time of a monotonic clock
   */
  tick(nowMs: number): void {
    if (this.#isChecking || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + CHECK_MS;
    if (!this.#options.leads()) {
      this.#stop();
      return;
    }
    this.#isChecking = true;
    this.#check(nowMs)
      // Servers do not answer during an election. The next check follows later.
      .catch(() => {})
      .finally(() => {
        this.#isChecking = false;
      });
  }

  /** Forgets what was found, because the new leader of the cluster finds it again. */
  #stop(): void {
    this.#server = undefined;
    this.#damaged.clear();
    this.#tell();
  }

  async #check(nowMs: number): Promise<void> {
    const { servers } = this.#options;
    await this.#noteRestarts(nowMs);
    const lead = await servers.logLead();
    this.#begin(lead, nowMs);
    const damage = await this.#readNext(lead);
    if (damage === undefined) return;
    const after = await servers.logLead();
    // If another server leads now, it is not known which server has answered.
    if (after.server !== lead.server || damage.sequence < after.firstSequence) return;
    if (!this.#options.leads()) return;
    this.#damaged.set(lead.server, { ...damage, run: this.#damaged.get(lead.server)?.run });
    this.#next = damage.sequence;
    this.#tell();
    if (nowMs < this.#moveMs) return;
    this.#moveMs = nowMs + MOVE_MS;
    await servers.moveLogLead(this.#damaged);
  }

  /** Begins a pass, with the newest record, or with the known damage of the server. */
  #begin({ server, firstSequence, lastSequence }: LogLead, nowMs: number): void {
    const isOver = this.#next < Math.max(firstSequence, this.#hashes.first);
    if (server === this.#server && (!isOver || nowMs < this.#passMs + PASS_MS)) return;
    this.#server = server;
    this.#passMs = nowMs;
    this.#next = this.#damaged.get(server)?.sequence ?? Math.min(lastSequence, this.#hashes.last);
  }

  /** @returns the damage of the first record that differs */
  async #readNext({ server, firstSequence }: LogLead): Promise<Omit<CopyDamage, 'run'> | undefined> {
    const first = Math.max(firstSequence, this.#hashes.first);
    let bytes = 0;
    for (let count = 0; count < CHECKED_RECORDS_MAX && bytes < CHECKED_BYTES_MAX; count++, this.#next--) {
      const sequence = this.#next;
      if (sequence < first) break;
      if (!this.#hashes.has(sequence)) continue;
      const { size, fault } = await this.#read(sequence);
      // A second read rules out an answer that was given during an election.
      if (fault !== undefined && (await this.#read(sequence)).fault !== undefined) return { sequence, fault };
      bytes += size;
      if (this.#damaged.get(server)?.sequence === sequence) this.#repaired(server);
    }
    return undefined;
  }

  async #read(sequence: number): Promise<{ readonly size: number; readonly fault?: string }> {
    const record = await this.#options.servers.leadersRecord(sequence);
    if (record === undefined) return { size: 0, fault: 'has lost' };
    const { id, bytes } = record;
    const isSame = recordId(bytes) === id && this.#hashes.isId(sequence, id) !== false;
    return { size: bytes.length, ...(!isSame && { fault: 'has changed' }) };
  }

  /**
   * Trusts a server again after its restart, because an operator may have replaced its copy. If not, the check finds the damage again when
   * the server leads the log.
   */
  async #noteRestarts(nowMs: number): Promise<void> {
    if (this.#damaged.size === 0 || nowMs < this.#runsMs) return;
    this.#runsMs = nowMs + RUNS_MS;
    const disks = await this.#options.servers.serverDisks().catch(() => []);
    for (const { server, run } of disks) {
      const damage = this.#damaged.get(server);
      if (damage === undefined || run === undefined) continue;
      if ((damage.run ?? run) === run) this.#damaged.set(server, { ...damage, run });
      else this.#repaired(server);
    }
  }

  #repaired(server: string): void {
    this.#damaged.delete(server);
    this.#tell();
  }

  #tell(): void {
    const { reason } = this;
    if (reason !== this.#reason) this.#options.onChanged(reason);
    this.#reason = reason;
  }
}
