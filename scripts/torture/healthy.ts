import { fetchBody, fetchOnce } from '../load/fetch_body.js';
import { readMetrics } from '../load/metrics.js';
import { publishFirstPrices } from '../load/priced_service.js';
import type { ServerProcess } from '../load/server_process.js';
import { percentile } from '../load/statistics.js';
import { openStreams, type Streams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { measureUsage } from '../load/usage.js';
import { pause } from '../load/wait.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { until } from './service.js';

const PUBLISH_INTERVAL_MS = 10;
const REQUEST_INTERVAL_MS = 20;
const LATEST = '/v1/prices/latest?assets=A0';

/** The observations of the healthy clients in a period. */
export interface Seen {
  readonly framesPerSecond: number;
  readonly restMs: number;
  readonly livezMs: number;
  readonly ackMs: number;
  readonly loopDelayMs: number;
  readonly cpuShare: number;
  /** The anonymous memory of the service at the end of the period. */
  readonly bytes: number;
}

/** The healthy clients: a reader of one asset, a publisher of one asset, and sequential requests to both ports. */
export class Healthy {
  readonly #service: ServerProcess;
  readonly #streams: Streams;
  readonly #publisher: AckedPublisher;
  readonly #stop: () => void;
  #restMs: number[] = [];
  #livezMs: number[] = [];
  #isOpen = true;

  private constructor(service: ServerProcess, streams: Streams, publisher: AckedPublisher) {
    this.#service = service;
    this.#streams = streams;
    this.#publisher = publisher;
    this.#stop = keepSending([publisher], PUBLISH_INTERVAL_MS);
    void this.#keepAsking(
      () => fetchBody(service.port, LATEST),
      (ms) => this.#restMs.push(ms),
    );
    void this.#keepAsking(
      async () => (await fetchOnce(`http://127.0.0.1:${service.adminPort}/livez`)).text(),
      (ms) => this.#livezMs.push(ms),
    );
  }

  /** Publishes the first `assetCount` assets, and starts the clients when the first asset has a signed aggregate. */
  static async open(service: ServerProcess, assetCount: number): Promise<Healthy> {
    const { port } = service;
    const updates = new Updates('evm');
    await publishFirstPrices(port, assetCount, updates);
    await until('the first is signed', () => fetchBody(port, LATEST).then(Boolean, () => false));
    const query = 'channel=10ms&message_type=signed_ecdsa';
    const streams = await openStreams({ port, query, count: 1, assetsOf: () => [0] });
    const one = { port, publisher: 0, assets: [0], ack: 'true', updates } as const;
    return new Healthy(service, streams, await AckedPublisher.open(one));
  }

  /** Starts to observe the clients for a period. */
  async see(ms: number): Promise<Seen> {
    this.#restMs = [];
    this.#livezMs = [];
    this.#publisher.delaysMs = [];
    await readMetrics(this.#service);
    const framesBefore = this.#streams.frames;
    const startMs = performance.now();
    const endUsage = measureUsage(this.#service);
    await pause(ms);
    const seconds = (performance.now() - startMs) / 1_000;
    const { serverShare } = endUsage();
    const frames = this.#streams.frames - framesBefore;
    const metrics = await readMetrics(this.#service);
    return {
      framesPerSecond: frames / seconds,
      restMs: percentile(this.#restMs, 99),
      livezMs: percentile(this.#livezMs, 99),
      ackMs: percentile(this.#publisher.delaysMs, 99),
      loopDelayMs: metrics.get('tickseal_event_loop_delay_max_seconds')! * 1_000,
      cpuShare: serverShare,
      bytes: this.#service.anonymousBytes(),
    };
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#stop();
    await until('all is answered', () => this.#publisher.unanswered === 0);
    this.#publisher.close();
    this.#streams.close();
  }

  async #keepAsking(ask: () => Promise<unknown>, onAnswer: (ms: number) => void): Promise<void> {
    while (this.#isOpen) {
      const startMs = performance.now();
      await ask();
      onAnswer(performance.now() - startMs);
      await pause(REQUEST_INTERVAL_MS);
    }
  }
}
