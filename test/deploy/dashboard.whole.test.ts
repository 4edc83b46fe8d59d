import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { eventually } from '../../scripts/load/wait.js';
import { METRICS } from '../../src/service/metrics/metrics.js';
import { SOURCE_METRICS } from '../../src/sources/markets/source_metrics.js';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { get, startTestService, type TestService, TestSocket } from '../service/harness.js';
import { isInstalled, startPrometheus } from './prometheus.js';

interface Target {
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly Target[] }[];
  readonly annotations: { readonly list: readonly Target[] };
}

const INTERVAL_S = 1;

/** Returns the queries of the dashboard, as Grafana sends them for all instances. */
function queries(): string[] {
  const file = readFileSync(join(ROOT, 'scripts/deploy/dashboard.json'), 'utf8');
  const { panels } = JSON.parse(file) as Dashboard;
  const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return exprs.map((expr) =>
    expr.replaceAll('$__rate_interval', `${60 * INTERVAL_S}s`).replaceAll('$instance', '.+'),
  );
}

function alertExpressions(): string[] {
  const file = readFileSync(join(ROOT, 'scripts/deploy/alerts.yml'), 'utf8');
  const { groups } = parse(file) as { groups: readonly { readonly rules: readonly Target[] }[] };
  return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
}

/** Returns the metrics that a query reads. */
function metricsOf(expr: string): string[] {
  return expr.match(/\b(?:tickseal|process|nodejs)_\w+/g) ?? [];
}

/** Causes each kind of event that a label counts. */
async function use(t: Test, service: TestService): Promise<void> {
  const stream = await TestSocket.open(`${service.socketUrl}/ws`);
  t.teardown(() => stream.ws.terminate());
  stream.send({ type: 'subscribe', assets: [1] });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  await stream.next();
  await feed.publish({ symbol: 'NOPE', price: units(1) });
  await get(`${service.url}/v1/taxonomy`);
  await fetch(`${service.url}/v1/taxonomy`);
}

test('every metric of the dashboard and of the alerts is served', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  await use(t, service);
  const own = await (await fetch(`${service.adminUrl}/metrics`)).text();
  const served = new Set([...own.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
  // This process has neither a cluster nor a public log.
  for (const { name } of METRICS) if (/^tickseal_(?:cluster|tlog)_/.test(name)) served.add(name);
  // The sources process has a separate listener.
  for (const { name } of SOURCE_METRICS) served.add(name);
  const names = [...queries(), ...alertExpressions()].flatMap(metricsOf);
  t.ok(names.length > 50);
  for (const name of new Set(names)) t.ok(served.has(name.replace(/_bucket$/, '')), name);
});

test('Prometheus answers every query of the dashboard with data', async (t) => {
  if (!isInstalled('prometheus')) {
    t.pass('skipped: there is no prometheus');
    return;
  }
  const dir = t.testdir();
  const service = await startTestService();
  t.teardown(() => service.stop());
  await use(t, service);
  const prometheus = await startPrometheus(t, dir, {
    global: { scrape_interval: `${INTERVAL_S}s` },
    scrape_configs: [
      { job_name: 'tickseal', static_configs: [{ targets: [new URL(service.adminUrl).host] }] },
    ],
  });
  const ask = (expr: string) => prometheus.query<readonly unknown[]>(expr);
  for (const expr of queries()) {
    // This service has no TLS, no cluster and no public log, so it lacks these metrics.
    if (/certificate|cluster|tlog/.test(expr)) continue;
    t.ok(await eventually(async () => (await ask(expr)).length > 0 || undefined), expr);
  }
});
