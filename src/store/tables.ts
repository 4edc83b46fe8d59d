import { ok } from 'node:assert/strict';
import type { PublisherPrice } from '../model/signed_price.js';
import type { CandleBlock } from '../records/candle_block.js';
import { decodeCandles, encodeCandles } from '../records/candle_record.js';
import { decodeInput, encodeInput } from '../records/input_record.js';
import type { RecordNames } from '../records/record_names.js';
import { decodeHolding, encodeHolding, type Holding } from '../records/second_record.js';
import type { Table } from './journal.js';
import type { Folder } from './lmdb/folder.js';

/** The kinds of records in the data folder. */
export interface Tables {
  /** [UNIX second, symbol]: the state at the end of that second. Only seconds with a change have a record. */
  readonly seconds: Table<Holding>;
  /** [symbol, publisher key in hex]: the latest accepted input. */
  readonly inputs: Table<PublisherPrice>;
  /** [symbol, hours since 1970]: the closed minutes of an hour whose day is not sealed yet. */
  readonly hours: Table<CandleBlock>;
  /** [symbol, days since 1970]: the minutes of a sealed day. */
  readonly days: Table<CandleBlock>;
  /**
   * [symbol, days since 1970]: the quarter hours of a sealed day, made from its minutes and written with them. All
   * coarser candles are merged from these, with 15 times fewer bytes to read.
   */
  readonly quarters: Table<CandleBlock>;
}

/** @param names returns the configuration in force; records of other assets are never decoded */
export function openTables(folder: Folder, names: () => RecordNames): Tables {
  const candles = (name: string): Table<CandleBlock> => ({
    database: folder.openTable(name),
    encode: encodeCandles,
    decode: decodeCandles,
  });
  return {
    seconds: {
      database: folder.openTable('seconds'),
      encode: encodeHolding,
      decode: (payload, key) => decodeHolding(payload, configured(names(), String(key[1])), names()),
    },
    inputs: {
      database: folder.openTable('inputs'),
      encode: encodeInput,
      decode(payload, key) {
        const asset = configured(names(), String(key[0]));
        return decodeInput(payload, asset.index, (keyText) =>
          names().publisherIndexOf(asset.signatureType, keyText),
        ).input;
      },
    },
    hours: candles('hours'),
    days: candles('days'),
    quarters: candles('quarters'),
  };
}

function configured(names: RecordNames, symbol: string) {
  const asset = names.assetOf(symbol);
  ok(asset, `${symbol} is not configured`);
  return asset;
}
