import { test } from 'tap';
import type { SharedCandles } from '../../../src/cluster/log/shared_candles.js';
import { CandleExchange, type CandleExchangeOptions } from '../../../src/cluster/node/candle_exchange.js';

const TODAY = 20_784;

test('a leader looks for no days before the first candle of an asset', async (t) => {
  let days = { first: 0, end: 0 };
  const looked: number[] = [];
  const store = {
    newest: () => undefined,
    sealedDays: () => days,
    candles: {
      day: (_: unknown, day: number) => {
        looked.push(day);
        return undefined;
      },
    },
  } as unknown as CandleExchangeOptions['store'];
  const logger = { info: () => {}, warn: () => {} };
  const assets = () => [{ symbol: 'BTCUSD', signatureType: 'evm' as const }];
  const exchange = new CandleExchange({ shelf: {} as SharedCandles, store, assets, logger });
  exchange.lead(true);
  days = { first: TODAY, end: TODAY };
  exchange.putDays();
  t.same(looked, [], 'after the first price of the asset');
  days = { first: TODAY, end: TODAY + 1 };
  exchange.putDays();
  t.same(looked, [TODAY], 'after the end of the first day');
});
