import {
  LOG_START,
  type LogExtent,
  type LogPosition,
  type LogRecord,
  RecordsMissing,
  WrongEnd,
} from '../../../src/cluster/bus.js';
import type { Random } from '../../random.js';
import type { Agenda } from './agenda.js';

export const SERVERS = 3;
/** The largest number of records in a read. */
const READ_MAX = 20;

/** The probabilities of network faults. */
export interface Weather {
  /** The probability that a message is lost. */
  loss: number;
  /** The probability that a message arrives twice. */
  duplicate: number;
  /** The probability that a message takes up to {@link lateMs}, so that later messages may arrive before it. */
  late: number;
  lateMs: number;
}

export const FAIR: Readonly<Weather> = { loss: 0, duplicate: 0, late: 0, lateMs: 0 };

export interface ServersOptions {
  readonly agenda: Agenda;
  readonly random: Random;
  /** Called when a record of a node has been committed. */
  readonly committed: (record: LogRecord) => void;
  /** Called when the servers have lost committed records. @param end the last remaining record */
  readonly lost?: (records: readonly LogRecord[], end: LogPosition) => void;
  /** The time for which the log keeps its records. */
  readonly retentionMs?: number;
}

/** A disk fault of a server: a record has a flipped bit or cannot be read. */
export type Damage = 'flipped' | 'missing';

/** The servers' view of a node. */
export interface Client {
  /** The server to which the node is connected. */
  server: number;
  readonly live: (record: LogRecord) => void;
}

/** Three message servers that share a log. Each server knows a part of the log. A server may be cut off from the others. */
export class MessageServers {
  readonly #options: ServersOptions;
  readonly #log: LogRecord[] = [];
  readonly #committedMs: number[] = [];
  #firstSequence = 1;
  readonly #foreign = new Set<string>();
  /** The damaged records of each server. */
  readonly #damaged: Map<number, Damage>[] = Array.from({ length: SERVERS }, () => new Map());
  /** The number of records that each server knows. */
  readonly #known = new Array<number>(SERVERS).fill(0);
  readonly #isCutOff = new Array<boolean>(SERVERS).fill(false);
  readonly #held: (() => void)[][] = Array.from({ length: SERVERS }, () => []);
  readonly clients = new Set<Client>();
  weather: Weather = { ...FAIR };
  /** The probability that a write is delayed, and the longest delay in ms. */
  slowWrites = { chance: 0, ms: 0 };
  /** The probability that a write is confirmed at the place of an older record, and is not stored. */
  misplacedWrites = 0;

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  get log(): readonly LogRecord[] {
    return this.#log;
  }

  get end(): LogPosition {
    return this.#log.at(-1) ?? LOG_START;
  }

