import type { BuiltInKind } from '../sources_schema.js';
import { binance } from './binance.js';
import { bitstamp } from './bitstamp.js';
import { bybit } from './bybit.js';
import { coinbase } from './coinbase.js';
import { kraken } from './kraken.js';
import type { Market } from './market.js';
import { okx } from './okx.js';

export const MARKETS: Readonly<Record<BuiltInKind, Market>> = {
  kraken,
  coinbase,
  binance,
  okx,
  bybit,
  bitstamp,
};
