import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { symbolOf } from '../load/config.js';
import { SEED, seededRandom } from '../load/random.js';
import { type ServerProcess, startService } from '../load/server_process.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Check, count, measured, NONE, type Scale, timing } from './check.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { changeConfig, until, writeTortureConfig } from './service.js';
import { SignedValues } from './signed_values.js';
import { WallClock } from './wall_clock.js';

/** A check that steps the wall clock while the service signs, is killed, restarts and changes its key. */
export const clock: Check = {
  name: 'clock',
  title: 'a stepped wall clock, kill -9, restarts and other keys, under load',
  run: measure,
};

const ROUNDS: Readonly<Record<Scale, number>> = { full: 50, smoke: 3 };
const ASSETS = 4;
const SYMBOLS = Array.from({ length: ASSETS }, (_, asset) => symbolOf(asset));
const SEND_INTERVAL_MS = 10;
const HOUR_MS = 3_600_000;
const GLITCH_MS = 1_000;
/** The largest difference between the clocks after the service has followed a step, including the transport of a frame. */
const FOLLOWED_WITHIN_S = 2;
const FOLLOWED_MS_MAX = 15_000;
/** The `signed_ecdsa` streams. Some streams share assets, so several payloads of a tick contain the same asset. */
const SIGNED_STREAMS: readonly (readonly [query: string, assets: readonly number[]])[] = [
  ['message_type=signed_ecdsa', [0, 1]],
  ['message_type=signed_ecdsa', [1, 2, 3]],
  ['channel=10ms&message_type=signed_ecdsa', [0]],
  ['channel=10ms&message_type=signed_ecdsa&addtl_attrs=ms', [0, 1, 2]],
  ['channel=100ms&message_type=signed_ecdsa', [0, 1, 2, 3]],
];
const UNSIGNED_STREAMS: typeof SIGNED_STREAMS = [
  ['', [0, 1]],
  ['channel=10ms', [0]],
];
const STEPS_MS = [-HOUR_MS, HOUR_MS, -HOUR_MS, 30_000, -30_000, 0];
const GLITCHES_MS = [HOUR_MS, -HOUR_MS];
const ENDS = ['kill', 'kill', 'reload', 'stop', 'nothing'] as const;
type End = (typeof ENDS)[number];

/** The actions of one round. */
interface Round {
  /** The permanent step of the wall clock. The next field is a step that the check reverses. */
  readonly stepMs: number;
  readonly glitchMs: number;
  readonly end: End;
}

/** The first rounds, which are the hardest. Earlier versions of the service failed in these rounds. */
const FIRST_ROUNDS: readonly Round[] = [
  { stepMs: -HOUR_MS, glitchMs: 0, end: 'kill' },
  { stepMs: 0, glitchMs: HOUR_MS, end: 'reload' },
  { stepMs: -30_000, glitchMs: 0, end: 'kill' },
];

async function measure(scale: Scale) {
  const torture = new ClockTorture();
  const random = seededRandom(SEED);
  const anyOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  let followedMs = 0;
  for (let number = 0; number < ROUNDS[scale]; number++) {
    const isGlitch = random() < 0.3;
    const round = FIRST_ROUNDS[number] ?? {
      stepMs: isGlitch ? 0 : anyOf(STEPS_MS),
      glitchMs: isGlitch ? anyOf(GLITCHES_MS) : 0,
      end: anyOf(ENDS),
    };
    await torture.round(round, 300 + random() * 700);
  }
  if (scale === 'full')
    for (const stepMs of [HOUR_MS, -HOUR_MS]) followedMs = Math.max(followedMs, await torture.follow(stepMs));
  await torture.stop();
  const { values, tsBack, tsRepeated, glitches, poisonedSeconds } = torture;
  return [
    count('rounds', ROUNDS[scale]),
    ...values.findings(),
    count('connections on which ts goes back', tsBack, NONE),
    count('  or stands still', tsRepeated, NONE),
    count('glitches of 1 s', glitches),
    timing('  new streams afterwards off the clock by at most', poisonedSeconds, 's', {
      atMost: FOLLOWED_WITHIN_S,
    }),
    ...(scale === 'full'
      ? [
          measured('a lasting step of an hour is followed after', followedMs, 'ms', {
            atMost: FOLLOWED_MS_MAX,
          }),
        ]
      : []),
  ];
}

class ClockTorture {
  readonly values = new SignedValues();
  readonly #file: string;
  readonly #keyFile: string;
  readonly #keys: readonly string[];
  readonly #clock: WallClock;
  readonly #updates = new Updates('evm');
  #service: ServerProcess | undefined;
  /** Stops the additional load. */
  #endLoad = () => {};
  #settledSinceMs = 0;
  #keyNumber = 0;
  tsBack = 0;
  tsRepeated = 0;
  glitches = 0;
  poisonedSeconds = 0;

  constructor() {
    const { file, storageDir } = writeTortureConfig({ assets: ASSETS, publishers: 1, clockPeriod: '100ms' });
    this.#file = file;
    this.#keyFile = join(storageDir, '..', 'service.hex');
    // The keys begin with a zero byte, so they are valid for both curves.
    this.#keys = [1, 2].map(() => `00${randomBytes(31).toString('hex')}`);
    this.#clock = new WallClock(join(storageDir, '..', 'clock'));
    // The service signs each change of a price, which causes the most signatures within a millisecond.
    changeConfig(file, ({ assets }) => {
      for (const asset of assets) asset['delta_percent'] = 0.000001;
    });
  }

