import { TlogError } from '../../tlog/tlog_error.js';
import { parseForeignJson } from './foreign_json.js';

/** An entry of the log, with a proof that the checkpoint covers the entry. */
export interface ProvenEntry {
  /** The index in decimal. */
  readonly index: string;
  /** The text of the entry. */
  readonly entry: string;
  /** The hashes in Base64. */
  readonly path: readonly string[];
}

/** A record of a batch, with a proof that the batch contains the record. */
export interface ProvenRecord {
  readonly index: string;
  /** The bytes in Base64. */
  readonly record: string;
  readonly path: readonly string[];
}

/**
 * A fault of a service or of its log. All kinds except the last two can be proven to a third party. Prices are JSON texts as REST
 * serves them.
 */
export type Evidence =
  /** The service signed two values for the same asset and time. */
  | { readonly kind: 'two values'; readonly prices: readonly [string, string] }
  /** The service signed two streaming payloads, in hex, with different values for the same asset and time. */
  | { readonly kind: 'two payloads'; readonly payloads: readonly [string, string] }
  /**
   * The operator gave two meanings to a streaming ID: two statements of one taxonomy ID in hex, and the bytes in hex of the list that each
   * statement signs.
   */
  | {
      readonly kind: 'two meanings';
      readonly statements: readonly [string, string];
      readonly entries: readonly [string, string];
    }
  /**
   * The service signed a price, but the log has another value or no value. The records are the log's record with the other value, or
   * the neighbours of the missing record.
   */
  | {
      readonly kind: 'not in the log';
      readonly price: string;
      readonly checkpoint: string;
      readonly batch: ProvenEntry;
      readonly records: readonly ProvenRecord[];
    }
  /**
   * The log signed two inconsistent checkpoints. The proof leads from the newer checkpoint to a different root at the size of the older
   * checkpoint.
   */
  | {
      readonly kind: 'fork';
      readonly checkpoints: readonly [older: string, newer: string];
      readonly root: string;
      readonly proof: readonly string[];
    }
  /**
   * The log has a malformed entry, or an entry that must not follow the entry before it. The second of `entries` is the entry before
   * the first.
   */
  | { readonly kind: 'bad entry'; readonly checkpoint: string; readonly entries: readonly ProvenEntry[] }
  /** A batch has a record that must not be in this batch, or two records in a wrong order. */
  | {
      readonly kind: 'bad records';
      readonly checkpoint: string;
      readonly batch: ProvenEntry;
      readonly records: readonly ProvenRecord[];
    }
  /**
   * The log serves files that differ from its signed checkpoint. Files have no signatures, so only the auditor can observe this fault.
   */
  | { readonly kind: 'observed'; readonly checkpoint: string; readonly found: string }
  /**
   * No checkpoint covered a signed price in time. Only the auditor's clock shows it. The checkpoint is the newest one; it is empty when
   * the log served none.
   */
  | { readonly kind: 'overdue'; readonly price: string; readonly checkpoint: string; readonly found: string };

const FORMAT = 'tickseal-evidence/v1';
/** The length of two lists of all 65,536 IDs with symbols of 50 bytes. */
export const EVIDENCE_LENGTH_MAX = 16 * 1024 * 1024;
const LIST_LENGTH_MAX = 64;

type FieldKind = 'text' | 'texts' | 'two texts' | 'entry' | 'entries' | 'records';

const FIELDS: Readonly<Record<Evidence['kind'], Readonly<Record<string, FieldKind>>>> = {
  'two values': { prices: 'two texts' },
  'two payloads': { payloads: 'two texts' },
  'two meanings': { statements: 'two texts', entries: 'two texts' },
  'not in the log': { price: 'text', checkpoint: 'text', batch: 'entry', records: 'records' },
  fork: { checkpoints: 'two texts', root: 'text', proof: 'texts' },
  'bad entry': { checkpoint: 'text', entries: 'entries' },
  'bad records': { checkpoint: 'text', batch: 'entry', records: 'records' },
  observed: { checkpoint: 'text', found: 'text' },
  overdue: { price: 'text', checkpoint: 'text', found: 'text' },
};

/** Reads an evidence file. @throws TlogError that names the field with a wrong form */
export function parseEvidence(text: string): Evidence {
  if (text.length > EVIDENCE_LENGTH_MAX)
    throw new TlogError(`the evidence is longer than ${EVIDENCE_LENGTH_MAX}`);
  const fields = objectOf(parsedJson(text), 'the evidence');
  if (fields['format'] !== FORMAT)
    throw new TlogError(
      `the format of the evidence is not ${FORMAT}: name a file of evidence, as subscribe and log audit write it`,
    );
  const kind = fields['kind'] as Evidence['kind'];
  if (!Object.hasOwn(FIELDS, String(kind))) throw new TlogError('the kind of the evidence is not known');
  for (const [name, form] of Object.entries(FIELDS[kind])) requireForm(fields[name], form, name);
  return fields as unknown as Evidence;
}

/** Returns the text that {@link parseEvidence} reads. */
export function formatEvidence(evidence: Evidence): string {
  return `${JSON.stringify({ format: FORMAT, ...evidence }, undefined, 2)}\n`;
}

function parsedJson(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    throw new TlogError('the evidence is not JSON');
  }
}

function requireForm(value: unknown, form: FieldKind, name: string): void {
  if (form === 'text') {
    if (typeof value !== 'string') throw new TlogError(`${name} of the evidence is not text`);
  } else if (form === 'texts' || form === 'two texts') {
    const texts = listOf(value, name);
    if (form === 'two texts' && texts.length !== 2)
      throw new TlogError(`${name} of the evidence are not two`);
    for (const [i, one] of texts.entries()) requireForm(one, 'text', `${name}[${i}]`);
  } else if (form === 'entry') requireProven(value, 'entry', name);
  else {
    const field = form === 'entries' ? 'entry' : 'record';
    for (const [i, one] of listOf(value, name).entries()) requireProven(one, field, `${name}[${i}]`);
  }
}

function requireProven(value: unknown, field: string, name: string): void {
  const fields = objectOf(value, name);
  requireForm(fields[field], 'text', `${name}.${field}`);
  requireForm(fields['path'], 'texts', `${name}.path`);
  const index = fields['index'];
  if (typeof index !== 'string' || !/^(?:0|[1-9]\d{0,18})$/.test(index))
    throw new TlogError(`${name}.index of the evidence is not a number in text`);
}

function listOf(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value) || value.length > LIST_LENGTH_MAX)
    throw new TlogError(`${name} of the evidence is not a list of at most ${LIST_LENGTH_MAX}`);
  return value;
}

function objectOf(value: unknown, name: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new TlogError(`${name} is not an object`);
  return value as Record<string, unknown>;
}
