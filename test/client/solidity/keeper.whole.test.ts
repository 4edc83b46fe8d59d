import { test } from 'tap';
import { openMarket, runOverKills } from './keeper_run.js';

test('the keeper keeps prices fresh over kills and a node that misbehaves', {
  timeout: 300_000,
}, async (t) => {
  const market = await openMarket(t, 1, true);
  await runOverKills(t, market, 40, 2);
});

test('the keeper sends nothing above its caps', async (t) => {
  const { node, startKeeper } = await openMarket(t, 2, false);
  const capped = startKeeper({ FEE_CAP_GWEI: '0.5' });
  await capped.printed(/not sent: a fee of 1000000014 wei/);
  await capped.end();
  t.equal(node.mined, 0);
  // The gas limit of a transaction with three assets is 237,080, so two of them cost less than a third of this.
  const day = startKeeper({ DAY_CAP_ETH: '0.0006', STATE: `${t.testdir()}/day.spent` });
  await day.printed(/not sent: a fee of \d+ wei, \d+ wei today/);
  const sent = node.received.size;
  t.ok(sent >= 1 && sent <= 4, `${sent} transactions`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.equal(node.received.size, sent);
});
