import type { LogPosition, LogRecord } from '../../../src/cluster/bus.js';
import { decodeLogBatch } from '../../../src/cluster/log/log_batch.js';
import { decodeTickBatch } from '../../../src/cluster/ticks/tick_batch.js';
import { LEASE_MARGIN } from '../../../src/cluster/timing.js';
import { readEntry } from './sample.js';

interface Epoch {
  readonly epoch: number;
  readonly run: string | undefined;
  /** The time at which the claim was written to the log, or was restored. */
  atMs: number;
  isOver: boolean;
}

/** A record that was committed, and the state of the log up to it. */
interface Committed {
  readonly sequence: number;
  /** The ID of the previous record that has an effect. */
  readonly after: string;
  readonly current: Epoch | undefined;
  readonly signedAtUs: number;
  /** The time at which the newest aggregate up to this record was committed; 0 before the first aggregate. */
  readonly aggregatedMs: number;
  /** The updates of the record, and their assets. */
  readonly inputs: readonly { readonly asset: number; readonly value: number }[];
  isLost: boolean;
}

/** The part of a node that the checks at the end of a run need. */
export interface NodeAtEnd {
  readonly name: string;
  /** The last record with an effect that the node has applied. */
  readonly lastId: string;
  readonly hasStopped: boolean;
}

const STOPS_FOR_DATA =
  /the log (?:has lost|lacks)|it follows (?:a damaged )?record|is of epoch|not its place/;

/**
 * The invariants of the simulation. This class observes all events and reports violations. The servers may lose records. The log
 * then continues as if the lost records had never been written. A node that has applied a lost record must stop, unless the log
 * regains the record.
 */
export class Invariants {
  readonly violations: string[] = [];
  readonly #nowMs: () => number;
  readonly #tickLeaseMs: number;
  #epochs: readonly Epoch[] = [];
  readonly #values = new Map<string, number>();
  /** The records of each update. */
  readonly #logged = new Map<number, Committed[]>();
  readonly #aggregated = new Set<number>();
  readonly #assetOf = new Map<number, number>();
  readonly #acknowledged = new Set<number>();
  readonly #refused = new Set<number>();
  /** The process that wrote each record first, by the record's ID. */
  readonly #authors = new Map<string, string>();
  readonly #committed = new Map<string, Committed>();
  /** The highest sequence that a record's author knew when the author wrote the record, by the record's ID. */
  readonly #heardOf = new Map<string, number>();
  #last: Committed | undefined;
  /**
   * The number of times with a second value, after the servers lost the record of the first value. A new leader skips a random
   * part of a millisecond to prevent this; the long tests allow none.
   */
  repeatedTimes = 0;
  /** True when the servers have lost records, so that a node may stop. */
  hasLostData = false;

  readonly #tell: ((what: string) => void) | undefined;

  constructor(nowMs: () => number, tickLeaseMs: number, tell?: (what: string) => void) {
    this.#nowMs = nowMs;
    this.#tickLeaseMs = tickLeaseMs;
    this.#tell = tell;
  }

