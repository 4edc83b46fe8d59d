import { createCounters } from '../../../src/model/counters.js';
import { createMetrics, type Measured, type Scrape } from '../../../src/service/metrics/metrics.js';
import type {
  ClusterState,
  PublicLogState,
  ServiceState,
  StoreState,
} from '../../../src/service/metrics/state.js';

export const SAMPLE_STATE: ServiceState = {
  version: '1.2.3',
  commit: 'abcdef0',
  secp256k1: 'native',
  configSha256: 'c0ffee',
  reload: { atSeconds: 40, isOk: false },
  certificateEndSeconds: 41,
  isReady: true,
  isClockOk: false,
  announced: {
    unannouncedKeys: 1,
    nextUnannounced: { address: '0x1', fromSeconds: 49 },
    expiresAtSeconds: 48,
  },
  activity: {
    assets: [
      { symbol: 'BTCUSD', signatureType: 'evm', inputs: 3, frozen: ['0xbb'], updatedAtSeconds: 45.5 },
      { symbol: 'BTCUSD', signatureType: 'stark', inputs: 0, frozen: [], updatedAtSeconds: undefined },
    ],
    publishers: [
      { key: '0xaa', signatureType: 'evm', updatedAtSeconds: 46 },
      { key: '0xbb', signatureType: 'stark', updatedAtSeconds: undefined },
    ],
  },
  cluster: undefined,
  publicLog: undefined,
  streamLog: undefined,
};

export const SAMPLE_PUBLIC_LOG: PublicLogState = {
  size: 62,
  checkpointAgeSeconds: 6.3,
  maxDelaySeconds: 30,
  witnesses: 2,
  hasQuorum: false,
  isStopped: true,
};

export const SAMPLE_CLUSTER: ClusterState = {
  role: 'standby',
  epoch: 51,
  logLagRecords: 52,
  logLagSeconds: 5.3,
  ticksSilentSeconds: 0.54,
  tickGaps: 55,
  refusedWrites: 56,
  refusedMessages: 60,
  skippedRecords: 57,
  standbys: 57,
  nodes: 58,
  logCopies: 59,
  forgetfulServers: 61,
};

export const SAMPLE_FIGURES: StoreState = {
  bytes: 42,
  freeBytes: 43,
  committedAtMs: 44_000,
  oldestDay: 2,
  segment: 48,
  segmentsWaiting: 49,
  past: { bytes: 45, bytesMax: 480, files: 46, oldestS: 47, damage: ['a file is missing'] },
};

/** Returns the text of `/metrics` for these measurements and counts. */
export function sampleText(measured: Partial<Measured>, scrape: Partial<Scrape> = {}): Promise<string> {
  const metrics = createMetrics();
  metrics.measure({
    pool: { queued: 0, failures: 0 },
    maker: { updatesWaiting: 0 },
    store: { health: () => ({ ok: true }), recordsWaiting: 0, figures: () => SAMPLE_FIGURES },
    state: () => SAMPLE_STATE,
    assets: () => ({ listed: 0, live: 0 }),
    clock: () => ({ jumps: 0, jumpSeconds: 0, aggregatesAheadSeconds: 0 }),
    edges: () => ({ threads: 0, feedBytesWaiting: 0 }),
    ...measured,
  });
  return metrics.text({ counters: createCounters(), edges: [], lateNsMax: 0n, ...scrape });
}
