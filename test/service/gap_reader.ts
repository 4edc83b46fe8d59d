import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { createClient, type GapEvent, type Tick } from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { type TestService, TOKEN } from './harness.js';

/** A reader of each change of BTCUSD, which ends with the test. */
export class StreamReader {
  readonly ticks: Tick[] = [];
  readonly gaps: GapEvent[] = [];
  /** The addresses of the services with an open connection. */
  readonly open = new Set<string>();

  /** @param kind a `whole` reader asks for a backfill @param maxAgeMs the age above which the client drops a payload */
  constructor(t: Test, urls: string | readonly string[], kind: 'whole' | 'live', maxAgeMs?: number) {
    const client = createClient({ urls, token: TOKEN, signers: 'unchecked' });
    client.on('gap', (gap) => this.gaps.push(gap));
    client.on('state', ({ url, state }) => {
      if (state === 'open') this.open.add(url);
      else this.open.delete(url);
    });
    const options = { channel: 'real_time', backfill: kind === 'whole', maxAgeMs } as const;
    const done = (async () => {
      for await (const tick of client.stream(['BTCUSD'], options)) this.ticks.push(tick);
    })();
    this.end = async () => {
      await client.close();
      await done;
    };
    t.teardown(this.end);
  }

  readonly end: () => Promise<void>;
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
  async stop(...readers: readonly StreamReader[]): Promise<void> {
    this.#isOpen = false;
    await this.#done;
    const last = units(this.#price);
    await eventually(() => readers.every(({ ticks }) => ticks.at(-1)?.price === last), {
      what: 'the last price at each reader',
    });
  }
}
