import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { eventually, pause } from '../../scripts/load/wait.js';
import {
  type Counters,
  countReason,
  countRejection,
  countRequest,
  createCounters,
} from '../../src/model/counters.js';
import type { TimeNs } from '../../src/model/time.js';
import { createMetrics, type Measured } from '../../src/service/metrics/metrics.js';
import type {
  ClusterState,
  PublicLogState,
  ServiceState,
  StoreState,
} from '../../src/service/metrics/state.js';
import { MarketRoom } from '../../src/sources/market_room.js';
import { SourceMeter } from '../../src/sources/markets/source_meter.js';
import { sourceMetricsText } from '../../src/sources/markets/source_metrics.js';
import { parseSources, type SourcesResult } from '../../src/sources/parse_sources.js';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { startTestService } from '../service/harness.js';
import {
  SAMPLE_CLUSTER,
  SAMPLE_FIGURES,
  SAMPLE_PUBLIC_LOG,
  SAMPLE_STATE,
} from '../service/metrics/sample_state.js';
import { isInstalled, type Prometheus, startPrometheus } from './prometheus.js';

// Each alert fires in a real Prometheus: Prometheus scrapes the service's own metrics code in the state of the alert, and
// evaluates the rules each second. The last test causes some of the states in a running service.

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
}

const RULES = parse(readFileSync(join(ROOT, 'scripts/deploy/alerts.yml'), 'utf8')) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};
const ALERTS = RULES.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

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

/** The base state of a service; each alert's case changes a part of it. */
interface Sample {
  readonly counters: Counters;
  readonly assets: { listed: number; live: number };
  readonly figures: { -readonly [K in keyof StoreState]: StoreState[K] };
  readonly state: { -readonly [K in keyof ServiceState]: ServiceState[K] };
  /** The quotes that the sources process has of its markets. */
  quotes: readonly { readonly source: string; readonly price: string }[];
  isStoreOk: boolean;
  clockJumps: number;
}

function healthy(): Sample {
  const nowS = Date.now() / 1000;
  return {
    counters: Object.assign(createCounters(), { updatesAccepted: 1_000 }),
    assets: { listed: 1, live: 1 },
    figures: { ...SAMPLE_FIGURES, freeBytes: 50e9 },
    state: {
      ...SAMPLE_STATE,
      reload: { atSeconds: nowS, isOk: true },
      certificateEndSeconds: nowS + 90 * 86_400,
      isClockOk: true,
      announced: { unannouncedKeys: 0, nextUnannounced: undefined, expiresAtSeconds: nowS + 90 * 86_400 },
      activity: {
        assets: [{ symbol: 'BTCUSD', signatureType: 'evm', inputs: 1, frozen: [], updatedAtSeconds: nowS }],
        publishers: [{ key: '0xaa', signatureType: 'evm', updatedAtSeconds: nowS }],
      },
    },
    quotes: ['a', 'b', 'c'].map((source) => ({ source, price: '100' })),
    isStoreOk: true,
    clockJumps: 0,
  };
}

function clustered(sample: Sample, changed: Partial<ClusterState>): void {
  const calm = {
    role: 'leader',
    logLagSeconds: 0,
    ticksSilentSeconds: 0,
    refusedWrites: 0,
    skippedRecords: 0,
    refusedMessages: 0,
    forgetfulServers: 0,
    standbys: 1,
  } as const;
  sample.state.cluster = { ...SAMPLE_CLUSTER, ...calm, logCopies: 3, ...changed };
}

function logged(sample: Sample, changed: Partial<PublicLogState>): void {
  const calm = { hasQuorum: true, isStopped: false };
  sample.state.publicLog = { ...SAMPLE_PUBLIC_LOG, ...calm, ...changed };
}

const SOURCES = parseSources(
  `sources: { a: { kind: command, run: [x] }, b: { kind: command, run: [x] }, c: { kind: command, run: [x] } }
assets: { BTCUSD: { from: [a BTC, b BTC, c BTC], bounds: [1, 1000] } }`,
  'sources.yaml',
) as SourcesResult & { ok: true };

