import { OTHER_TOKEN } from '../load/config.js';
import { fetchOnce } from '../load/fetch_body.js';
import { clientFrame, openFrameSocket } from '../load/frame_socket.js';
import { readMetrics } from '../load/metrics.js';
import { startService } from '../load/server_process.js';
import { percentile, sum } from '../load/statistics.js';
import { publishMessage, Updates } from '../load/updates.js';
import { measureUsage } from '../load/usage.js';
import { pause } from '../load/wait.js';
import { type Check, exactly, type Scale } from './check.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { until, writeTortureConfig } from './service.js';

/** The check with bad signatures that only curve arithmetic can recognise. One connection sends them at full speed. */
export const flood: Check = {
  name: 'flood',
  title: 'bad signatures from an allowed token',
  run: measure,
};

const MS: Readonly<Record<Scale, number>> = { full: 10_000, smoke: 500 };
/** The number of updates in a message. With fewer, the refused messages would exceed `bad_messages_per_second`. */
const ASSETS = 80;
const HEALTHY_INTERVAL_MS = 10;
/**
 * The interval of messages. This interval gives 20,000 updates a second, which is ten times the limit of a token and more than a core can
 * verify. Their bytes are a quarter above `publish_bytes_per_second`, so the service refuses some messages as a whole.
 */
const FLOOD_INTERVAL_MS = 4;
const FLOOD_MESSAGES = 64;
const DELAY_MS_MAX = 20;

async function measure(scale: Scale) {
  const { file } = writeTortureConfig({ assets: ASSETS, publishers: 2 });
  const service = await startService(file);
  const { port } = service;
  const updates = new Updates('evm');
  const healthy = await AckedPublisher.open({ port, publisher: 0, assets: [0], ack: 'true', updates });
  const livezMs: number[] = [];
  const livez = {
    async send() {
      const startMs = performance.now();
      await (await fetchOnce(`http://127.0.0.1:${service.adminPort}/livez`)).text();
      livezMs.push(performance.now() - startMs);
    },
  };
  const stop = keepSending([healthy, livez], HEALTHY_INTERVAL_MS);
  await pause(MS[scale]);
  const ackBeforeMs = percentile(healthy.delaysMs, 99);
  const livezBeforeMs = percentile(livezMs, 99);
  healthy.delaysMs = [];
  livezMs.length = 0;

  const answers = new FloodAnswers();
  let closeCode: number | undefined;
  const socket = await openFrameSocket({
    port,
    path: '/evm/publish?ack=true',
    token: OTHER_TOKEN,
    onFrame: (payload) => answers.count(payload.toString()),
    onClose: (code) => {
      closeCode = code ?? 1006;
    },
  });
  const frames = Array.from({ length: FLOOD_MESSAGES }, () => clientFrame(forgedMessage(updates)));
  let sent = 0;
  const floodStartMs = performance.now();
  const stopFlood = keepSending(
    [
      {
        // A timer that is late must not make the flood smaller.
        send() {
          for (; floodStartMs + sent * FLOOD_INTERVAL_MS < performance.now(); sent++)
            socket.write(frames[sent % frames.length]!);
        },
      },
    ],
    FLOOD_INTERVAL_MS,
  );
  const endUsage = measureUsage(service);
  await pause(MS[scale]);
  const { serverShare, clientShare } = endUsage();
  stopFlood();
  stop();
  const ackMs = percentile(healthy.delaysMs, 99);
  const livezFloodMs = percentile(livezMs, 99);
  await until('the flood is answered', () => {
    if (closeCode !== undefined)
      throw new Error(`the service closed the flood's connection with ${closeCode}`);
    return answers.messages === sent;
  });
  const metrics = await readMetrics(service);
  await service.stop();
  const refusedWhole = sum(answers.errors.values());
  const pastBytes = sum(
    [...answers.errors].flatMap(([error, n]) => (error.includes('publish_bytes_per_second') ? [n] : [])),
  );
  const bound = { mustBe: { atMost: DELAY_MS_MAX }, isTiming: true };
  return [
    { figure: 'bad updates a second', value: (sent * ASSETS) / (MS[scale] / 1000), unit: '' },
    { figure: '  messages of them answered', value: answers.messages, unit: '', mustBe: exactly(sent) },
    {
      figure: '  updates refused one by one, or with their message',
      value: answers.updates + refusedWhole * ASSETS,
      unit: '',
      mustBe: exactly(sent * ASSETS),
    },
    {
      figure: '  counted as rejected, a message refused as a whole once',
      value: metrics.get('tickseal_updates_rejected_total')!,
      unit: '',
      mustBe: exactly(answers.updates + refusedWhole),
    },
    ...[...answers.errors].map(([error, value]) => ({ figure: `  refused: ${error}`, value, unit: '' })),
    {
      figure: '  counted as past publish_bytes_per_second',
      value: metrics.get('tickseal_updates_rejected_total{reason="past publish_bytes_per_second"}') ?? 0,
      unit: '',
      mustBe: exactly(pastBytes),
    },
    { figure: '  CPU of the service', value: serverShare * 100, unit: '% of a core' },
    { figure: '  CPU of the client', value: clientShare * 100, unit: '% of a core' },
    { figure: 'healthy updates refused', value: healthy.updatesRejected, unit: '', mustBe: exactly(0) },
    { figure: 'healthy answers p99, before', value: ackBeforeMs, unit: 'ms' },
    { figure: '  beside the flood', value: ackMs, unit: 'ms', ...bound },
    { figure: '/livez p99, before', value: livezBeforeMs, unit: 'ms' },
    { figure: '  beside the flood', value: livezFloodMs, unit: 'ms', ...bound },
  ];
}

/** The answers to the flood. */
class FloodAnswers {
  messages = 0;
  /** The number of updates that the service refused one by one. */
  updates = 0;
  /** The number of messages that the service refused as a whole, by error. */
  readonly errors = new Map<string, number>();

  count(text: string): void {
    const { error, rejected = {} } = JSON.parse(text) as {
      readonly error?: string;
      readonly rejected?: Readonly<Record<string, string>>;
    };
    this.messages++;
    this.updates += Object.keys(rejected).length;
    if (error !== undefined) this.errors.set(error, (this.errors.get(error) ?? 0) + 1);
  }
}

/** Makes a message in which each update has the signature of a different update. */
function forgedMessage(updates: Updates): string {
  const texts = Array.from({ length: ASSETS }, (_, asset) => updates.update(1, asset).text);
  const signatureOf = (text: string) => /"signature":\{[^}]*\}/.exec(text)![0];
  const forged = texts.map((text, i) =>
    text.replace(signatureOf(text), signatureOf(texts[(i + 1) % ASSETS]!)),
  );
  return publishMessage(forged);
}
