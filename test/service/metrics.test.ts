import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { promtool } from '../deploy/prometheus.js';
import { Feed, units } from './feed.js';
import { get, publisherSigner, startTestService } from './harness.js';

async function scrape(adminUrl: string): Promise<string> {
  return (await fetch(`${adminUrl}/metrics`)).text();
}

/** Returns the value of a line of the text format. */
function sampleOf(text: string, series: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test('assets, publishers, requests and the store show what they did', async (t) => {
  const service = await startTestService(t);
  const before = await scrape(service.adminUrl);
  t.equal(sampleOf(before, 'tickseal_asset_inputs{asset="BTCUSD",signature_type="evm"}'), 0);
  t.notMatch(before, 'tickseal_asset_last_update_timestamp_seconds{');
  t.notMatch(before, 'tickseal_publisher_last_update_timestamp_seconds{');
  t.notMatch(before, /^tickseal_certificate/m, 'there is no TLS');
  const feed = await Feed.open(service, { ack: 'durable' });
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  await get(`${service.url}/v1/taxonomy`);
  await fetch(`${service.url}/v1/taxonomy`);
  await fetch(`${service.url}/no/such/path`);
  // The test waits, because the first commit follows within 50 ms.
  const text = await eventually(async () => {
    const now = await scrape(service.adminUrl);
    return sampleOf(now, 'tickseal_store_last_commit_timestamp_seconds') === undefined ? undefined : now;
  });
  const nowS = Date.now() / 1000;
  const isRecent = (series: string) => {
    const value = sampleOf(text, series);
    t.ok(value !== undefined && Math.abs(nowS - value) < 60, `${series} ${value}`);
  };
  const { publicKey } = publisherSigner(1);
  t.equal(sampleOf(text, 'tickseal_asset_inputs{asset="BTCUSD",signature_type="evm"}'), 1);
  t.equal(sampleOf(text, 'tickseal_asset_inputs{asset="DYDXUSD",signature_type="stark"}'), 0);
  isRecent('tickseal_asset_last_update_timestamp_seconds{asset="BTCUSD",signature_type="evm"}');
  t.notMatch(text, 'tickseal_asset_last_update_timestamp_seconds{asset="DYDXUSD"');
  const labels = `publisher="${publicKey.toLowerCase()}",signature_type="evm"`;
  isRecent(`tickseal_publisher_last_update_timestamp_seconds{${labels}}`);
  isRecent('tickseal_store_last_commit_timestamp_seconds');
  isRecent('tickseal_config_last_reload_timestamp_seconds');
  t.equal(text.match(/^tickseal_publisher_last_update_timestamp_seconds\{/gm)?.length, 1);
  t.equal(sampleOf(text, 'tickseal_rest_requests_total{route="/v1/taxonomy",status="200"}'), 1);
  t.equal(sampleOf(text, 'tickseal_rest_requests_total{route="/v1/taxonomy",status="401"}'), 1);
  t.equal(sampleOf(text, 'tickseal_rest_requests_total{route="other",status="404"}'), 1);
  t.equal(sampleOf(text, 'tickseal_rest_request_duration_seconds_count{route="/v1/taxonomy"}'), 2);
  t.equal(sampleOf(text, 'tickseal_ready'), 1);
  t.equal(sampleOf(text, 'tickseal_clock_healthy'), 1);
  t.ok(sampleOf(text, 'tickseal_store_bytes')! > 1_000);
  t.ok(sampleOf(text, 'tickseal_store_free_bytes')! > 0);
  const checked = promtool(['check', 'metrics'], text);
  if (checked === undefined) return t.comment('there is no promtool');
  t.same(
    checked.output.split('\n').filter((line) => line.includes('tickseal_')),
    [],
    'promtool has nothing to say',
  );
  t.notMatch(checked.output, /parsing|error while/);
});
