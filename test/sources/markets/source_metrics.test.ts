import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'tap';
import { listenForMetrics } from '../../../src/cli/metrics_listener.js';
import { SOURCE_METRICS, sourceMetricsText } from '../../../src/sources/markets/source_metrics.js';
import { readPage } from '../../pages.js';
import { until } from './manual_time.js';
import { TradingFloor } from './trading_floor.js';

/** Reads samples of the Prometheus text format: each series with its value. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

function scrape(floor: TradingFloor): Map<string, number> {
  return samplesOf(
    sourceMetricsText({
      meter: floor.run.meter,
      decisions: floor.run.decisions(),
      nowMs: Number(floor.time.nowNs() / 1_000_000n),
      cpuSeconds: 1.5,
      residentBytes: 80e6,
      recording: undefined,
    }),
  );
}

test('metrics tell of each source and each market', async (t) => {
  const floor = await TradingFloor.start(t, ['kraken', 'coinbase', 'bitstamp', 'binance']);
  for (let i = 1; i <= 4; i++) await floor.step(100_000 + i);
  floor.exchange('kraken').say('{garbage');
  await until(() => floor.run.meter.sources.get('kraken')!.events.get('malformed') === 1, 'the garbage');
  let values = scrape(floor);
  const market = 'asset="BTCUSD",source="binance",symbol="BTC/USDT"';
  t.equal(values.get('tickseal_sources_connections{source="kraken"}'), 1);
  t.equal(values.get('tickseal_sources_connections_opened_total{source="kraken"}'), 1);
  t.equal(values.get('tickseal_sources_events_total{source="kraken",event="malformed"}'), 1);
  t.ok(values.get('tickseal_sources_events_total{source="kraken",event="quote"}')! >= 10);
  t.ok(values.get('tickseal_sources_frames_total{source="kraken"}')! > 10);
  t.ok(values.get('tickseal_sources_frame_characters_total{source="kraken"}')! > 1_000);
  t.equal(values.get('tickseal_sources_live_markets{source="kraken"}'), 2);
  t.equal(values.get(`tickseal_sources_market_used{${market}}`), 1);
  t.equal(values.get(`tickseal_sources_quote_age_seconds{${market}}`), 0.5);
  t.ok(values.get(`tickseal_sources_verdicts_total{${market},verdict="used"}`)! >= 4);
  t.ok(values.get('tickseal_sources_decisions_total{asset="BTCUSD",trigger="clock"}')! >= 4);
  t.equal(values.get('tickseal_sources_withheld{asset="BTCUSD",reason="too few sources"}'), 0);
  t.equal(values.get('process_resident_memory_bytes'), 80e6);
  for (const kind of ['kraken', 'bitstamp', 'binance'] as const) {
    floor.dishonest.add(kind);
    floor.exchange(kind).stop();
  }
  for (let i = 1; i <= 14; i++) await floor.step(100_010 + i);
  values = scrape(floor);
  t.equal(values.get('tickseal_sources_live_markets{source="kraken"}'), 0);
  t.ok(values.get('tickseal_sources_silence_seconds{source="kraken"}')! >= 7);
  t.ok(values.get('tickseal_sources_connections_opened_total{source="kraken"}')! > 1);
  t.equal(values.get(`tickseal_sources_market_used{${market}}`), 0);
  t.equal(values.get('tickseal_sources_withheld{asset="BTCUSD",reason="too few sources"}'), 1);
  t.ok(values.get('tickseal_sources_withheld_total{asset="BTCUSD",reason="too few sources"}')! > 1);
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
