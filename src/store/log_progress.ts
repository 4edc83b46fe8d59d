import type { TimeNs } from '../model/time.js';
import type { Table } from './table.js';

/** The part of a cluster's log that a data folder has recorded. */
export interface LogProgress {
  /** The last record that was applied; `undefined` before the first record, and before another log. */
  position: LogPlace | undefined;
  /** True when inputs were left out of records before {@link position}, as on an edge. */
  lacksInputs: boolean;
}

/** A record of a cluster's log. */
export interface LogPlace {
  readonly sequence: number;
  /** The process in 16 hex digits and its count of records: `0123456789abcdef-1`. Empty when the ID is not known. */
  readonly id: string;
}

const LOG = 'log';
const PARTS = [0, 1, 2];
const INPUTS = ['inputs', 0] as const;
const [COMPLETE, MISSING] = [0n, 1n];

/** @param table the table of marks */
export function openLogProgress(table: Table<TimeNs>): LogProgress {
  return {
    get position() {
      return readPlace(table);
    },
    set position(place) {
      if (place !== undefined) writePlace(table, place);
      else for (const part of PARTS) table.remove([LOG, part]);
    },
    get lacksInputs() {
      return table.get(INPUTS) === MISSING;
    },
    set lacksInputs(areMissing) {
      if (this.lacksInputs !== areMissing) table.put(INPUTS, (areMissing ? MISSING : COMPLETE) as TimeNs);
    },
  };
}

/** @throws DamagedRecord when a record on disk is damaged */
function readPlace(table: Table<TimeNs>): LogPlace | undefined {
  const [sequence, run, count] = PARTS.map((part) => table.get([LOG, part]));
  if (sequence === undefined || run === undefined || count === undefined) return undefined;
  const digits = BigInt.asUintN(64, run).toString(16).padStart(16, '0');
  return { sequence: Number(sequence), id: count === 0n ? '' : `${digits}-${count}` };
}

/** Writes a place. An ID of another form is not kept. */
function writePlace(table: Table<TimeNs>, { sequence, id }: LogPlace): void {
  const [, digits = '0', count = '0'] = /^([0-9a-f]{16})-(\d{1,15})$/.exec(id) ?? [];
  const parts = [BigInt(sequence), BigInt.asIntN(64, BigInt(`0x${digits}`)), BigInt(count)];
  for (const [part, value] of parts.entries()) table.put([LOG, part], value as TimeNs);
}