/** Returns the metrics of a sources process with these quotes. */
function sourcesText(quotes: Sample['quotes']): string {
  const { plan } = SOURCES;
  const nowMs = Date.now();
  const atNs = (BigInt(nowMs) * 1_000_000n) as TimeNs;
  const room = new MarketRoom(plan, () => {});
  for (const [begin, { source, price }] of quotes.entries()) {
    room.open({ begin, source, symbols: ['BTC'] });
    room.read(begin, JSON.stringify({ symbol: 'BTC', price }), atNs);
  }
  return sourceMetricsText({
    meter: new SourceMeter(plan, nowMs),
    decisions: room.tick(atNs),
    nowMs,
    cpuSeconds: 0,
    residentBytes: 0,
    recording: undefined,
  }).replaceAll(/^(?:# \w+ )?process_.*\n/gm, '');
}

/** Calls a function `count` times. */
function times(count: number, call: () => void): void {
  for (let i = 0; i < count; i++) call();
}

/** The states in which the alerts fire. @param s the seconds since the start: counters grow with them */
const STATES: Readonly<Record<string, (sample: Sample, s: number) => void>> = {
  TicksealDown() {},
  TicksealNotReady: ({ state }) => {
    state.isReady = false;
  },
  TicksealStoreFailing(sample, s) {
    sample.isStoreOk = false;
    sample.state.isReady = false;
    // The alerts of failed and dropped aggregates must be silent, because the store is their cause.
    sample.counters.aggregatesDropped = s;
    sample.counters.signingFailures = s;
  },
  TicksealStoreFillsUp: ({ figures }) => {
    figures.freeBytes = 9e8;
  },
  TicksealClockUntrusted: ({ state }) => {
    state.isClockOk = false;
  },
  TicksealClockJumped: (sample, s) => {
    sample.clockJumps = s;
  },
  TicksealSigningFails: ({ counters }, s) => {
    counters.signingFailures = s;
  },
  TicksealPastNearlyFull: ({ figures }) => {
    figures.past = { ...figures.past, bytes: 81, bytesMax: 100 };
  },
  TicksealDiskSlow: ({ counters }, s) => {
    counters.aggregatesDropped = s;
  },
  TicksealAllAssetsStale: ({ assets }) => {
    assets.live = 0;
  },
  TicksealAssetSilent({ state }) {
    const { assets, publishers } = state.activity;
    state.activity = { publishers, assets: [{ ...assets[0]!, updatedAtSeconds: undefined }] };
  },
  TicksealPublisherSilent({ state }) {
    const { assets, publishers } = state.activity;
    const updatedAtSeconds = publishers[0]!.updatedAtSeconds! - 301;
    state.activity = { assets, publishers: [{ ...publishers[0]!, updatedAtSeconds }] };
  },
  TicksealPublisherFrozen({ state }) {
    const { assets, publishers } = state.activity;
    state.activity = { publishers, assets: [{ ...assets[0]!, frozen: ['0xaa'] }] };
  },
  TicksealUpdatesRefused({ counters }, s) {
    counters.updatesAccepted += s * 10;
    times(s * 3, () => countRejection(counters, 'stale'));
  },
  TicksealReloadFailed: ({ state }) => {
    state.reload = { ...state.reload, isOk: false };
  },
  TicksealCertificateEnds: ({ state }) => {
    state.certificateEndSeconds! -= 77 * 86_400;
  },
  TicksealCertificateEndsNow: ({ state }) => {
    state.certificateEndSeconds! -= 89.5 * 86_400;
  },
  TicksealKeyNotAnnounced: ({ state }) => {
    state.announced = { ...state.announced!, unannouncedKeys: 1 };
  },
  TicksealNextKeyNotAnnounced: ({ state }) => {
    const fromSeconds = state.certificateEndSeconds! - 77 * 86_400;
    state.announced = { ...state.announced!, nextUnannounced: { address: '0xaa', fromSeconds } };
  },
  TicksealAnnouncementEnds: ({ state }) => {
    state.announced = {
      unannouncedKeys: 0,
      nextUnannounced: undefined,
      expiresAtSeconds: state.certificateEndSeconds! - 77 * 86_400,
    };
  },
  TicksealOverloaded: ({ counters }, s) => {
    counters.eventLoopStalls = s;
  },
  TicksealSlowReaders: ({ counters }, s) => {
    counters.slowConsumersClosed = s;
  },
  TicksealThreadReplaced: ({ counters }, s) => {
    counters.threadFailures = s;
  },
  // The target limits the number of file handles; see below.
  TicksealFileHandlesShort() {},
  TicksealLoginsRefused: ({ counters }, s) =>
    times(s * 10, () => countReason(counters.loginsRefused, 'unknown')),
  TicksealRequestsFail: ({ counters }, s) =>
    times(s, () => countRequest(counters, '/v1/taxonomy', 500, 0.001)),
  TicksealSlowSecp256k1: ({ state }) => {
    state.secp256k1 = 'noble';
  },
  TicksealNoStandby: (sample) => clustered(sample, { standbys: 0 }),
  TicksealNobodyLeads: (sample) => clustered(sample, { role: 'edge', ticksSilentSeconds: 6 }),
  TicksealLogLag: (sample) => clustered(sample, { role: 'standby', logLagSeconds: 11 }),
  TicksealWritesRefused: (sample, s) => clustered(sample, { refusedWrites: s * 10 }),
  TicksealLogRecordSkipped: (sample, s) => clustered(sample, { skippedRecords: s }),
  TicksealDurableRefused: (sample) => clustered(sample, { forgetfulServers: 1 }),
  TicksealMessagesRefused: (sample, s) => clustered(sample, { refusedMessages: s }),
  TicksealPublicLogBehind: (sample) => logged(sample, { checkpointAgeSeconds: 91 }),
  TicksealWitnessesMissing: (sample) => logged(sample, { hasQuorum: false }),
  TicksealPublicLogStopped: (sample) => logged(sample, { isStopped: true }),
  TicksealSourceSilent: (sample) => {
    sample.quotes = sample.quotes.slice(1);
  },
  TicksealTooFewSources: (sample) => {
    sample.quotes = sample.quotes.map(({ source }, i) => ({ source, price: ['100', '200', '0'][i]! }));
  },
  TicksealPriceOutsideBounds: (sample) => {
    sample.quotes = sample.quotes.map(({ source }) => ({ source, price: '100000' }));
  },
  TicksealLogCopyMissing: (sample, s) => clustered(sample, { logCopies: s < 10 ? 3 : 2 }),
};

/** The alerts that follow from the same state. */
const COMPANIONS: Readonly<Record<string, string>> = {
  TicksealStoreFailing: 'TicksealNotReady',
  TicksealCertificateEndsNow: 'TicksealCertificateEnds',
};
const HEALTHY = 'healthy';
const SERVICE = 'service';

/** Serves the metrics of each state at `/NAME`. @returns the address */
async function serveStates(t: Test): Promise<string> {
  const startMs = performance.now();
  const metrics = new Map([...Object.keys(STATES), HEALTHY].map((name) => [name, createMetrics()]));
  const textOf = async (name: string): Promise<string> => {
    const sample = healthy();
    STATES[name]?.(sample, Math.floor((performance.now() - startMs) / 1000));
    const { isStoreOk, clockJumps, figures, state, assets } = sample;
    const measured: Measured = {
      pool: { queued: 0, failures: 0 },
      maker: { updatesWaiting: 0 },
      store: { health: () => ({ ok: isStoreOk }), recordsWaiting: 0, figures: () => figures },
      state: () => state,
      assets: () => assets,
      clock: () => ({ jumps: clockJumps, jumpSeconds: 0, aggregatesAheadSeconds: 0 }),
      edges: () => ({ threads: 1, feedBytesWaiting: 0 }),
    };
    metrics.get(name)!.measure(measured);
    const served = await metrics.get(name)!.text({ counters: sample.counters, edges: [], lateNsMax: 0n });
    const text = `${served}${sourcesText(sample.quotes)}`;
    return name === 'TicksealFileHandlesShort'
      ? text.replace(/^process_max_fds .*$/m, 'process_max_fds 1')
      : text;
  };
  const server = createServer(async ({ url = '' }, response) => {
    const name = url.slice(1);
    response.writeHead(name === 'TicksealDown' ? 500 : 200, { 'Content-Type': 'text/plain; version=0.0.4' });
    response.end(await textOf(name));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

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

test('each alert fires in its state, with nothing beside it but what follows from that state', async (t) => {
  t.same(Object.keys(STATES).sort(), [...ALERTS].sort(), 'each rule has a state');
  if (!isInstalled('prometheus')) {
    t.pass('skipped: there is no prometheus');
    return;
  }
  const address = await serveStates(t);
  const names = [...Object.keys(STATES), HEALTHY];
  const prometheus = await startWithRules(
    t,
    names.map((name) => ({ targets: [address], labels: { instance: name, __metrics_path__: `/${name}` } })),
  );
  const expected = Object.keys(STATES)
    .flatMap((name) => [name, COMPANIONS[name] ?? []].flat().map((alert) => `${name} ${alert}`))
    .sort();
  await eventually(async () => {
    const now = await fired(prometheus);
    if (expected.every((one) => now.includes(one))) return true;
    await pause(500);
    return undefined;
  });
  t.same(await fired(prometheus), expected, 'no other alert, and none of a healthy service');
  const { alerts } = await prometheus.get<{ alerts: readonly { annotations: { summary: string } }[] }>(
    'alerts',
  );
  for (const { annotations } of alerts) t.notMatch(annotations.summary, /<no value>|<error/);
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
