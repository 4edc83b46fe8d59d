import { Builder, type Offset } from 'flatbuffers';
import type { AssetName } from '../../model/asset_map.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import { TableReader } from '../../wire/table_reader.js';
import { Claim as ClaimTable, Entry, LogBatch as LogBatchTable, PublicLogEntry } from '../generated/wire.js';
import { exactNumber, readable, UnreadableMessage } from '../unreadable.js';

/** The version of all records and messages between nodes. A node that finds another version in the log stops. */
export const WIRE_VERSION = 4;

/** The size at which a record takes no more entries. A larger record is not faster to write, and delays all later records. */
export const BATCH_BYTES_MAX = 256 * 1024;
/**
 * The largest size of an entry. An entry larger than {@link BATCH_BYTES_MAX} has its own record; an example is a publisher's input with a
 * full window of hashes. Such a record fits in a message of the bus.
 */
export const ENTRY_BYTES_MAX = 960 * 1024;
/** The largest size of an entry in a record, apart from the entry's strings and bytes. */
export const ENTRY_OVERHEAD_BYTES = 64;

/** A record of the log. */
export interface LogBatch {
  /** The sequence of the claim that began the epoch. */
  readonly epoch: number;
  /** The sequence of the record in the log. */
  readonly sequence: number;
  /** The ID of the preceding record; empty if the writer did not know this ID. */
  readonly after: string;
  readonly claim?: Claim | undefined;
  /** The entries, in order. */
  readonly entries: readonly LogEntry[];
}

/**
 * A stored record of an asset. With `publisherKey`, it is that publisher's accepted input for the asset. With `publicLog`, it belongs to
 * the public log and has an empty symbol; such entries are the last entries of a batch.
 */
export interface LogEntry extends AssetName {
  readonly publisherKey?: Uint8Array | undefined;
  readonly publicLog?: PublicLogKind | undefined;
  /**
   * The encoding of a holding by `log/records/holding.ts`, or the encoding of an input by `log/records/accepted_input.ts`, or the bytes of
   * a {@link PublicLogKind}.
   */
  readonly bytes: Uint8Array;
}

/**
 * The kinds of entries of the public log. `batch` is an entry of the log. `head` is the text of a checkpoint; the leader signs it when all
 * servers have this entry. `checkpoint` is the signed checkpoint with its cosignatures.
 */
export type PublicLogKind = 'batch' | 'head' | 'checkpoint';

const PUBLIC_LOG_KINDS: readonly PublicLogKind[] = ['batch', 'head', 'checkpoint'];

/** A claim of a node. From this record on, the node leads. A claim with `resign` ends its lead. */
export interface Claim {
  readonly node: number;
  readonly name: string;
  /** The ID of the process. Each process has a different ID. */
  readonly run: string;
  /** The number of this claim in its process. It distinguishes two claims after the same record. */
  readonly attempt: number;
  readonly configHash: Uint8Array;
  readonly resign: boolean;
}

/** Thrown when a release with another version wrote the record. */
export class OtherVersion extends UnreadableMessage {}

/** Returns the largest number of bytes that an entry can add to a record. */
export function entryBytes({ symbol, publisherKey, bytes }: LogEntry): number {
  return ENTRY_OVERHEAD_BYTES + 3 * symbol.length + (publisherKey?.length ?? 0) + bytes.length;
}

/** The builder of all messages. It is empty between calls. */
const builder = new Builder(16 * 1024);

export function encodeLogBatch({ epoch, sequence, after, claim, entries }: LogBatch): Uint8Array {
  builder.clear();
  const ofAssets = entries.filter(({ publicLog }) => publicLog === undefined);
  const entriesAt = ofAssets.length === 0 ? 0 : buildEntries(ofAssets);
  const publicLogAt = ofAssets.length === entries.length ? 0 : buildPublicLog(entries);
  const claimAt = claim === undefined ? 0 : buildClaim(claim);
  const afterAt = after === '' ? 0 : builder.createString(after);
  LogBatchTable.startLogBatch(builder);
  LogBatchTable.addWireVersion(builder, WIRE_VERSION);
  LogBatchTable.addEpoch(builder, BigInt(epoch));
  LogBatchTable.addSequence(builder, BigInt(sequence));
  if (afterAt !== 0) LogBatchTable.addAfter(builder, afterAt);
  if (claimAt !== 0) LogBatchTable.addClaim(builder, claimAt);
  if (entriesAt !== 0) LogBatchTable.addEntries(builder, entriesAt);
  if (publicLogAt !== 0) LogBatchTable.addPublicLog(builder, publicLogAt);
  builder.finish(LogBatchTable.endLogBatch(builder));
  return new Uint8Array(builder.asUint8Array());
}

/**
 * Reads a batch that {@link encodeLogBatch} wrote; the bytes of its entries are views.
 * @throws UnreadableMessage
 * @throws OtherVersion when a release with another version wrote the batch
 */
