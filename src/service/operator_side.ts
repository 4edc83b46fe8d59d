import type { Logger } from 'pino';
import { clockJumpSeconds } from '../clock/clock_watch.js';
import type { Ticker } from '../clock/ticker.js';
import type { StreamLog } from '../cluster/node/stream_log.js';
import type { Config } from '../config/config.js';
import { certificateDates } from '../config/named_files.js';
import type { CryptoPool } from '../crypto/pool/pool.js';
import { secp256k1 } from '../crypto/secp256k1/secp256k1.js';
import type { FeedSource } from '../log/feed/feed_source.js';
import type { HourWriter } from '../log/past/hour_writer.js';
import type { Store } from '../log/store/store.js';
import { nearHorizons } from '../model/calendar/horizon.js';
import { type Counters, sumOf } from '../model/counters.js';
import { type Clock, millisecondOf, secondOf } from '../model/time.js';
import { openAdmin } from '../server/admin.js';
import { guardFileHandles } from '../server/uws/file_handles.js';
import type { WebSocketLibrary } from '../server/uws/native.js';
import { announcedState, announcementWarnings } from './announced_state.js';
import type { EdgeSet } from './edge/edge_set.js';
import { FORMATS } from './formats.js';
import { backlogWarnings, logPosition } from './log_position.js';
import { createMetrics } from './metrics/metrics.js';
import type { Reloads } from './metrics/reloads.js';
import type { ServiceState } from './metrics/state.js';
import type { PriceMaker } from './price_maker.js';
import { publicLogState } from './public_log_state.js';
import type { Settings } from './settings.js';

export interface OperatorSideOptions {
  readonly listen: {
    readonly webSockets: WebSocketLibrary;
    readonly at: Config['admin'];
    /** True when another process listens on the admin port until this process takes over. */
    readonly sharesPort: boolean;
  };
  readonly parts: OperatedParts;
  /** Returns the current settings. */
  readonly settings: () => Settings;
  readonly edgesExpected: number;
  readonly program: Pick<ServiceState, 'version' | 'commit'>;
  readonly logger: Logger;
}

/** The parts of a service whose state is shown to the operator. */
export interface OperatedParts {
  readonly edges: EdgeSet;
  readonly pool: CryptoPool;
  readonly maker: PriceMaker;
  readonly streamLog: Pick<StreamLog, 'facts' | 'figures' | 'troubles'> | undefined;
  readonly source: FeedSource;
  readonly store: Store;
  readonly past: Pick<HourWriter, 'figures' | 'damage'>;
  readonly clock: Clock;
  readonly ticker: Ticker;
  readonly counters: Counters;
  readonly reloads: Reloads;
}

/** The operator's interface to the service. */
export interface OperatorSide {
  readonly port: number;
  /** Makes the service not ready until the process ends. */
  stopping(): void;
  close(): void;
}

/** Opens the admin listener, with the readiness and metrics of all parts. @throws Error when its address is in use */
export async function openOperatorSide(options: OperatorSideOptions): Promise<OperatorSide> {
  const { listen, settings, program, logger } = options;
  const { edges, pool, maker, streamLog, source, store, past, clock, ticker, counters, reloads } =
    options.parts;
  const metrics = createMetrics();
  let isStopping = false;

  const clockTroubles = () => [...maker.clockTroubles(), ...edges.troubles()];

  const announced = () => announcedState(settings().config, maker.nodes(), Number(secondOf(clock.nowNs())));

  function notReady(): string[] {
    const health = store.health();
    return [
      ...(isStopping ? ['the service is shutting down'] : []),
      ...(handles.isShort ? ['the process runs out of file handles: no new connections'] : []),
      ...(edges.count < options.edgesExpected ? ['a thread that serves sockets is being replaced'] : []),
      ...(health.ok ? [] : [health.reason]),
      ...maker.troubles(),
      ...(streamLog?.troubles() ?? []),
      ...clockTroubles(),
    ];
  }

  async function metricsText(): Promise<string> {
    const { counters: ofThreads, serving, lateNsMax } = await edges.report();
    const lateNs = ticker.takeLateNsMax();
    return metrics.text({
      counters: sumOf([counters, ...ofThreads]),
      edges: serving,
      lateNsMax: lateNs > lateNsMax ? lateNs : lateNsMax,
    });
  }

  // The other port must already be in use. Otherwise the system could choose the same port for both.
  const admin = await openAdmin(listen.webSockets, listen.at, {
    sharesPort: listen.sharesPort,
    notReady,
    remarks: () => [
      ...announcementWarnings(announced()),
      ...certificateDates(settings().config, millisecondOf(clock.nowNs())).map(({ message }) => message),
      ...past.damage.map((damage) => `the past is damaged: ${damage}`),
      ...backlogWarnings(store.position),
      ...nearHorizons(settings().config.calendars, millisecondOf(clock.nowNs())).map(
        ({ name, message }) => `calendar ${name}: ${message}`,
      ),
    ],
    facts: () => ({ version: program.version, formats: FORMATS, log: logPosition(store.position) }),
    metrics: metricsText,
    lastReload: () => reloads.verdict,
  });
  const clients = {
    setAccepting: (accepting: boolean) => edges.tell({ do: 'setAccepting', accepting }),
  };
  const handles = guardFileHandles({ clients, admin, logger });
  metrics.measure({
    pool,
    maker,
    store: {
      health: () => store.health(),
      get recordsWaiting() {
        return store.recordsWaiting;
      },
      figures: () => ({ ...store.figures(), past: past.figures }),
    },
    assets: () => ({ listed: settings().catalogue.listed.length, live: source.liveCount }),
    clock: () => ({
      jumps: clock.jumps ?? 0,
      jumpSeconds: clockJumpSeconds(clock),
      aggregatesAheadSeconds: maker.aggregatesAheadSeconds,
    }),
    edges: () => ({ threads: edges.count, feedBytesWaiting: edges.feedBytesWaiting }),
    state: () => ({
      version: program.version,
      commit: program.commit,
      secp256k1: secp256k1.implementation,
      configSha256: settings().config.fileSha256,
      ...reloads.state,
      isReady: notReady().length === 0,
      isClockOk: clockTroubles().length === 0,
      activity: maker.activity(),
      announced: announced(),
      cluster: maker.cluster?.(),
      publicLog: maker.publicLog?.(),
      streamLog: publicLogState(streamLog),
    }),
  });
  return {
    port: admin.port,
    stopping() {
      isStopping = true;
      handles.stop();
    },
    close() {
      handles.stop();
      void admin.close();
    },
  };
}
