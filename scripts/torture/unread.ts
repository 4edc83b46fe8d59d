import { TOKEN } from '../load/config.js';
import { clientFrame, openFrameSocket } from '../load/frame_socket.js';
import { readMetrics } from '../load/metrics.js';
import { startService } from '../load/server_process.js';
import { median, percentile } from '../load/statistics.js';
import { openStreams } from '../load/streams.js';
import { publishMessage, Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Check, count, exactly, measured, NONE, type Scale, timing } from './check.js';
import { until, writeTortureConfig } from './service.js';

/** The check with a publisher that requests answers and never reads them, and a second publisher that reads its answers. */
export const unread: Check = {
  name: 'unread',
  title: 'a publisher that never reads its socket',
  run: measure,
};

/** The number of messages of each publisher. */
const MESSAGES: Readonly<Record<Scale, number>> = { full: 25_000, smoke: 1_000 };
const MESSAGES_PER_MS = 1;
/** The trace ID. Each answer repeats the trace ID, so the answers fill the kernel's buffers within the first seconds. */
const TRACE_ID = 'x'.repeat(256);
/** The number of messages without updates for each message with an update. A message without updates only causes an answer. */
const EMPTY_MESSAGES = 4;
const EMPTY = clientFrame(publishMessage([], TRACE_ID));
/** The largest growth of memory. Without a limit on replies the growth was 39 MB. */
const BYTES_MAX = 16_000_000;

async function measure(scale: Scale) {
  const { file } = writeTortureConfig({ assets: 2, publishers: 2, clockPeriod: '60s' });
  const service = await startService(file);
  const updates = new Updates('evm');
  const publishers = await Promise.all([0, 1].map((number) => Publisher.open(service.port, number, updates)));
  const [reading, never] = publishers as [Publisher, Publisher];
  never.pause();
  await openStreams({
    port: service.port,
    query: 'channel=real_time',
    count: 1,
    assetsOf: () => [0, 1],
    onFrame: (payload) => {
      for (const publisher of publishers) publisher.see(payload);
    },
  });
  const startMs = performance.now();
  let bytesBefore = 0;
  for (let sent = 0; sent < MESSAGES[scale]; ) {
    const due = Math.min(MESSAGES[scale], Math.floor((performance.now() - startMs) * MESSAGES_PER_MS));
    // The publishers alternate, because the second of two messages sent together always arrives slightly later.
    for (; sent < due; sent++)
      for (const publisher of sent % 2 === 0 ? publishers : publishers.toReversed()) publisher.send();
    if (bytesBefore === 0 && sent > MESSAGES[scale] / 5) bytesBefore = service.anonymousBytes();
    await pause(2);
  }
  const bytesGrown = service.anonymousBytes() - bytesBefore;
  const isSettled = () =>
    reading.answers === answersDue(reading) &&
    publishers.every(({ lastSeen, lastSent }) => lastSeen === lastSent);
  await until('all is answered and streamed', isSettled);
  const metrics = await readMetrics(service);
  const figures = [
    count('messages of each', never.sent),
    count('replies dropped', metrics.get('tickseal_publisher_replies_dropped_total')!, {
      atLeast: scale === 'full' ? 1 : 0,
    }),
    count('answers of the one that reads', reading.answers, exactly(answersDue(reading))),
    count(
      'updates accepted of both',
      metrics.get('tickseal_updates_accepted_total')!,
      exactly(reading.sent + never.sent),
    ),
    count('closed', publishers.filter(({ isClosed }) => isClosed).length, NONE),
    measured('to a subscriber, the one that reads, p50', median(reading.delaysMs), 'ms'),
    measured('  p99', percentile(reading.delaysMs, 99), 'ms'),
    measured('  the one that never reads, p50', median(never.delaysMs), 'ms'),
    measured('  p99', percentile(never.delaysMs, 99), 'ms'),
    timing('  never reads / reads, p50', median(never.delaysMs) / median(reading.delaysMs), '', {
      atMost: 1.1,
    }),
    // In a short run, the figure mostly shows the growth of other memory.
    timing('memory of the service, growth in the last four fifths', bytesGrown / 1e6, 'MB', {
      atMost: BYTES_MAX / 1e6,
    }),
  ];
  await service.stop();
  return figures;
}

function answersDue({ sent }: Publisher): number {
  return sent * (1 + EMPTY_MESSAGES);
}

/** Publishes one asset, and measures the time until a stream contains the asset's prices. */
class Publisher {
  readonly #number: number;
  readonly #updates: Updates;
  readonly #sentMs = new Map<string, number>();
  delaysMs: number[] = [];
  sent = 0;
  answers = 0;
  isClosed = false;
  lastSent = '';
  lastSeen = '';
  pause = () => {};
  #write = (_frame: Buffer) => {};

  static async open(port: number, number: number, updates: Updates): Promise<Publisher> {
    const publisher = new Publisher(number, updates);
    const socket = await openFrameSocket({
      port,
      path: '/evm/publish?ack=true',
      token: TOKEN,
      onFrame: () => publisher.answers++,
      onClose: () => {
        publisher.isClosed = true;
      },
    });
    publisher.pause = () => socket.pause();
    publisher.#write = (frame) => socket.write(frame);
    return publisher;
  }

  private constructor(number: number, updates: Updates) {
    this.#number = number;
    this.#updates = updates;
  }

  send(): void {
    const { price, text } = this.#updates.update(this.#number, this.#number);
    this.lastSent = String(price);
    const frame = clientFrame(publishMessage([text], TRACE_ID));
    const empty = Array.from({ length: EMPTY_MESSAGES }, () => EMPTY);
    this.#sentMs.set(this.lastSent, performance.now());
    this.sent++;
    this.#write(Buffer.concat([frame, ...empty]));
  }

  /** Reads a frame of the stream. If a newer price replaced a price quickly, no frame may contain the earlier price. */
  see(frame: Buffer): void {
    const [, price] = new RegExp(`"id":${this.#number},"v":"(\\d+)"`).exec(frame.toString('latin1')) ?? [];
    if (price === undefined) return;
    this.lastSeen = price;
    this.delaysMs.push(performance.now() - this.#sentMs.get(price)!);
  }
}
