import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { ageRemark } from '../../src/cli/age_remark.js';
import { registerPrice } from '../../src/cli/price_command.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';
import { runCommand } from './run_command.js';

test('a time that fits the clock has no remark', async (t) => {
  for (const ageMs of [-10_000, 0, 60_000]) t.equal(ageRemark(ageMs), undefined);
  t.match(ageRemark(-10_001), /from the future.*10 s after/);
  t.match(ageRemark(60_001), /old.*60 s ago/);
});

test('a newest price whose time does not fit the clock is printed with a remark', async (t) => {
  const service = await startTestService({ assets: [{ id: 1, symbol: 'BTCUSD' }] });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(100) });
  process.env['TICKSEAL_TOKEN'] = TOKEN;
  t.teardown(() => delete process.env['TICKSEAL_TOKEN']);
  const price = () =>
    runCommand(registerPrice, ['price', 'BTCUSD', '--url', service.url, '--signer', service.evmAddress]);
  await eventually(async () => (await price()).exitCode === 0);
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  for (const [hours, remark] of [
    [0, /^$/],
    [-1, /^price: BTCUSD: this price is from the future, .* 3\d\d\d s after this machine's present time\n$/],
    [1, /^price: BTCUSD: this price is old: it was signed 3\d\d\d s ago by this machine's clock\n$/],
  ] as const) {
    Date.now = () => now() + hours * 3_600_000;
    const printed = await price();
    t.match(printed, { exitCode: 0, stderr: remark, stdout: [/^BTCUSD 100 .* verified/] }, `${hours} h`);
  }
});
