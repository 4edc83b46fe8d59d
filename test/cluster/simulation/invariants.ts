import type { LogPosition, LogRecord } from '../../../src/cluster/bus.js';
import { decodeLogBatch } from '../../../src/cluster/log/log_batch.js';
import { decodeTickBatch } from '../../../src/cluster/ticks/tick_batch.js';
import { LEASE_MARGIN } from '../../../src/cluster/timing.js';
import { readEntry } from './sample.js';

interface Epoch {
  readonly epoch: number;
  readonly run: string | undefined;
  readonly atMs: number;
  isOver: boolean;
}

/**
 * The rules that must hold at each moment of each schedule. This class sees all events of the simulation, and reports
 * violations.
 */
export class Invariants {
  readonly violations: string[] = [];
  readonly #nowMs: () => number;
  readonly #tickLeaseMs: number;
  readonly #epochs: Epoch[] = [];
  readonly #values = new Map<string, number>();
  readonly #logged = new Set<number>();
  readonly #assetOf = new Map<number, number>();
  readonly #acknowledged = new Set<number>();
  /** The process that wrote each record first, by the record's ID. */
  readonly #authors = new Map<string, string>();
  readonly #committed = new Set<string>();
  #signedAtUs = 0;

  constructor(nowMs: () => number, tickLeaseMs: number) {
    this.#nowMs = nowMs;
    this.#tickLeaseMs = tickLeaseMs;
  }

  get epochCount(): number {
    return this.#epochs.length;
  }

  get acknowledgedCount(): number {
    return this.#acknowledged.size;
  }

  /**
   * Checks the write of a process: the process must have applied the record that the write names. A record that was in the log
   * before may be written again by any process.
   */
  writes(run: string, after: LogPosition, applied: LogPosition, id: string): void {
    if (this.#committed.has(id)) return;
    if (!this.#authors.has(id)) this.#authors.set(id, run);
    if (after.sequence !== applied.sequence || (after.id !== '' && after.id !== applied.id))
      this.#violated(`${run} writes after record ${after.sequence}, and has applied ${applied.sequence}`);
  }

  /** Returns the process that wrote a record; `undefined` when none of the nodes wrote it. */
  authorOf(id: string): string | undefined {
    return this.#authors.get(id);
  }

  /** Checks a new record of the servers. Each epoch must have a single author, and epochs and signed times must grow. */
  committed({ sequence, id, bytes }: LogRecord): void {
    if (this.#committed.has(id)) return;
    this.#committed.add(id);
    const { epoch, claim, entries } = decodeLogBatch(bytes);
    const run = this.authorOf(id);
    const current = this.#epochs.at(-1);
    if (claim !== undefined && !claim.resign) {
      if (current !== undefined && epoch <= current.epoch)
        this.#violated(`record ${sequence} claims epoch ${epoch} after epoch ${current.epoch}`);
      this.#epochs.push({ epoch, run, atMs: this.#nowMs(), isOver: false });
    } else if (current === undefined || epoch !== current.epoch || run !== current.run || current.isOver)
      this.#violated(
        `record ${sequence} of ${run} in epoch ${epoch} follows epoch ${current?.epoch} of ${current?.run}`,
      );
    else if (claim !== undefined) current.isOver = true;
    for (const entry of entries) {
      const { isInput, asset, value, before, signedAtUs } = readEntry(entry);
      if (isInput) for (const one of [value, ...before]) this.#logged.add(one);
      else {
        if (!this.#logged.has(value)) this.#violated(`record ${sequence} has ${value} before its input`);
        if (signedAtUs <= this.#signedAtUs)
          this.#violated(`record ${sequence} has time ${signedAtUs} after ${this.#signedAtUs}`);
        this.#signedAtUs = signedAtUs;
        this.shown(asset, value, signedAtUs);
      }
    }
  }

  /** Checks an aggregate that a reader could see. */
  shown(asset: number, value: number, signedAtUs: number): void {
    const name = `${asset} at ${signedAtUs}`;
    const other = this.#values.get(name);
    if (other !== undefined && other !== value) this.#violated(`asset ${name} is ${other} and ${value}`);
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

  /** Checks a record that a node applies. The log must contain the record. */
  applies(node: string, { sequence, id }: LogPosition, log: readonly LogRecord[]): void {
    if (log[sequence - 1]?.id !== id)
      this.#violated(`${node} applies ${sequence} (${id}), and the log has ${log[sequence - 1]?.id}`);
  }

  /** Checks a node's ticks. The ticks of an epoch must end soon after another epoch began. */
  ticks(node: string, bytes: Uint8Array): void {
    const { epoch } = decodeTickBatch(bytes);
    const next = this.#epochs.find((one) => one.epoch > epoch);
    const lateMs = next === undefined ? 0 : this.#nowMs() - next.atMs;
    if (lateMs > this.#tickLeaseMs * LEASE_MARGIN)
      this.#violated(`${node} ticks in epoch ${epoch} ${lateMs} ms after epoch ${next!.epoch} began`);
  }

  /** Records a durable acknowledgement to a publisher. */
  acknowledged(value: number): void {
    this.#acknowledged.add(value);
  }

  skipped(node: string, reason: string): void {
    this.#violated(`${node} skips a record: ${reason}`);
  }

  fatal(node: string, reason: string): void {
    this.#violated(`${node} cannot go on: ${reason}`);
  }

  /** Checks, at the end, that the log has every update that was acknowledged as durable. */
  end(): void {
    for (const value of this.#acknowledged)
      if (!this.#logged.has(value)) this.#violated(`update ${value} was durable, and the log lacks it`);
  }

  unsettled(reason: string): void {
    this.#violated(`after the last heal ${reason}`);
  }

  #violated(what: string): void {
    this.violations.push(`${this.#nowMs().toFixed(1)} ms: ${what}`);
  }
}