  get epochCount(): number {
    return this.#epochs.length;
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  /**
   * Checks the write of a process: the process must have applied the record that the write names. Any process may write a lost
   * record again.
   */
  writes(run: string, after: LogPosition, applied: LogPosition, id: string): void {
    if (this.#committed.has(id)) return;
    if (!this.#authors.has(id)) this.#authors.set(id, run);
    if (after.sequence !== applied.sequence || (after.id !== '' && after.id !== applied.id))
      this.#violated(`${run} writes after record ${after.sequence}, and has applied ${applied.sequence}`);
  }

  /** Records the highest sequence that other aggregators have reported to the author of a record. */
  knows(id: string, reportedMax: number): void {
    this.#heardOf.set(id, reportedMax);
  }

  /** Returns the process that wrote a record; `undefined` when none of the nodes wrote it. */
  authorOf(id: string): string | undefined {
    return this.#authors.get(id);
  }

  /** Checks a new record of the servers. Each epoch must have a single author, and epochs and signed times must grow. */
  committed({ sequence, id, bytes }: LogRecord): void {
    const known = this.#committed.get(id);
    if (known !== undefined) {
      this.#tell?.(`record ${sequence} is in the log again`);
      // A node has restored a lost record.
      known.isLost = false;
      const { current } = known;
      if (current?.epoch === sequence && !this.#epochs.includes(current)) {
        current.atMs = this.#nowMs();
        this.#epochs = [...this.#epochs, current];
      }
      this.#last = known;
      return;
    }
    const { epoch, claim, entries, after } = decodeLogBatch(bytes);
    const run = this.authorOf(id);
    let current = this.#last?.current;
    if (claim !== undefined && !claim.resign) {
      if ((this.#heardOf.get(id) ?? 0) >= sequence)
        this.#violated(
          `${run} claims record ${sequence}, and knows that the log had ${this.#heardOf.get(id)}`,
        );
      if (current !== undefined && epoch <= current.epoch)
        this.#violated(`record ${sequence} claims epoch ${epoch} after epoch ${current.epoch}`);
      current = { epoch, run, atMs: this.#nowMs(), isOver: false };
      this.#epochs = [...this.#epochs, current];
    } else if (current === undefined || epoch !== current.epoch || run !== current.run || current.isOver)
      this.#violated(
        `record ${sequence} of ${run} in epoch ${epoch} follows epoch ${current?.epoch} of ${current?.run}`,
      );
    else if (claim !== undefined) current.isOver = true;
    const inputs: { asset: number; value: number }[] = [];
    let lastUs = this.#last?.signedAtUs ?? 0;
    for (const entry of entries) {
      const { isInput, asset, value, before, signedAtUs } = readEntry(entry);
      if (isInput) {
        for (const one of [...before, value])
          if (one === value || !this.#logged.has(one) || this.#isLost(one))
            inputs.push({ asset, value: one });
      } else {
        if (!this.#logged.has(value) && !inputs.some((one) => one.value === value))
          this.#violated(`record ${sequence} has ${value} before its input`);
        if (signedAtUs <= lastUs) this.#violated(`record ${sequence} has time ${signedAtUs} after ${lastUs}`);
        lastUs = signedAtUs;
        this.shown(asset, value, signedAtUs);
        if (this.#aggregated.has(value) && !this.#isLost(value))
          this.#violated(`record ${sequence} has update ${value} for a second time`);
        this.#aggregated.add(value);
        // The newer update that caused this refusal may be lost.
        if (this.#refused.has(value) && !this.hasLostData)
          this.#violated(`record ${sequence} has update ${value}, which was refused`);
      }
    }
    if (claim !== undefined || entries.length > 0)
      this.#tell?.(`record ${sequence} of ${run} in epoch ${epoch}${claim === undefined ? '' : ', a claim'}`);
    const hasAggregates = entries.some(({ publisherKey }) => publisherKey === undefined);
    const aggregatedMs = hasAggregates ? this.#nowMs() : (this.#last?.aggregatedMs ?? 0);
    this.#last = { sequence, after, current, signedAtUs: lastUs, aggregatedMs, inputs, isLost: false };
    this.#committed.set(id, this.#last);
    for (const { value } of inputs) {
      const records = this.#logged.get(value);
      if (records === undefined) this.#logged.set(value, [this.#last]);
      else records.push(this.#last);
    }
  }

  /** Records that the servers have lost records. `log` contains the remaining records. */
  lost(records: readonly LogRecord[], log: readonly LogRecord[]): void {
    this.hasLostData = true;
    for (const { id } of records) {
      const committed = this.#committed.get(id);
      if (committed === undefined) continue;
      committed.isLost = true;
      // A lost claim ends no other epoch: according to the log, the previous leader still leads.
      const { current } = committed;
      if (current?.epoch === committed.sequence)
        this.#epochs = this.#epochs.filter((epoch) => epoch !== current);
    }
    this.#last = undefined;
    for (let place = log.length - 1; place >= 0 && this.#last === undefined; place--)
      this.#last = this.#at(log[place]!);
  }

  /** Checks an aggregate that a reader could have received. */
  shown(asset: number, value: number, signedAtUs: number): void {
    const name = `${asset} at ${signedAtUs}`;
    const other = this.#values.get(name);
    if (other !== undefined && other !== value) {
      if (this.#isLost(other) || this.#isLost(value)) this.repeatedTimes++;
      else this.#violated(`asset ${name} is ${other} and ${value}`);
    }
    this.#values.set(name, value);
  }

  /** Records an update of a publisher. */
  published(asset: number, value: number): void {
    this.#assetOf.set(value, asset);
  }

  /** Checks a price that a node shows its readers. A publisher must have published the price for this asset. */
  priced(node: string, asset: number, value: number): void {
    if (this.#assetOf.get(value) !== asset)
      this.#violated(`${node} shows ${value} of asset ${this.#assetOf.get(value)} as asset ${asset}`);
  }

  /**
   * Checks a record that a node applies. The log must contain the record, or have contained it before the servers lost it, and it
   * must follow the last record that the node has applied.
   */
  applies(
    node: string,
    { sequence, id }: LogPosition,
    log: readonly LogRecord[],
    chain: { readonly after: string; readonly lastId: string },
  ): void {
    if (log[sequence - 1]?.id !== id && this.#committed.get(id)?.isLost !== true)
      this.#violated(`${node} applies ${sequence} (${id}), and the log has ${log[sequence - 1]?.id}`);
    if (chain.lastId !== '' && chain.after !== '' && chain.after !== chain.lastId)
      this.#violated(`${node} applies ${sequence}, which follows ${chain.after} and not ${chain.lastId}`);
  }

  /** Checks a node that begins to lead: it must have the newest update of each asset still in the log. */
  leads(node: string, prices: ReadonlyMap<number, number>, log: readonly LogRecord[], epoch: number): void {
    // The servers may have lost the claim.
    if (log.at(-1)?.sequence !== epoch) return;
    const newest = new Map<number, number>();
    for (const record of log)
      for (const { asset, value } of this.#at(record)?.inputs ?? []) newest.set(asset, value);
    for (const [asset, value] of newest)
      if (prices.get(asset) !== value)
        this.#violated(
          `${node} leads with update ${prices.get(asset)} of asset ${asset}, and the log has ${value}`,
        );
  }

  /** Checks the log of a node that has led for a while: a new node must find each asset's input in it. */
  keepsInputs(node: string, prices: ReadonlyMap<number, number>, log: readonly LogRecord[]): void {
    const kept = new Set(log.flatMap((record) => this.#at(record)?.inputs.map(({ asset }) => asset) ?? []));
    for (const asset of prices.keys())
      if (!kept.has(asset))
        this.#violated(`${node} leads, and the log no longer has an input of asset ${asset}`);
  }

  /** Checks a node's ticks. The ticks of an epoch must end soon after another epoch has begun. */
  ticks(node: string, bytes: Uint8Array): void {
    const { epoch } = decodeTickBatch(bytes);
    const place = this.#epochs.findLastIndex((one) => one.epoch === epoch);
    const next = place === -1 ? undefined : this.#epochs[place + 1];
    const lateMs = next === undefined ? 0 : this.#nowMs() - next.atMs;
    if (lateMs > this.#tickLeaseMs * LEASE_MARGIN)
      this.#violated(`${node} ticks in epoch ${epoch} ${lateMs} ms after epoch ${next!.epoch} began`);
  }

  /** Records a durable acknowledgement to a publisher. */
  acknowledged(value: number): void {
    this.#acknowledged.add(value);
  }

  /**
   * Records that a publisher's update was refused. A refused update must never take effect. The servers may have lost the update
   * earlier.
   */
  refused(value: number): void {
    this.#refused.add(value);
    if (this.#aggregated.has(value) && !this.#isLost(value))
      this.#violated(`update ${value} is refused, and the log has it`);
  }

  /** Checks that a node may skip this record. @param isFaulty true if no node wrote the record, or a server's copy is damaged */
  skipped(node: string, reason: string, isFaulty: boolean): void {
    if (!isFaulty) this.#violated(`${node} skips a record: ${reason}`);
  }

  /** Checks that a node may stop. @param couldRestore true if the node has all records that the log has lost */
  fatal(node: string, reason: string, couldRestore = false): void {
    if (!this.hasLostData || !STOPS_FOR_DATA.test(reason)) this.#violated(`${node} cannot go on: ${reason}`);
    else if (couldRestore) this.#violated(`${node} stops, and has what the log lost: ${reason}`);
  }

  /** Returns whether a node that has applied the record `lastId` has applied the earlier record `id`. */
  hasApplied(lastId: string, id: string): boolean {
    const record = this.#committed.get(id);
    return id === '' || (record !== undefined && this.#isInChain(lastId, record));
  }

  /**
   * Checks that the log has every update that was acknowledged as durable. If the servers have lost the update, each node that
   * has applied it must have stopped.
   */
  end(nodes: readonly NodeAtEnd[] = []): void {
    for (const value of this.#acknowledged) {
      const records = this.#logged.get(value);
      if (records === undefined) this.#violated(`update ${value} was durable, and the log lacks it`);
      else if (this.#isLost(value))
        for (const { name, lastId, hasStopped } of nodes)
          if (!hasStopped && records.some((record) => this.#isInChain(lastId, record)))
            this.#violated(
              `update ${value} was durable, the log lacks it, and ${name}, which has it, goes on`,
            );
    }
  }

  /** Returns the time of the newest aggregate that a node has when it has applied the record `lastId`. */
  aggregatedMs(lastId: string): number {
    return this.#committed.get(lastId)?.aggregatedMs ?? 0;
  }

  /**
   * Gives up the durable updates that are lost when an operator continues with a new log.
   * @param lastId the last applied record of the folder with which the new log begins
   * @param silentIds the last applied records of the nodes that have not stopped: none of them may have a lost update
   */
  giveUp(lastId: string, silentIds: readonly string[]): void {
    for (const value of this.#acknowledged) {
      const records = this.#logged.get(value) ?? [];
      const isIn = (last: string) => records.some((record) => this.#isInChain(last, record));
      if (isIn(lastId)) continue;
      if (silentIds.some(isIn))
        this.#violated(`update ${value} was durable and is lost, and a node that has it is silent`);
    }
    this.#acknowledged.clear();
  }

  unsettled(reason: string): void {
    this.#violated(`after the last heal ${reason}`);
  }

  /** Returns a record of the log; `undefined` for a copy at another place, and for a record that no node wrote. */
  #at({ sequence, id }: LogPosition): Committed | undefined {
    const record = this.#committed.get(id);
    return record?.sequence === sequence ? record : undefined;
  }

  #isLost(value: number): boolean {
    return this.#logged.get(value)?.every(({ isLost }) => isLost) ?? false;
  }

  /** Returns whether a record is the record `lastId` or an earlier record. */
  #isInChain(lastId: string, record: Committed): boolean {
    let one = this.#committed.get(lastId);
    while (one !== undefined && one.sequence > record.sequence) one = this.#committed.get(one.after);
    return one === record;
  }

  #violated(what: string): void {
    this.violations.push(`${this.#nowMs().toFixed(1)} ms: ${what}`);
    this.#tell?.(`BROKEN RULE: ${what}`);
  }
}
