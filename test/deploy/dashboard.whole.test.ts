import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { eventually } from '../../scripts/load/wait.js';
import { METRICS } from '../../src/metrics/metrics.js';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { get, startTestService, type TestService, TestSocket } from '../service/harness.js';
import { isInstalled } from './prometheus.js';

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
  for (const { name } of METRICS) if (name.startsWith('tickseal_cluster_')) served.add(name);
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
  const url = await startPrometheus(t, dir, service);
  const ask = async (expr: string): Promise<readonly unknown[]> => {
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
    const { data, error } = (await answer.json()) as { data?: { result: unknown[] }; error?: string };
    if (data === undefined) throw new Error(`${expr}: ${error}`);
    return data.result;
  };
  for (const expr of queries()) {
    // This service has no TLS and is not in a cluster, so it lacks these metrics.
    if (/certificate|cluster/.test(expr)) continue;
    t.ok(await eventually(async () => (await ask(expr)).length > 0 || undefined), expr);
  }
});

/** Starts Prometheus. @returns its address, after it has scraped the service twice */
async function startPrometheus(t: Test, dir: string, { adminUrl }: TestService): Promise<string> {
  const config = join(dir, 'prometheus.yml');
  const target = new URL(adminUrl).host;
  const job = { job_name: 'tickseal', static_configs: [{ targets: [target] }] };
  const global = { scrape_interval: `${INTERVAL_S}s` };
  writeFileSync(config, JSON.stringify({ global, scrape_configs: [job] }));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${dir}/data`];
  const child = spawn('prometheus', [...args, `--web.listen-address=${address}`], { stdio: 'ignore' });
  const ended = once(child, 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://${address}`;
  await eventually(async () => {
    const scrapes = `count_over_time(up{job="tickseal"}[1m]) >= 2`;
    const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(scrapes)}`).catch(
      () => undefined,
    );
    if (answer?.ok !== true) return undefined;
    const { data } = (await answer.json()) as { data: { result: unknown[] } };
    return data.result.length > 0 || undefined;
  });
  return url;
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
