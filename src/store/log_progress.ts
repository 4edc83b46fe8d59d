import type { TimeNs } from '../model/time.js';
import type { Table } from './table.js';

/** The part of a cluster's log that a data folder has recorded. */
export interface LogProgress {
  /** The last applied record; `undefined` before the first record of a log. */
  position: LogPlace | undefined;
  /** True when the data folder lacks inputs from the records up to {@link position}, because an edge stores no inputs. */
  lacksInputs: boolean;
}

/** A record of a cluster's log. */
export interface LogPlace {
  readonly sequence: number;
  /** The SHA-256 of the record in hex; empty if unknown. */
  readonly id: string;
}

const LOG = 'log';
/** The sequence, and the four words of an ID of 64 bits each, from the highest to the lowest. */
const PARTS = [0, 1, 2, 3, 4];
const ID_FORM = /^[0-9a-f]{64}$/;
const UNKNOWN_ID = '0'.repeat(64);
const INPUTS = ['inputs', 0] as const;
const [COMPLETE, MISSING] = [0n, 1n];

/**
 * Opens the progress.
 * @param table the table of marks
 */
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
  const [sequence, ...words] = PARTS.map((part) => table.get([LOG, part]));
  if (sequence === undefined) return undefined;
  let id = '';
  for (const word of words) {
    if (word === undefined) return undefined;
    id += BigInt.asUintN(64, word).toString(16).padStart(16, '0');
  }
  return { sequence: Number(sequence), id: id === UNKNOWN_ID ? '' : id };
}

/** Writes a position. Drops an ID in another form. */
function writePlace(table: Table<TimeNs>, { sequence, id }: LogPlace): void {
  const kept = ID_FORM.test(id) ? id : UNKNOWN_ID;
  table.put([LOG, 0], BigInt(sequence) as TimeNs);
  for (const part of PARTS.slice(1)) {
    const word = BigInt(`0x${kept.slice(16 * (part - 1), 16 * part)}`);
    table.put([LOG, part], BigInt.asIntN(64, word) as TimeNs);
  }
}
