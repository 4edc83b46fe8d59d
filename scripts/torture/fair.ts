import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { TOKEN } from '../load/config.js';
import { fetchBody, fetchOnce } from '../load/fetch_body.js';
import { readMetrics } from '../load/metrics.js';
import { type ServerProcess, startServer, startService } from '../load/server_process.js';
import { percentile } from '../load/statistics.js';
import { openStreams, type Streams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { measureUsage } from '../load/usage.js';
import { pause } from '../load/wait.js';
import type { Check, Finding, Scale, Sizes } from './check.js';
import { HOSTILE_ASSETS, type HostileKind } from './hostile.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { changeConfig, until, writeTortureConfig } from './service.js';

/** The check with a token that uses all its limits, while another token has a reader and a publisher. */
export const fair: Check = {
  name: 'fair',
  title: 'one token uses all that it may',
  run: measure,
};

const MS: Readonly<Record<Scale, number>> = { full: 8_000, smoke: 300 };
/**
 * The kinds of hostile clients in a smoke run: the kind during which the check revokes a token, and a kind that opens connections
 * repeatedly.
 */
const SMOKE_KINDS: readonly HostileKind[] = ['junk', 'forged'];
const PUBLISH_INTERVAL_MS = 10;
const REQUEST_INTERVAL_MS = 20;
const REVOKED_TOKEN = 'revoked';
/** The smallest share of frames, in percent, that a reader must still get. */
const FRAMES_SHARE_MIN = 90;
const LIVEZ_MS_MAX = 100;
const REVOCATION_MS_MAX = 1_000;
const LOOP_DELAY_MS_MAX = 100;
const TIMES_SLOWER_MAX = 3;
/** The smallest time without load in the comparison. A shorter time may triple without being a problem. */
const REST_MS_MIN = 5;

const TITLES: Readonly<Record<HostileKind, string>> = {
  signed: '100 connections × 999 assets, sets of their own, signed, 10ms',
  subscriptions: '999 assets subscribed and unsubscribed, 10/s on 100 connections',
  junk: '10 publishers with 1 MB of junk each, as fast as they can',
  forged: '50 publishers with 999 bad signatures each, reconnecting',
  empty: 'messages on 20 connections that are continued without bytes',
  tiny: '20 publishers of messages without prices, as fast as they can',
};

/** The observations of the healthy clients in a period. */
interface Seen {
  readonly framesPerSecond: number;
  readonly restMs: number;
  readonly livezMs: number;
  readonly ackMs: number;
  readonly loopDelayMs: number;
  readonly cpuShare: number;
  /**
   * The share of the time for which threads of the service were ready to run but had no core. It measures the noise of the
   * machine.
   */
  readonly waitShare: number;
}

async function measure(scale: Scale, { threads }: Sizes): Promise<Finding[]> {
  const kinds = scale === 'smoke' ? SMOKE_KINDS : (Object.keys(TITLES) as HostileKind[]);
  const findings: Finding[] = [];
  for (const kind of kinds) findings.push(...(await measureBeside(kind, scale, threads)));
  return findings;
}

async function measureBeside(kind: HostileKind, scale: Scale, threads: number): Promise<Finding[]> {
  const { file } = writeTortureConfig(
    { assets: HOSTILE_ASSETS, publishers: 2, clockPeriod: '10s' },
    { connections_per_token: 100 },
  );
  const sha256 = createHash('sha256').update(REVOKED_TOKEN).digest('hex');
  changeConfig(file, ({ tokens, listen }) => {
    tokens.push({ ...tokens[0], name: REVOKED_TOKEN, sha256 });
    listen['threads'] = threads;
  });
  const service = await startService(file);
  const healthy = await Healthy.open(service);
  await healthy.see(MS[scale] / 4);
  const before = await healthy.see(MS[scale]);
  const hostile = await startServer(
    [fileURLToPath(new URL('./hostile_main.js', import.meta.url)), kind],
    [String(service.port)],
  );
  await healthy.see(MS[scale] / 4);
  const beside = await healthy.see(MS[scale]);
  const revokedMs = kind === 'junk' ? await revoke(service, file) : undefined;
  await hostile.stop();
  await healthy.close();
  await service.stop();
  return findingsOf(kind, before, beside, revokedMs);
}

/** The healthy clients: a reader of one asset, a publisher of one asset, and sequential requests to both ports. */
class Healthy {
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
      () => fetchBody(service.port, '/v1/prices/latest?assets=A0'),
      (ms) => this.#restMs.push(ms),
    );
    void this.#keepAsking(
      async () => (await fetchOnce(`http://127.0.0.1:${service.adminPort}/livez`)).text(),
      (ms) => this.#livezMs.push(ms),
    );
  }

  static async open(service: ServerProcess): Promise<Healthy> {
    const { port } = service;
    const updates = new Updates('evm');
    const open = (assets: readonly number[]) =>
      AckedPublisher.open({ port, publisher: 0, assets, ack: 'true', updates });
    const all = await open(Array.from({ length: HOSTILE_ASSETS }, (_, asset) => asset));
    all.send();
    await until('all assets have prices', () => all.unanswered === 0);
    all.close();
    await until('the first is signed', async () =>
      fetchBody(port, '/v1/prices/latest?assets=A0').then(
        () => true,
        () => false,
      ),
    );
    const streams = await openStreams({
      port,
      query: 'channel=10ms&message_type=signed_ecdsa',
      count: 1,
      token: TOKEN,
      assetsOf: () => [0],
    });
    return new Healthy(service, streams, await open([0]));
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
    const { serverShare, serverWaitShare } = endUsage();
    const frames = this.#streams.frames - framesBefore;
    const metrics = await readMetrics(this.#service);
    return {
      framesPerSecond: frames / seconds,
      restMs: percentile(this.#restMs, 99),
      livezMs: percentile(this.#livezMs, 99),
      ackMs: percentile(this.#publisher.delaysMs, 99),
      loopDelayMs: metrics.get('tickseal_event_loop_delay_max_seconds')! * 1_000,
      cpuShare: serverShare,
      waitShare: serverWaitShare,
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

/** @returns the time in ms from SIGHUP until a connection ends whose token is no longer in the configuration */
async function revoke(service: ServerProcess, file: string): Promise<number> {
  let endedMs = Number.NaN;
  await openStreams({
    port: service.port,
    query: 'channel=1s',
    count: 1,
    token: REVOKED_TOKEN,
    assetsOf: () => [0],
    onClose: () => {
      endedMs = performance.now();
    },
  });
  changeConfig(file, ({ tokens }) => tokens.pop());
  const startMs = performance.now();
  service.signal('SIGHUP');
  await until('the connection is closed', () => !Number.isNaN(endedMs));
  return endedMs - startMs;
}

function findingsOf(kind: HostileKind, before: Seen, beside: Seen, revokedMs: number | undefined): Finding[] {
  const timing = (figure: string, value: number, unit: string, mustBe: Finding['mustBe']): Finding => ({
    figure,
    value,
    unit,
    isTiming: true,
    ...(mustBe && { mustBe }),
  });
  const triple = (ms: number) => ({ atMost: TIMES_SLOWER_MAX * Math.max(ms, REST_MS_MIN) });
  const share = (100 * beside.framesPerSecond) / before.framesPerSecond;
  const isOf = (...kinds: HostileKind[]) => kinds.includes(kind);
  return [
    timing(TITLES[kind], beside.cpuShare * 100, '% of a core', undefined),
    timing('  time without a free core', beside.waitShare * 100, '%', undefined),
    timing('  frames of a reader before', before.framesPerSecond, '/s', undefined),
    timing('  beside it', share, '%', isOf('forged') ? undefined : { atLeast: FRAMES_SHARE_MIN }),
    timing('  REST p99 before', before.restMs, 'ms', undefined),
    timing('  beside it', beside.restMs, 'ms', isOf('subscriptions') ? triple(before.restMs) : undefined),
    timing('  /livez p99 before', before.livezMs, 'ms', undefined),
    timing(
      '  beside it',
      beside.livezMs,
      'ms',
      isOf('junk', 'empty', 'tiny') ? { atMost: LIVEZ_MS_MAX } : undefined,
    ),
    timing('  ack p99 before', before.ackMs, 'ms', undefined),
    timing('  beside it', beside.ackMs, 'ms', isOf('forged') ? triple(before.ackMs) : undefined),
    timing(
      '  longest delay of the event loop',
      beside.loopDelayMs,
      'ms',
      isOf('forged') ? { atMost: LOOP_DELAY_MS_MAX } : undefined,
    ),
    ...(revokedMs === undefined
      ? []
      : [timing('  revocation', revokedMs, 'ms', { atMost: REVOCATION_MS_MAX })]),
  ];
}