export function decodeLogBatch(bytes: Uint8Array): LogBatch {
  return readable('record of the log', () => {
    const table = TableReader.rootOf(bytes, 0);
    checkVersion(table.uint16(BATCH.wireVersion));
    const claim = table.table(BATCH.claim);
    return {
      epoch: exactNumber(table.uint64(BATCH.epoch)),
      sequence: exactNumber(table.uint64(BATCH.sequence)),
      after: table.text(BATCH.after) ?? '',
      claim: claim && readClaim(claim),
      entries: [
        ...table.tables(BATCH.entries).map(readEntry),
        ...table.tables(BATCH.publicLog).map(readPublicLog),
      ],
    };
  });
}

/** The indexes of the fields in wire.fbs. */
const BATCH = {
  wireVersion: 0,
  epoch: 1,
  sequence: 2,
  after: 3,
  claim: 4,
  entries: 5,
  publicLog: 6,
} as const;
const ENTRY = { symbol: 0, signature: 1, publisherKey: 2, bytes: 3 } as const;
const PUBLIC_LOG = { kind: 0, bytes: 1 } as const;
const CLAIM = { node: 0, name: 1, run: 2, configHash: 3, resign: 4, attempt: 5 } as const;

/** Checks the version before anything else of a record is read. */
function checkVersion(version: number): void {
  if (version === WIRE_VERSION) return;
  // No release writes version 0.
  if (version === 0) throw new UnreadableMessage('a record of the log has no version');
  const remedy =
    version > WIRE_VERSION
      ? 'install the newer release here'
      : 'install the release that wrote the log here, or begin a new log';
  throw new OtherVersion(
    `the log is written in version ${version}, and this node reads version ${WIRE_VERSION}: ${remedy}`,
  );
}

function buildEntries(entries: readonly LogEntry[]): Offset {
  const places = entries.map(({ symbol, signatureType, publisherKey, bytes }) => {
    const symbolAt = builder.createString(symbol);
    const keyAt = publisherKey === undefined ? 0 : builder.createByteVector(publisherKey);
    const bytesAt = builder.createByteVector(bytes);
    Entry.startEntry(builder);
    Entry.addSymbol(builder, symbolAt);
    Entry.addSignature(builder, SIGNATURE_TYPES.indexOf(signatureType));
    if (keyAt !== 0) Entry.addPublisherKey(builder, keyAt);
    Entry.addBytes(builder, bytesAt);
    return Entry.endEntry(builder);
  });
  return LogBatchTable.createEntriesVector(builder, places);
}

function buildPublicLog(entries: readonly LogEntry[]): Offset {
  const places = entries.flatMap(({ publicLog, bytes }) => {
    if (publicLog === undefined) return [];
    const bytesAt = builder.createByteVector(bytes);
    return [PublicLogEntry.createPublicLogEntry(builder, PUBLIC_LOG_KINDS.indexOf(publicLog), bytesAt)];
  });
  return LogBatchTable.createPublicLogVector(builder, places);
}

function readPublicLog(entry: TableReader): LogEntry {
  const publicLog = PUBLIC_LOG_KINDS[entry.uint8(PUBLIC_LOG.kind)];
  if (publicLog === undefined) throw new UnreadableMessage('an entry of the public log has an unknown kind');
  return { symbol: '', signatureType: 'evm', publicLog, bytes: bytesOf(entry, PUBLIC_LOG.bytes) };
}

function readEntry(entry: TableReader): LogEntry {
  const signatureType = SIGNATURE_TYPES[entry.uint8(ENTRY.signature)];
  const symbol = entry.text(ENTRY.symbol);
  if (signatureType === undefined || symbol === undefined)
    throw new UnreadableMessage('an entry names no asset');
  return {
    symbol,
    signatureType,
    publisherKey: entry.bytes(ENTRY.publisherKey),
    bytes: bytesOf(entry, ENTRY.bytes),
  };
}

/** Returns the bytes of a field without a copy; an empty array when the table does not have the field. */
function bytesOf(table: TableReader, field: number): Uint8Array {
  return table.bytes(field) ?? new Uint8Array(0);
}

function buildClaim({ node, name, run, attempt, configHash, resign }: Claim): Offset {
  const nameAt = builder.createString(name);
  const runAt = builder.createString(run);
  const hashAt = builder.createByteVector(configHash);
  return ClaimTable.createClaim(builder, node, nameAt, runAt, hashAt, resign, attempt);
}

function readClaim(claim: TableReader): Claim {
  return {
    node: claim.uint16(CLAIM.node),
    name: claim.text(CLAIM.name) ?? '',
    run: claim.text(CLAIM.run) ?? '',
    attempt: claim.uint32(CLAIM.attempt),
    configHash: bytesOf(claim, CLAIM.configHash),
    resign: claim.uint8(CLAIM.resign) !== 0,
  };
}