  /** The sequence of the first remaining record; older records have expired. */
  get firstSequence(): number {
    const { agenda, retentionMs = Number.POSITIVE_INFINITY } = this.#options;
    const sinceMs = agenda.nowMs - retentionMs;
    while (this.#firstSequence <= this.#log.length && this.#committedMs[this.#firstSequence - 1]! < sinceMs)
      this.#firstSequence++;
    return this.#firstSequence;
  }

  /** Loses the newest records, like a power cut of all servers. */
  loseTail(count: number): void {
    const lost = this.#log.splice(Math.max(0, this.#log.length - count));
    this.#committedMs.length = this.#log.length;
    this.#firstSequence = Math.min(this.#firstSequence, this.#log.length + 1);
    for (let server = 0; server < SERVERS; server++) this.#forgetAfter(server, this.#log.length);
    this.#options.lost?.(lost, this.end);
  }

  /** Makes one server lose its newest records. After the fault, the server reads these records from the other servers. */
  forget(server: number, count: number): void {
    this.#forgetAfter(server, Math.max(0, this.#known[server]! - count));
  }

  /** Damages a record on the disk of one server. */
  damage(server: number, sequence: number, damage: Damage): void {
    this.#damaged[server]!.set(sequence, damage);
  }

  /** Stores a message that no node wrote, as if an answer had been sent to the subject of a record. */
  storeForeign({ id, bytes }: Pick<LogRecord, 'id' | 'bytes'>): void {
    const record = { sequence: this.#log.length + 1, id, bytes };
    this.#foreign.add(`${record.sequence} ${id}`);
    this.#store(record);
  }

  /** Returns true for a message that no node wrote; a node that restores lost records stores it again. */
  isForeign({ sequence, id }: LogPosition): boolean {
    return this.#foreign.has(`${sequence} ${id}`);
  }

  /** Returns true for a message that no node wrote, and for a record that a server has damaged. */
  isFaulty(place: LogPosition): boolean {
    const { sequence } = place;
    return this.isForeign(place) || this.#damaged.some((damaged) => damaged.get(sequence) === 'flipped');
  }

  /** Replaces the log by an empty log, like an operator. */
  empty(): void {
    this.loseTail(this.#log.length);
    for (const damaged of this.#damaged) damaged.clear();
  }

  #forgetAfter(server: number, sequence: number): void {
    this.#known[server] = Math.min(this.#known[server]!, sequence);
  }

  /** Cuts off a server. At most one server is cut off, so the other servers are the majority that commits. */
  cutOff(server: number): void {
    this.#isCutOff[server] = true;
  }

  heal(): void {
    for (let server = 0; server < SERVERS; server++) {
      this.#isCutOff[server] = false;
      for (const run of this.#held[server]!.splice(0)) run();
      this.#learn(server, this.#log.length);
    }
  }

  reach(from: Client, to: Client): boolean {
    return from.server === to.server || (!this.#isCutOff[from.server] && !this.#isCutOff[to.server]);
  }

  /** Returns the delay of a message; `undefined` when it is lost. */
  delayMs(): number | undefined {
    const { random } = this.#options;
    const { loss, late, lateMs } = this.weather;
    if (loss > 0 && random.chance(loss)) return undefined;
    return late > 0 && random.chance(late) ? random.between(0, lateMs) : random.between(0.2, 1);
  }

  /** Returns how many copies of a message arrive. */
  copies(): number {
    const { duplicate } = this.weather;
    return duplicate > 0 && this.#options.random.chance(duplicate) ? 2 : 1;
  }

  /**
   * Handles a write that arrived at a server. @param answered called when the write is committed or refused; never called for
   * a dropped write
   */
  append(
    server: number,
    after: LogPosition,
    id: string,
    bytes: Uint8Array,
    answered: (result: number | WrongEnd) => void,
  ): void {
    const { agenda, random } = this.#options;
    const isMisplaced = this.misplacedWrites > 0 && random.chance(this.misplacedWrites);
    const commit = () => answered(isMisplaced ? after.sequence : this.#commit(after, id, bytes));
    if (this.#isCutOff[server]) {
      // A server without a majority keeps the request, or forgets it.
      if (random.chance(0.5)) this.#held[server]!.push(commit);
      return;
    }
    const { chance, ms } = this.slowWrites;
    agenda.after(
      chance > 0 && random.chance(chance) ? random.between(0, ms) : random.between(0.5, 2),
      commit,
    );
  }

  /** @returns the error when the first of the records is missing on the server */
  read(server: number, afterSequence: number): LogRecord[] | RecordsMissing {
    const end = Math.min(this.#known[server]!, afterSequence + READ_MAX);
    if (afterSequence >= end) return [];
    if (afterSequence + 1 < this.firstSequence)
      return new RecordsMissing(
        `the log lacks the records ${afterSequence + 1} to ${this.firstSequence - 1}`,
      );
    const records: LogRecord[] = [];
    for (const record of this.#log.slice(afterSequence, end)) {
      const damage = this.#damaged[server]!.get(record.sequence);
      if (damage === 'missing') break;
      records.push(damage === undefined ? record : { ...record, bytes: flipped(record.bytes) });
    }
    const next = afterSequence + 1;
    return records.length > 0 ? records : new RecordsMissing(`the log lacks the records ${next} to ${next}`);
  }

  extent(server: number): LogExtent {
    const known = this.#known[server]!;
    return {
      firstSequence: Math.min(this.firstSequence, known + 1),
      last: this.#log[known - 1] ?? LOG_START,
    };
  }

  #commit(after: LogPosition, id: string, bytes: Uint8Array): number | WrongEnd {
    // If the log already has the record, the record is not appended again.
    const { end } = this;
    const sequence = after.sequence + 1;
    if (this.#log[after.sequence]?.id === id) return sequence;
    if (end.sequence !== after.sequence || (after.id !== '' && end.id !== after.id))
      return new WrongEnd(`the log ends with ${end.sequence} (${end.id})`);
    const record = { sequence, id, bytes };
    if (!this.isForeign(record)) this.#options.committed(record);
    this.#store(record);
    return sequence;
  }

  #store(record: LogRecord): void {
    const { agenda, random } = this.#options;
    this.#log.push(record);
    this.#committedMs.push(agenda.nowMs);
    // A record that replaces a damaged record is undamaged.
    for (const damaged of this.#damaged) damaged.delete(record.sequence);
    const slow = random.chance(0.05) ? 200 : 1;
    for (let server = 0; server < SERVERS; server++)
      if (!this.#isCutOff[server]) {
        agenda.after(random.between(0, slow), () => {
          if (!this.#isCutOff[server]) this.#learn(server, record.sequence);
        });
      }
  }

  /** Publishes a server's new records to the clients of that server. */
  #learn(server: number, sequence: number): void {
    const { agenda } = this.#options;
    for (let next = this.#known[server]! + 1; next <= Math.min(sequence, this.#log.length); next++) {
      this.#known[server] = next;
      const record = this.#log[next - 1]!;
      for (const client of this.clients) {
        if (client.server !== server) continue;
        for (let copies = this.copies(); copies > 0; copies--) {
          const delayMs = this.delayMs();
          if (delayMs !== undefined) agenda.after(delayMs, () => client.live(record));
        }
      }
    }
  }
}

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes);
  copy[copy.length >> 1]! ^= 4;
  return copy;
}
