import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BroadcastChannel, setEnvironmentData } from 'node:worker_threads';
import type { Test } from 'tap';
import { systemClock } from '../../../src/clock/clock.js';
import { SharedClock } from '../../../src/clock/shared_clock.js';
import { streamMarks } from '../../../src/clock/signed_times.js';
import { LocalLog } from '../../../src/cluster/node/local_log.js';
import { LogSink } from '../../../src/cluster/node/log_sink.js';
import { parseConfig } from '../../../src/config/load.js';
import { FeedSource } from '../../../src/log/feed/feed_source.js';
import { openStore } from '../../../src/log/store/store.js';
import type { Asset } from '../../../src/model/asset.js';
import { Catalogue } from '../../../src/model/catalogue.js';
import { timedKeysOf } from '../../../src/model/key_schedule.js';
import type { Price } from '../../../src/model/price.js';
import type { ReadMessage } from '../../../src/prices/message.js';
import type { PublisherSession, PublishOutcome } from '../../../src/prices/publisher_session.js';
import { createSharedAccess } from '../../../src/server/access/shared_access.js';
import { claimPort } from '../../../src/server/uws/port_claim.js';
import type { EdgeSet } from '../../../src/service/edge/edge_set.js';
import { loadThread } from '../../../src/service/edge/threads/loaded_thread.js';
import {
  openThreadedEdges,
  type ThreadedEdgesOptions,
  type ThreadLimits,
} from '../../../src/service/edge/threads/threaded_edges.js';
import { sampleShown } from '../../log/records/sample_line.js';
import { sampleAggregate, YEARS_MS } from '../../log/store/sample.js';
import { QUALITY } from '../../model/sample.js';
import { SERVICE_KEYS, type Sections, testConfig } from '../harness.js';
import { DUE, DUE_AT_START, FAULTS, type Fault, type FaultChannel } from './threads/faulty_thread_main.js';

/** The number of threads of the edges. */
export const THREADS = 2;
/** A time longer than any test, so that no thread counts as hung. */
const NEVER_MS = 3_600_000;
const FAULTY_THREAD = new URL('./threads/faulty_thread_main.js', import.meta.url);

export interface EdgesHarness {
  readonly edges: EdgeSet;
  readonly url: string;
  readonly counters: { threadOverruns: number; threadFailures: number };
  readonly failures: readonly string[];
  /** The trace IDs of the messages that publishers sent, in the order of arrival. */
  readonly received: readonly (string | undefined)[];
  /** Returns the assets of the current configuration. */
  readonly listed: () => readonly Asset[];
  /** The prices and aggregates by symbol that the edges must serve. */
  readonly live: ReadonlyMap<string, { price: Price; signed: Price | undefined }>;
  price(asset: Asset, price: Price): void;
  /** Signs the live price of an asset, if the asset has one. */
  sign(asset: Asset): void;
  end(asset: Asset): void;
  reload(sections: Sections): void;
  /** Causes this fault in exactly one thread, which may be any thread. */
  inject(fault: Fault): void;
  /** Makes the next new thread block forever, without CPU time. */
  hangAtStart(): void;
}

/** Starts threads with edges on a real store. The test supplies the feed. */
export async function startEdges(
  t: Test,
  sections: Sections,
  { at, ...limits }: ThreadLimits & Partial<Pick<ThreadedEdgesOptions, 'at'>> = {},
): Promise<EdgesHarness> {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-test-'));
  const clock = systemClock();
  let config = configOf(dir, sections);
  let catalogue = new Catalogue(config);
  const store = await openStore({
    dir: config.storage.dir,
    assets: catalogue.listed,
    candleRetentionMs: YEARS_MS,
    clock,
  });
  const counters = { threadOverruns: 0, threadFailures: 0 };
  const failures: string[] = [];
  const received: (string | undefined)[] = [];
  const identity = {
    streamKeys: timedKeysOf(SERVICE_KEYS.evm),
  };
  let edges: EdgeSet | undefined;
  const source = new FeedSource(1);
  const sink = new LogSink({
    log: new LocalLog({ store, source }),
    store,
    source,
    shown: sampleShown(),
  });
  const due = new Int32Array(new SharedArrayBuffer(8));
  const channel = new BroadcastChannel(`faults ${randomUUID()}`);
  const faults: FaultChannel = { channel: channel.name, due };
  setEnvironmentData(FAULTS, faults as unknown as Parameters<typeof setEnvironmentData>[1]);
  const listen = at ?? config.listen;
  const load = () => loadThread(undefined, false, FAULTY_THREAD);
  const sharedClock = new SharedClock(clock);
  const nodes = { self: 0, nodes: [], signers: [] };
  const access = createSharedAccess(THREADS + 1);
  const startOf = (thread: number) => {
    const place = { node: 0, thread };
    const marks = streamMarks(store.marks, place);
    return { place, marks, simulation: false };
  };
  const close = async () => {
    await edges?.close();
    channel.close();
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const port = await claimPort(listen);
    edges = await openThreadedEdges({
      settings: { config, identity, nodes },
      at: { ...listen, port },
      threads: { loaded: Array.from({ length: THREADS }, load), loadThread: load },
      startOf,
      parts: { access, sharedClock, source, store, counters },
      hooks: {
        receiver: { receive },
        onPastDamage() {},
        logger: {
          info() {},
          warn() {},
          error: (about: unknown) => failures.push((about as { err: Error }).err.message),
        },
      },
      limits: { silenceMsMax: NEVER_MS, ...limits },
    });
  } catch (error) {
    await close();
    throw error;
  }
  t.teardown(close);

  async function receive(
    _session: PublisherSession,
    { traceId, updates }: ReadMessage,
  ): Promise<PublishOutcome> {
    received.push(traceId);
    return { ok: true, traceId, accepted: updates.map(({ symbol }) => symbol), rejected: new Map() };
  }

  const live = new Map<string, { price: Price; signed: Price | undefined }>();
  const end = (asset: Asset) => {
    if (!live.delete(asset.symbol)) return;
    sink.ended({ asset, atNs: clock.nowNs() });
  };
  return {
    edges,
    url: `127.0.0.1:${edges.port}`,
    counters,
    failures,
    received,
    listed: () => catalogue.listed,
    live,
    price(asset, price) {
      const known = live.get(asset.symbol);
      if (known?.price === price) return;
      live.set(asset.symbol, { price, signed: known?.signed });
      sink.priced({ asset, price, quality: QUALITY });
    },
    sign(asset) {
      const known = live.get(asset.symbol);
      if (known === undefined) return;
      known.signed = known.price;
      sink.signed({ asset, aggregate: sampleAggregate(asset, [], known.price, clock.nowNs()) });
    },
    end,
    reload(next) {
      const before = catalogue;
      config = configOf(dir, next);
      catalogue = new Catalogue(config, before);
      store.reconfigure({ assets: catalogue.listed, candleRetentionMs: YEARS_MS });
      edges!.tell({ do: 'reload', config, identity });
      for (const asset of before.listed) if (!catalogue.listed.includes(asset)) end(asset);
    },
    inject(fault) {
      Atomics.add(due, DUE, 1);
      channel.postMessage(fault);
    },
    hangAtStart() {
      Atomics.add(due, DUE_AT_START, 1);
    },
  };
}

function configOf(dir: string, sections: Sections) {
  const loaded = parseConfig(testConfig(dir, sections), 'test.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
}
