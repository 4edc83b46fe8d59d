import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'tap';
import { listenForMetrics } from '../../../src/cli/metrics_listener.js';
import { SOURCE_METRICS, sourceMetricsText } from '../../../src/sources/markets/source_metrics.js';
import { readPage } from '../../pages.js';
import { until } from './manual_time.js';
import { MarketScene } from './market_scene.js';

/** Reads samples of the Prometheus text format: each series with its value. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

function scrape(scene: MarketScene): Map<string, number> {
  return samplesOf(
    sourceMetricsText({
      meter: scene.run.meter,
      decisions: scene.run.decisions(),
      nowMs: Number(scene.time.nowNs() / 1_000_000n),
      cpuSeconds: 1.5,
      residentBytes: 80e6,
      recording: undefined,
    }),
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
  t.ok(before.get('tickseal_sources_frame_characters_total{source="kraken"}')! > 200);
  t.ok(before.get(`tickseal_sources_verdicts_total{${market},verdict="used"}`)! >= 4);
  t.ok(before.get('tickseal_sources_decisions_total{asset="A",trigger="clock"}')! >= 4);
  t.ok(after.get('tickseal_sources_silence_seconds{source="kraken"}')! >= 15);
  t.equal(after.get('process_resident_memory_bytes'), 80e6);
});

test('the page has a row for each metric', async (t) => {
  const rows = [...readPage('src/sources/README.md').matchAll(/^\| `(tickseal_sources_\w+|process_\w+)/gm)];
  t.same(rows.map(([, name]) => name).sort(), SOURCE_METRICS.map(({ name }) => name).sort());
});

test('the listener answers GET /metrics and nothing else', async (t) => {
  const listener = await listenForMetrics('127.0.0.1', 0, () => 'a 1\n');
  t.teardown(() => listener.close());
  const address = `http://127.0.0.1:${listener.port}`;
  const answer = await fetch(`${address}/metrics`);
  t.equal(await answer.text(), 'a 1\n');
  t.match(answer.headers.get('content-type'), 'text/plain; version=0.0.4');
  t.equal((await fetch(`${address}/`)).status, 404);
  const head = await fetch(`${address}/metrics`, { method: 'HEAD' });
  t.equal(head.headers.get('content-length'), '4');
  const refused = await fetch(`${address}/metrics`, { method: 'POST', body: 'x' });
  t.same([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD']);
  for (const [host, status] of [
    ['rebound.example', '421'],
    ['localhost:9091', '200'],
  ] as const) {
    const named = connect(listener.port, '127.0.0.1', () =>
      named.write(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
    );
    const [text] = await once(named, 'data');
    t.match(String(text), `HTTP/1.1 ${status} `, host);
    named.destroy();
  }
  // A Prometheus in the network may know the machine by any name.
  const open = await listenForMetrics('0.0.0.0', 0, () => 'a 1\n');
  t.teardown(() => open.close());
  const named = connect(open.port, '127.0.0.1', () =>
    named.write('GET /metrics HTTP/1.1\r\nHost: sources.example:9091\r\n\r\n'),
  );
  t.match(String((await once(named, 'data'))[0]), 'HTTP/1.1 200 ');
  named.destroy();
  const raw = connect(listener.port, '127.0.0.1', () => raw.write('nonsense\r\n\r\n'));
  raw.resume();
  await once(raw, 'close');
  t.equal((await fetch(`${address}/metrics`)).status, 200, 'after nonsense');
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as { port: number };
  await t.rejects(
    listenForMetrics('127.0.0.1', port, () => ''),
    { code: 'EADDRINUSE' },
  );
});
