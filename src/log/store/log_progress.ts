import type { StoredMarks } from './marks.js';

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

const POSITION = ['position', 0] as const;
const LACKS_INPUTS = ['lacks inputs', 0] as const;
const ID_FORM = /^[0-9a-f]{64}$/;

export function openLogProgress(marks: Pick<StoredMarks, 'text' | 'put'>): LogProgress {
  return {
    get position() {
      const [sequence, id = ''] = marks.text(...POSITION)?.split(' ') ?? [];
      return sequence === undefined ? undefined : { sequence: Number(sequence), id };
    },
    set position(place) {
      const id = place !== undefined && ID_FORM.test(place.id) ? place.id : '';
      marks.put(...POSITION, place && `${place.sequence} ${id}`);
    },
    get lacksInputs() {
      return marks.text(...LACKS_INPUTS) === '1';
    },
    set lacksInputs(areMissing) {
      if (this.lacksInputs !== areMissing) marks.put(...LACKS_INPUTS, areMissing ? '1' : '0');
    },
  };
}
