import { createHash } from 'node:crypto';
import type { LogRecord } from '../bus.js';
import { UnreadableMessage } from '../unreadable.js';
import { decodeLogBatch, encodeLogBatch, type LogBatch, OtherVersion } from './log_batch.js';

/** The number of skipped records whose IDs are remembered, because a later record may name a skipped record as its predecessor. */
const SKIPPED_MAX = 64;

/**
 * Returns the ID of a record: the SHA-256 of its bytes in hex. The bytes contain the ID of the preceding record, so an ID identifies a
 * record and the whole log before it.
 */
export function recordId(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Encodes a batch as a record for the log. */
export function chainedRecord(batch: LogBatch): LogRecord {
  const bytes = encodeLogBatch(batch);
  return { sequence: batch.sequence, id: recordId(bytes), bytes };
}

/** A record without effect, and the reason. */
export interface RecordFault {
  readonly fault: string;
  /** True when another server may have a sound copy of the record. */
  readonly isDamage?: boolean;
}

/**
 * Thrown when the next record names a predecessor that this node has not applied. The cause is damage, a missing record, or a different
 * history.
 */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain';
}

/**
 * The chain of the applied records. Each record names its predecessor. If this is not the last applied record, the chain is broken. All
 * nodes skip three kinds of records, which no leader wrote: those whose ID is not the hash of their bytes, those whose bytes name a
 * different position, and those that name no predecessor and are no claim.
 */
export class RecordChain {
  #lastId: string;
  /** The faults of the records skipped since the last record of the chain, by ID. */
  readonly #skipped = new Map<string, string>();
  #skippedCount = 0;

  /** @param lastId the ID of the last applied record; if empty, the next record may follow any record */
  constructor(lastId: string) {
    this.#lastId = lastId;
  }

  /** The ID of the last record of the chain; empty if unknown. */
  get lastId(): string {
    return this.#lastId;
  }

  /** The number of records that were skipped. */
  get skippedCount(): number {
    return this.#skippedCount;
  }

  /**
   * Reads the next record of the log.
   * @throws BrokenChain when the record does not follow the last record of the chain
   * @throws OtherVersion when a release with another version wrote the record
   */
  read({ sequence, id, bytes }: LogRecord): LogBatch | RecordFault {
    if (recordId(bytes) !== id) return { fault: 'does not have the hash that is its ID', isDamage: true };
    let batch: LogBatch;
    try {
      batch = decodeLogBatch(bytes);
    } catch (error) {
      if (!(error instanceof UnreadableMessage) || error instanceof OtherVersion) throw error;
      return { fault: `cannot be read: ${error.message}` };
    }
    if (batch.sequence !== sequence) return { fault: `was written for place ${batch.sequence}` };
    // A node that knows no earlier record writes a claim without a predecessor. Every other record names its predecessor.
    if (batch.after === '' && !isClaim(batch)) return { fault: 'names no record before it' };
    this.#checkPredecessor(batch);
    return batch;
  }

  /** Adds a record to the chain. */
  add(id: string): void {
    this.#lastId = id;
    this.#skipped.clear();
  }

  /** Notes that a record was skipped and has no effect. */
  skip({ sequence, id }: LogRecord, fault: string): void {
    this.#skippedCount++;
    if (this.#skipped.size < SKIPPED_MAX) this.#skipped.set(id, `record ${sequence} ${fault}`);
  }

  /** Restarts the chain after a part of the log that this node has not read. */
  restart(): void {
    this.add('');
  }

  #checkPredecessor({ after }: LogBatch): void {
    if (this.#lastId === '' || after === '' || after === this.#lastId) return;
    const skipped = this.#skipped.get(after);
    throw new BrokenChain(
      skipped === undefined
        ? `it follows record ${after}, and this node has applied ${this.#lastId} before it`
        : `it follows a damaged record: ${skipped}`,
    );
  }
}

function isClaim({ claim }: LogBatch): boolean {
  return claim !== undefined && !claim.resign;
}
