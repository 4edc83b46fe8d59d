import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { type Client, createClient, type GapEvent, type Tick } from '../../src/client/node.js';
import { NS_PER_MS } from '../../src/model/time.js';
import { Feed, units } from './feed.js';
import { type TestService, TOKEN } from './harness.js';

export type SeenTick = Pick<Tick, 'price' | 'timestampNs' | 'backfilled'>;
export type SeenGap = Pick<GapEvent, 'fromNs' | 'toNs'>;

/** The channel and the backfill of a reader. */
const KINDS = {
  whole: { channel: 'real_time', backfill: true },
  live: { channel: 'real_time', backfill: false },
  ticks: { channel: '500ms', backfill: false },
  'whole ticks': { channel: '500ms', backfill: true },
} as const;
export type ReaderKind = keyof typeof KINDS;

/** The ticks and gaps of a reader of BTCUSD. */
export interface Reader {
  readonly kind: ReaderKind;
  readonly ticks: readonly SeenTick[];
  readonly gaps: readonly SeenGap[];
}

/** A reader in this process, which ends with the test. */
export class StreamReader implements Reader {
  readonly ticks: Tick[] = [];
  readonly gaps: GapEvent[] = [];
  /** The addresses of the services with an open connection. */
  readonly open = new Set<string>();

  /** @param maxAgeMs the age above which the client drops a payload; the default of the channel if absent */
  constructor(
    t: Test,
    urls: string | readonly string[],
    readonly kind: ReaderKind,
    maxAgeMs?: number,
  ) {
    const client = newClient(urls);
    client.on('gap', (gap) => this.gaps.push(gap));
    client.on('state', ({ url, state }) => {
      if (state === 'open') this.open.add(url);
      else this.open.delete(url);
    });
    const done = (async () => {
      for await (const tick of streamOf(client, kind, maxAgeMs)) this.ticks.push(tick);
    })();
    this.end = async () => {
      await client.close();
      await done;
    };
    t.teardown(this.end);
  }

  readonly end: () => Promise<void>;
}

/** A reader in a separate process, which ends with the test. */
export class ReaderProcess implements Reader {
  readonly ticks: SeenTick[] = [];
  readonly gaps: SeenGap[] = [];
  readonly child: ChildProcess;

  constructor(
    t: Test,
    url: string,
    readonly kind: ReaderKind,
  ) {
    const child = spawn(process.execPath, [PROGRAM, url, kind], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [name, first, second, backfilled] = line.split(' ');
      if (name === 'gap') this.gaps.push({ fromNs: BigInt(first!), toNs: BigInt(second!) });
      else
        this.ticks.push({
          price: BigInt(first!),
          timestampNs: BigInt(second!),
          backfilled: backfilled === 'true',
        });
    });
    const closed = once(child, 'close');
    this.end = async () => {
      child.kill('SIGKILL');
      await closed;
    };
    t.teardown(this.end);
  }

  readonly end: () => Promise<void>;

  /** Suspends the process for some time. */
  async suspend(ms: number): Promise<void> {
    this.child.kill('SIGSTOP');
    await wait(ms);
    this.child.kill('SIGCONT');
  }
}

const PROGRAM = fileURLToPath(new URL('./reader_program.js', import.meta.url));

export function newClient(urls: string | readonly string[]): Client {
  return createClient({ urls, token: TOKEN, signers: 'unchecked' });
}

export function streamOf(client: Client, kind: ReaderKind, maxAgeMs?: number) {
  return client.stream(['BTCUSD'], { ...KINDS[kind], maxAgeMs });
}

/** Publishes a new price of BTCUSD every 200 ms. */
export class SteadyFeed {
  #price = 100;
  #isOpen = true;
  readonly #done: Promise<void>;

  private constructor(feed: Feed) {
    this.#done = (async () => {
      while (this.#isOpen) {
        this.#price += 10;
        await feed.publish({ symbol: 'BTCUSD', price: units(this.#price) });
        await wait(200);
      }
    })();
  }

  static async start(service: Pick<TestService, 'socketUrl'>): Promise<SteadyFeed> {
    return new SteadyFeed(await Feed.open(service));
  }

  /** Ends the feed after the readers have received the newest price. */
  async stop(...readers: readonly Reader[]): Promise<void> {
    this.#isOpen = false;
    await this.#done;
    const last = units(this.#price);
    await eventually(() => readers.every(({ ticks }) => ticks.at(-1)?.price === last), {
      what: 'the last price at each reader',
    });
  }
}

/** Resolves when a reader has received live ticks after its newest gap. */
export function untilLive({ ticks, gaps }: Reader): Promise<boolean> {
  const from = ticks.length + 3;
  return eventually(() => {
    const { timestampNs, backfilled } = ticks.at(-1)!;
    return ticks.length > from && !backfilled && timestampNs >= (gaps.at(-1)?.toNs ?? 0n);
  });
}

/**
 * Checks that a reader received each signed aggregate or each tick, or reported a gap that contains it, and received nothing twice.
 * @param url the address of a service that has all aggregates
 * @param options `all` is a reader of `whole ticks` without cuts; `mayReconnect` is false if the reader cannot reconnect without a loss
 */
export async function checkReader(
  t: Test,
  name: string,
  url: string,
  reader: Reader,
  { all, mayReconnect = true }: { readonly all?: Reader; readonly mayReconnect?: boolean } = {},
): Promise<void> {
  const { ticks, gaps, kind } = reader;
  const isInOrder = ticks.every(({ timestampNs }, i) => i === 0 || timestampNs > ticks[i - 1]!.timestampNs);
  t.ok(isInOrder, `${name}: in order`);
  const prices = new Set(ticks.map(({ price }) => price));
  const [from, to] = [ticks[0]!.timestampNs, ticks.at(-1)!.timestampNs];
  const isInGap = (ns: bigint) => gaps.some(({ fromNs, toNs }) => ns > fromNs && ns < toNs);
  if (kind.endsWith('ticks')) {
    const live = ticks.filter(({ backfilled }) => !backfilled);
    const seen = new Set(live.map(({ timestampNs }) => intervalOf(timestampNs)));
    const missed = all!.ticks.filter(
      ({ timestampNs, backfilled }) =>
        !backfilled && timestampNs > from && timestampNs < to && !seen.has(intervalOf(timestampNs)),
    );
    const untold = missed.filter(({ timestampNs }) => !isInGap(timestampNs));
    t.same(untold, [], `${name}: of ${missed.length} missed ticks, each is in one of ${gaps.length} gaps`);
    return;
  }
  t.equal(prices.size, ticks.length, `${name}: none twice`);
  const live = new Set(ticks.flatMap(({ price, backfilled }) => (backfilled ? [] : [price])));
  const lost = gaps.map(() => 0);
  let missing = 0;
  for await (const { price, timestampNs } of newClient(url).range('BTCUSD', {
    from,
    to,
    detail: 'signature',
  })) {
    if (live.has(price)) continue;
    const gap = gaps.findIndex(({ fromNs, toNs }) => timestampNs > fromNs && timestampNs < toNs);
    if (gap >= 0) lost[gap]! += 1;
    if (gap < 0 || (kind === 'whole' && !prices.has(price))) missing += 1;
  }
  t.equal(missing, 0, `${name}: all of ${prices.size}, with gaps that cost ${lost.join(', ') || 'nothing'}`);
  if (!mayReconnect) t.notOk(lost.includes(0), `${name}: no gap for nothing`);
}

function intervalOf(ns: bigint): bigint {
  return ns / (500n * NS_PER_MS);
}
