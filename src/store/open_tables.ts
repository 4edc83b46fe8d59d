import type { TimeNs } from '../model/time.js';
import { type AcceptedInput, decodeAcceptedInput, encodeAcceptedInput } from '../records/accepted_input.js';
import type { CandleBlock } from '../records/candle_block.js';
import { decodeCandles, encodeCandles } from '../records/candle_record.js';
import { decodeHolding, encodeHolding, type Holding } from '../records/holding.js';
import type { Journal } from './journal.js';
import { decodeMark, encodeMark } from './marks.js';
import { inputSignatureType } from './record_keys.js';
import type { Table } from './table.js';

/** The kinds of records in the data folder. `RecordKeys` makes the text that names an asset in the keys. */
export interface OpenTables {
  /** [UNIX second, asset]: the state at the end of that second. Only seconds with a change have a record. */
  readonly seconds: Table<Holding>;
  /** [asset, publisher key in hex]: the latest accepted input, and the facts about earlier inputs that the service must remember. */
  readonly inputs: Table<AcceptedInput>;
  /** [asset, hours since 1970]: the closed minutes of an hour whose day is not sealed yet. */
  readonly hours: Table<CandleBlock>;
  /** [asset, days since 1970]: the minutes of a sealed day. */
  readonly days: Table<CandleBlock>;
  /**
   * [asset, days since 1970]: the quarter hours of a sealed day. The store makes the quarter hours from the day's minutes, and writes
   * both together. All coarser candles are merged from quarter hours, because quarter hours have 15 times fewer bytes to read than
   * minutes.
   */
  readonly quarters: Table<CandleBlock>;
  /** [kind, number]: the latest time that signatures of this kind may carry. */
  readonly marks: Table<TimeNs>;
}

export function openTables(journal: Pick<Journal, 'table'>): OpenTables {
  const candles = { encode: encodeCandles, decode: decodeCandles };
  return {
    seconds: journal.table('seconds', {
      encode: encodeHolding,
      decode: decodeHolding,
    }),
    inputs: journal.table('inputs', {
      encode: (accepted, [, keyDigits]) =>
        encodeAcceptedInput(accepted, inputSignatureType(String(keyDigits))),
      decode: decodeAcceptedInput,
    }),
    hours: journal.table('hours', candles),
    days: journal.table('days', candles),
    quarters: journal.table('quarters', candles),
    marks: journal.table('marks', { encode: encodeMark, decode: decodeMark }),
  };
}
