import { ok } from 'node:assert/strict';
import type { PublisherPrice } from '../model/records.js';
import type { CandleBlock } from './candle.js';
import { decodeCandles, encodeCandles } from './candle_record.js';
import type { Catalogue } from './catalogue.js';
import type { Folder } from './folder.js';
import { decodeInput, encodeInput } from './input_record.js';
import type { Table } from './journal.js';
import { decodeHolding, encodeHolding, type Holding } from './second_record.js';

/** The kinds of records in the data folder. */
export interface Tables {
  /** [UNIX second, symbol]: what held at the end of that second. Only seconds in which something changed have one. */
  readonly seconds: Table<Holding>;
  /** [symbol, publisher key in hex]: the latest accepted input. */
  readonly inputs: Table<PublisherPrice>;
  /** [symbol, hours since 1970]: the closed minutes of an hour whose day is not sealed yet. */
  readonly hours: Table<CandleBlock>;
  /** [symbol, days since 1970]: the minutes of a sealed day. */
  readonly days: Table<CandleBlock>;
  /**
   * [symbol, days since 1970]: the quarter hours of a sealed day, made from its minutes and written with them. All
   * coarser candles fold these: 15 times fewer bytes for years of days, weeks and months.
   */
  readonly quarters: Table<CandleBlock>;
}

/** @param catalogue gives the configuration in force; records of other assets are never decoded. */
export function openTables(folder: Folder, catalogue: () => Catalogue): Tables {
  const candles = (name: string): Table<CandleBlock> => ({
    database: folder.openTable(name),
    encode: encodeCandles,
    decode: decodeCandles,
  });
  return {
    seconds: {
      database: folder.openTable('seconds'),
      encode: encodeHolding,
      decode: (payload, key) => decodeHolding(payload, configured(catalogue(), String(key[1])), catalogue()),
    },
    inputs: {
      database: folder.openTable('inputs'),
      encode: encodeInput,
      decode(payload, key) {
        const asset = configured(catalogue(), String(key[0]));
        return decodeInput(payload, asset.index, (keyText) =>
          catalogue().publisherIndexOf(asset.signatureType, keyText),
        ).input;
      },
    },
    hours: candles('hours'),
    days: candles('days'),
    quarters: candles('quarters'),
  };
}

function configured(catalogue: Catalogue, symbol: string) {
  const asset = catalogue.assetOf(symbol);
  ok(asset, `${symbol} is not configured`);
  return asset;
}
