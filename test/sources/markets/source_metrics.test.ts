import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { test } from 'tap';
import { listenForMetrics } from '../../../src/cli/metrics_listener.js';
import { SOURCE_METRICS, sourceMetricsText } from '../../../src/sources/markets/source_metrics.js';
import { readPage } from '../../pages.js';
import { until } from './manual_time.js';
import { MarketScene } from './market_scene.js';

/** Returns each series of a run's metrics with its value. */
function scrape(scene: MarketScene): Map<string, number> {
  const text = sourceMetricsText({
    meter: scene.run.meter,
    decisions: scene.run.decisions(),
    nowMs: Number(scene.time.nowNs() / 1_000_000n),
    cpuSeconds: 1.5,
    residentBytes: 80e6,
    recording: undefined,
  });
  return new Map(
    [...text.matchAll(/^([^# ].*) (\S+)$/gm)].map(([, series, value]) => [series!, Number(value)]),
  );
}

test('metrics tell of each source and each market', async (t) => {
  const scene = await MarketScene.start(t, { kraken: ['BTC/USD'], binance: ['BTC/USDT'] });
  for (let i = 0; i < 4; i++) {
    await scene.show('kraken', 'BTC/USD', 100);
    await scene.show('binance', 'BTC/USDT', 100);
    scene.pass();
  }
  scene.exchange('kraken').say('{garbage');
  await until(() => scene.run.meter.sources.get('kraken')!.events.get('malformed') === 1, 'the garbage');
  const before = scrape(scene);
  for (const kind of ['kraken', 'binance'] as const) scene.exchange(kind).stop();
  for (let i = 0; i < 30; i++) scene.pass();
  const after = scrape(scene);
  const market = 'asset="A",source="binance",symbol="BTC/USDT"';
  for (const [series, first, last] of [
    ['events_total{source="kraken",event="malformed"}', 1, 1],
    ['events_total{source="kraken",event="quote"}', 4, 4],
    ['live_markets{source="kraken"}', 1, 0],
    [`market_used{${market}}`, 1, 0],
    [`quote_age_seconds{${market}}`, 0.5, 15.5],
    ['withheld{asset="A",reason="too few sources"}', 0, 1],
  ] as const)
    t.same(
      [before, after].map((values) => values.get(`tickseal_sources_${series}`)),
      [first, last],
      series,
    );
  t.equal(before.get('tickseal_sources_connections{source="kraken"}'), 1);
  t.ok(after.get('tickseal_sources_connections_opened_total{source="kraken"}')! > 1);
  t.ok(before.get(`tickseal_sources_verdicts_total{${market},verdict="used"}`)! >= 4);
  t.ok(after.get('tickseal_sources_silence_seconds{source="kraken"}')! >= 15);
  t.equal(after.get('process_resident_memory_bytes'), 80e6);
});

test('the page has a row for each metric', async (t) => {
  const rows = [...readPage('src/sources/README.md').matchAll(/^\| `(tickseal_sources_\w+|process_\w+)/gm)];
  t.same(rows.map(([, name]) => name).sort(), SOURCE_METRICS.map(({ name }) => name).sort());
});

test('the listener answers GET /metrics, under its own names alone', async (t) => {
  const listener = await listenForMetrics('127.0.0.1', 0, () => 'a 1\n');
  t.teardown(() => listener.close());
  for (const [method, path, host, status] of [
    ['GET', '/metrics', 'localhost:9091', 200],
    ['GET', '/', 'localhost', 404],
    ['POST', '/metrics', 'localhost', 405],
    ['GET', '/metrics', 'rebound.example', 421],
  ] as const) {
    const asked = request({ host: '127.0.0.1', port: listener.port, method, path, headers: { host } }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    t.equal(answer.statusCode, status, `${method} ${path} of ${host}`);
  }
});
