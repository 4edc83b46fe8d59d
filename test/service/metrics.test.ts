import { test } from 'tap';
import { Feed, units } from './feed.js';
import { startTestService, TestSocket } from './harness.js';

// What /metrics serves, read by the rules of the Prometheus text format (version 0.0.4) and its naming conventions.

interface Family {
  readonly type: string;
  readonly samples: Map<string, number>;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})? (\S+)$/;
/** Base units, and what counts things without one. */
const UNIT_OF_GAUGE = /_(?:seconds|bytes|total|info|ratio)$/;

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
  for (const kind of ['frames', 'events']) {
    const name = `tickseal_listen_thread_${kind}_waiting_bytes`;
    t.same([...families.get(name)!.samples], [[name, 0]], 'everything is handled');
  }
});