  async round({ stepMs, glitchMs, end }: Round, loadMs: number): Promise<void> {
    const service = await this.#running();
    await pause(loadMs);
    if (stepMs !== 0) this.#step(this.#aheadAfter(stepMs));
    if (glitchMs !== 0) await this.#glitch(service, glitchMs);
    await this.#openStreams(service);
    await pause(loadMs);
    await this.#end(service, end);
  }

  /** Steps the wall clock permanently. Returns the time until new streams have the new time. */
  async follow(stepMs: number): Promise<number> {
    const service = await this.#running();
    await pause(FOLLOWED_MS_MAX);
    this.#step(stepMs);
    const startMs = performance.now();
    await until(
      'new streams carry the time of the wall clock',
      async () => Math.abs(await this.#aheadSeconds(service)) < FOLLOWED_WITHIN_S,
      2 * FOLLOWED_MS_MAX,
    ).catch(() => {});
    return performance.now() - startMs;
  }

  async stop(): Promise<void> {
    this.#endLoad();
    await this.#service?.stop();
  }

  async #running(): Promise<ServerProcess> {
    if (this.#service !== undefined) return this.#service;
    const service = await startService(this.#file, { nodeOptions: this.#clock.nodeOptions, isQuiet: true });
    this.#service = service;
    this.#settledSinceMs = performance.now() - FOLLOWED_MS_MAX;
    let isLoaded = true;
    const assets = Array.from({ length: ASSETS }, (_, asset) => asset);
    const load = { port: service.port, publisher: 0, assets, ack: 'true', updates: this.#updates } as const;
    const stopPublishing = keepSending([await AckedPublisher.open(load)], SEND_INTERVAL_MS);
    const polling = this.#poll(service, () => isLoaded);
    this.#endLoad = () => {
      isLoaded = false;
      stopPublishing();
      void polling;
    };
    await this.#openStreams(service);
    return service;
  }

  async #poll({ port }: ServerProcess, goesOn: () => boolean): Promise<void> {
    while (goesOn()) {
      // The poll may fail, because the check may kill the service at any time.
      await this.values.poll(port, SYMBOLS).catch(() => {});
      await pause(2);
    }
  }

  async #openStreams({ port }: ServerProcess): Promise<void> {
    for (const [query, assets] of [...SIGNED_STREAMS, ...UNSIGNED_STREAMS]) {
      let lastTs = 0n;
      const onFrame = (payload: Buffer) => {
        const ts = this.#takeFrame(payload);
        if (ts < lastTs) this.tsBack++;
        if (ts === lastTs) this.tsRepeated++;
        lastTs = ts;
      };
      await openStreams({ port, query, count: 1, assetsOf: () => assets, onFrame });
    }
  }

  /** @returns the `ts` of the frame */
  #takeFrame(payload: Buffer): bigint {
    const text = payload.toString('latin1');
    const plain = /"ts":(\d+)/.exec(text);
    if (plain) return BigInt(plain[1]!);
    const hex = /"p":"0x([0-9a-f]+)"/.exec(text)![1]!;
    this.values.takePayload(hex);
    // The offset of the timestamp. The simplified layout begins with the taxonomy ID; the versioned layout has four bytes before
    // the ID.
    const at = 130 + (hex.startsWith('ff02', 130) ? 12 : 4);
    return BigInt(`0x${hex.slice(at, at + 16)}`);
  }

  #step(ms: number): void {
    if (ms === 0) return;
    this.#clock.step(ms);
    this.#settledSinceMs = performance.now();
  }

  /** Returns the step, or the opposite step if the wall clock would differ from the real clock by more than two hours. */
  #aheadAfter(stepMs: number): number {
    return Math.abs(this.#clock.aheadMs + stepMs) > 2 * HOUR_MS ? -stepMs : stepMs;
  }

  async #glitch(service: ServerProcess, glitchMs: number): Promise<void> {
    this.glitches++;
    const isSettled = performance.now() - this.#settledSinceMs >= FOLLOWED_MS_MAX;
    this.#clock.step(glitchMs);
    await pause(GLITCH_MS);
    this.#clock.step(-glitchMs);
    await pause(100);
    if (isSettled)
      this.poisonedSeconds = Math.max(this.poisonedSeconds, Math.abs(await this.#aheadSeconds(service)));
  }

  /** Returns the distance by which the first frame of a new stream is ahead of the wall clock. */
  async #aheadSeconds({ port }: ServerProcess): Promise<number> {
    const ts = await new Promise<bigint>((resolve, reject) => {
      openStreams({
        port,
        query: 'channel=10ms',
        count: 1,
        assetsOf: () => [0],
        onFrame: (payload) => resolve(this.#takeFrame(payload)),
      }).catch(reject);
    });
    return Number(ts - this.#clock.nowNs()) / 1e9;
  }

  async #end(service: ServerProcess, end: End): Promise<void> {
    if (end === 'reload') {
      this.#keyNumber = 1 - this.#keyNumber;
      writeFileSync(this.#keyFile, this.#keys[this.#keyNumber]!, { mode: 0o600 });
      service.signal('SIGHUP');
    }
    if (end === 'nothing' || end === 'reload') return;
    if (end === 'stop') service.signal('SIGTERM');
    else service.signal('SIGKILL');
    await service.ended;
    this.#endLoad();
    this.#service = undefined;
  }
}
