import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { METRICS } from '../../src/service/metrics/metrics.js';
import { SOURCE_METRICS } from '../../src/sources/markets/source_metrics.js';
import { ROOT } from '../pages.js';
import { sampleText } from '../service/metrics/sample_state.js';
import { promtool } from './prometheus.js';

interface Target {
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly Target[] }[];
}

/** Returns the queries of the dashboard, as Grafana sends them for all instances. */
function queries(): string[] {
  const file = readFileSync(join(ROOT, 'scripts/deploy/dashboard.json'), 'utf8');
  const { panels } = JSON.parse(file) as Dashboard;
  const exprs = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return exprs.map((expr) => expr.replaceAll('$__rate_interval', '60s').replaceAll('$instance', '.+'));
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

test('every metric of the dashboard and of the alerts is served', async (t) => {
  const ofNode = [...(await sampleText({})).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name);
  const served = new Set([...ofNode, ...[...METRICS, ...SOURCE_METRICS].map(({ name }) => name)]);
  const names = [...queries(), ...alertExpressions()].flatMap(metricsOf);
  t.ok(names.length > 50);
  for (const name of new Set(names)) t.ok(served.has(name.replace(/_bucket$/, '')), name);
});

test('Prometheus understands every query of the dashboard', async (t) => {
  const rules = queries().map((expr, i) => ({ record: `panel:${i}`, expr }));
  const file = join(t.testdir(), 'rules.yml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const checked = promtool(['check', 'rules', file]);
  if (checked === undefined) return t.pass('skipped: there is no promtool');
  t.equal(checked.status, 0, checked.output);
});
