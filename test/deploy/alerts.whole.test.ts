import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { eventually, pause } from '../../scripts/load/wait.js';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import { isInstalled, type Prometheus, promtool, startPrometheus } from './prometheus.js';

// Alerts fire in a real Prometheus, which scrapes a running service and evaluates the rules each second. promtool tests each rule with
// series of its own, and test/deploy/dashboard tests that the service has each metric of a rule.

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
}

const RULES = parse(readFileSync(join(ROOT, 'scripts/deploy/alerts.yml'), 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};

/** Writes the rules with short times: no `for`, and rates over 20 s. The thresholds stay unchanged. */
function writeShortRules(file: string): void {
  const groups = RULES.groups.map((group) => ({
    ...group,
    rules: group.rules.map(({ for: _for, expr, ...rule }) => ({
      ...rule,
      expr: expr.replaceAll(/\[(?:5m|10m|15m|6h)\]/g, '[20s]'),
    })),
  }));
  writeFileSync(file, JSON.stringify({ groups }));
}

const SERVICE = 'service';

type Series = readonly { readonly metric: { readonly instance: string; readonly alertname: string } }[];

/** Returns `INSTANCE ALERT` of all alerts that have fired. */
async function fired(prometheus: Prometheus): Promise<string[]> {
  const ever = 'count by (instance, alertname) (last_over_time(ALERTS{alertstate="firing"}[1h]))';
  const series = await prometheus.query<Series>(ever);
  return series.map(({ metric: { instance, alertname } }) => `${instance} ${alertname}`).sort();
}

function startWithRules(t: Test, targets: readonly object[]): Promise<Prometheus> {
  const dir = t.testdir();
  writeShortRules(join(dir, 'rules.yml'));
  return startPrometheus(t, dir, {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'tickseal', static_configs: targets }],
  });
}

test('promtool runs the tests of the alerts', async (t) => {
  const tested = promtool(['test', 'rules', join(ROOT, 'scripts/deploy/alerts.test.yml')]);
  if (tested === undefined) {
    t.pass('skipped: there is no promtool');
    return;
  }
  t.equal(tested.status, 0, tested.output);
});

/** The alerts that a slow or busy test machine may also raise. */
const OF_THE_MACHINE = /Tickseal(?:SlowSecp256k1|Overloaded|DiskSlow|NotReady|StoreFillsUp)$/;

test('a running service raises the alerts that can be provoked in it', async (t) => {
  if (!isInstalled('prometheus')) {
    t.pass('skipped: there is no prometheus');
    return;
  }
  const service = await startTestService();
  let isStopped = false;
  t.teardown(() => (isStopped ? undefined : service.stop()));
  const target = { targets: [new URL(service.adminUrl).host], labels: { instance: SERVICE } };
  const prometheus = await startWithRules(t, [target]);
  const feed = await Feed.open(service);
  service.noteReload(false, []);
  const headers = { Authorization: 'Basic wrong' };
  const until = (alerts: readonly string[]) =>
    eventually(async () => {
      if (!isStopped) {
        await feed.publish({ symbol: 'NOPE', price: units(1) });
        await Promise.all(Array.from({ length: 20 }, () => fetch(`${service.url}/v1/taxonomy`, { headers })));
      }
      const now = await fired(prometheus);
      if (alerts.every((alert) => now.includes(`${SERVICE} ${alert}`))) return true;
      await pause(500);
      return undefined;
    });
  const provoked = ['AllAssetsStale', 'AssetSilent', 'LoginsRefused', 'ReloadFailed', 'UpdatesRefused'];
  await until(provoked.map((name) => `Tickseal${name}`));
  feed.socket.ws.terminate();
  isStopped = true;
  await service.stop();
  await until(['TicksealDown']);
  t.same(
    (await fired(prometheus)).filter((one) => !OF_THE_MACHINE.test(one)),
    ['AllAssetsStale', 'AssetSilent', 'Down', 'LoginsRefused', 'ReloadFailed', 'UpdatesRefused'].map(
      (name) => `${SERVICE} Tickseal${name}`,
    ),
  );
});
