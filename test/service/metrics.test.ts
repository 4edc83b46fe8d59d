import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TestSocket } from './harness.js';

// Tests that the text of /metrics follows the rules of the Prometheus text format (version 0.0.4) and its naming conventions.

interface Family {
  readonly type: string;
  readonly samples: Map<string, number>;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$/;
/** The allowed suffixes of names: base units, and words for counts without a unit. */
const UNIT_OF_GAUGE = /_(?:seconds|bytes|total|info|ratio)$/;

const BLOCKED_MS = 750;
/** The longest time before the first late tick. */
const TICK_MS_MAX = 250;
const OTHER_UNIT = /_(?:ns|us|ms|millis\w*|minutes|hours|kb|kib|mb|mib|percent)(?:_|$)/;

async function scrape({ adminUrl }: TestService): Promise<Map<string, number>> {
  const families = parseExposition(await (await fetch(`${adminUrl}/metrics`)).text());
  return new Map([...families.values()].flatMap(({ samples }) => [...samples]));
}

function parseExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let current = '';
  let help = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, comment, name, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (comment === 'HELP') {
      if (families.has(name!)) throw new Error(`${name} comes twice`);
      help = name!;
    } else if (comment === 'TYPE') {
      if (help !== name) throw new Error(`${name} has no help before its type`);
      current = name!;
      families.set(current, { type: rest!, samples: new Map() });
    } else {
      const sample = SAMPLE.exec(line);
      if (sample === null) throw new Error(`no sample: ${line}`);
      const [, ofName, labels = '', value] = sample as unknown as [
        string,
        string,
        string | undefined,
        string,
      ];
      const { type, samples } = families.get(current)!;
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      if (!suffixes.some((suffix) => ofName === current + suffix))
        throw new Error(`${ofName} stands below ${current}`);
      if (samples.has(ofName + labels)) throw new Error(`${ofName}${labels} comes twice`);
      if (Number.isNaN(Number(value)) && !/^(?:NaN|[+-]Inf)$/.test(value))
        throw new Error(`no number: ${line}`);
      samples.set(ofName + labels, Number(value));
    }
  }
  return families;
}

test('the metrics are well-formed, named by the conventions, and measure what they say', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const stream = await TestSocket.open(`${service.socketUrl}/ws`);
  stream.send({ type: 'subscribe', assets: [1] });
  const feed = await Feed.open(service);
  for (let price = 1; price <= 3; price++) {
    await feed.accept({ symbol: 'BTCUSD', price: units(price) });
    await stream.next();
  }
  const response = await fetch(`${service.adminUrl}/metrics`);
  t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const families = parseExposition(await response.text());
  for (const [name, { type }] of families) {
    if (!name.startsWith('tickseal_')) continue;
    t.equal(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    if (/delay|latency|_to_/.test(name)) t.match(name, UNIT_OF_GAUGE);
    t.notMatch(name, OTHER_UNIT);
  }
  const { type, samples } = families.get('tickseal_publish_to_frame_seconds')!;
  t.equal(type, 'histogram');
  t.equal(samples.get('tickseal_publish_to_frame_seconds_count'), 3, 'one for each message with a new price');
  t.equal(samples.get('tickseal_publish_to_frame_seconds_bucket{le="+Inf"}'), 3);
  const buckets = [...samples].filter(([name]) => name.includes('_bucket')).map(([, value]) => value);
  t.same(
    buckets,
    [...buckets].sort((a, b) => a - b),
    'buckets add up',
  );
  t.ok(families.get('tickseal_store_records_waiting')!.samples.size === 1);
  const waiting = 'tickseal_listen_thread_feed_waiting_bytes';
  t.same([...families.get(waiting)!.samples], [[waiting, 0]], 'everything is handled');
});

test('refusals are counted by reason, assets by whether they live, and a blocked event loop shows', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const before = await scrape(service);
  t.equal(before.get('tickseal_assets_live'), 0);
  t.equal(before.get('tickseal_assets_stale'), 2);
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  await feed.publish({ symbol: 'NOPE', price: units(1) }, { symbol: 'DYDXUSD', price: units(1) });
  await feed.publish(
    { symbol: 'NOPE', price: units(1) },
    { symbol: 'BTCUSD', price: units(1), publisher: 9 },
  );
  feed.socket.send('{ no JSON');
  await feed.socket.next();
  const after = await scrape(service);
  const rejected = [...after].filter(([name]) => name.startsWith('tickseal_updates_rejected_total'));
  t.same(Object.fromEntries(rejected), {
    'tickseal_updates_rejected_total{reason="unknown asset"}': 2,
    'tickseal_updates_rejected_total{reason="this asset takes stark signatures"}': 1,
    'tickseal_updates_rejected_total{reason="publisher_key is not on the allow-list"}': 1,
    'tickseal_updates_rejected_total{reason="unreadable message"}': 1,
  });
  t.equal(after.get('tickseal_publish_messages_total'), 4);
  t.equal(after.get('tickseal_updates_accepted_total'), 1);
  t.equal(after.get('tickseal_assets_live'), 1);
  t.equal(after.get('tickseal_assets_stale'), 1);
  await eventually(async () => {
    // This call blocks the whole process, including the service in it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS);
    await new Promise((resolve) => setTimeout(resolve, BLOCKED_MS));
    const blockedS = (await scrape(service)).get('tickseal_event_loop_delay_max_seconds')!;
    return blockedS >= (BLOCKED_MS - TICK_MS_MAX) / 1000;
  });
});
