import { test } from 'tap';
import { openMarket, runOverKills } from './keeper_run.js';

test('1,000 updates of the keeper over 20 kills', { timeout: 900_000 }, async (t) => {
  const market = await openMarket(t, 3, true);
  await runOverKills(t, market, 1_000, 20);
});
