import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { addressOf, starkKeyOf } from '../../src/cli/keygen_command.js';
import { registerKeys } from '../../src/cli/keys_command.js';
import { createClient } from '../../src/client/node.js';
import { type AnnouncedSigners, type FollowOptions, followSigners } from '../../src/client/signers_index.js';
import { type PrivateKey, type TimedKey, timedKeysOf } from '../../src/model/key_schedule.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { announcementLines } from '../../src/wire/announcement.js';
import { run } from '../cli/run_command.js';
import { Feed, units } from './feed.js';
import { get, type TestService, TOKEN } from './harness.js';

// The parts of a change of keys under load: the operator's commands, publishers, and readers that count what they refuse and miss.

/** The keys of one generation: each kind of signature has its own key. */
export interface Generation {
  readonly evm: Buffer;
  readonly stark: Buffer;
  readonly stream: Buffer;
}

/** Returns the keys of generation 1, 2, and so on. */
export function generation(number: number): Generation {
  const key = (kind: number) => Buffer.alloc(32, kind + number);
  return {
    evm: key(0x20),
    stark: Buffer.concat([Buffer.alloc(1), key(0x30).subarray(1)]),
    stream: key(0x40),
  };
}

/** Returns a list of two keys that changes at a UNIX second. */
export function changing(before: Buffer, after: Buffer, atS: number): readonly TimedKey[] {
  const atNs = (BigInt(atS) * NS_PER_SECOND) as TimeNs;
  return [
    { key: before, fromNs: 0n as TimeNs, untilNs: atNs },
    { key: after, fromNs: atNs, untilNs: undefined },
  ];
}

/** The assets of the prices, each of which is signed every 100 ms. */
export const ROTATION_ASSETS = [
  { id: 1, symbol: 'BTCUSD', clock_period: '100ms' },
  { id: 2, symbol: 'DYDXUSD', signature_type: 'stark', clock_period: '100ms' },
];

/** Returns the current UNIX second. */
export function nowS(): number {
  return Math.floor(Date.now() / 1_000);
}

/** An operator with an offline root key and the file of all announcements, who works with the commands of the program. */
export class Operator {
  readonly #dir: string;
  readonly #chain: string;
  readonly root: string;

  private constructor(dir: string, root: string) {
    this.#dir = dir;
    this.#chain = join(dir, 'announcements.txt');
    this.root = root;
  }

  /** Makes the root key. @param dir an empty folder */
  static async open(dir: string): Promise<Operator> {
    const { out } = await run(registerKeys, 'keys', 'root', '--out', join(dir, 'root.hex'));
    return new Operator(dir, /root: (0x\w{40})/.exec(out)![1]!);
  }

  /** The announcements in the file. */
  get announcements(): readonly string[] {
    return existsSync(this.#chain) ? announcementLines(readFileSync(this.#chain, 'utf8')) : [];
  }

  /** Announces the keys that a service lists, after the service lists the newest of some keys of streams. */
  async announce(service: Pick<TestService, 'url'>, ...streamKeys: readonly PrivateKey[]): Promise<void> {
    const file = join(this.#dir, 'signers.json');
    const newest = streamKeys.map((key) => addressOf(timedKeysOf(key).at(-1)!.key));
    // The other threads and nodes apply a reload a little later.
    const listed = await eventually(async () => {
      const text = await (await get(`${service.url}/v1/signers`)).text();
      return newest.every((address) => text.includes(address)) && text;
    });
    writeFileSync(file, listed);
    await this.#sign('announce', '--signers', file);
  }

  /** Cuts off stolen keys, in one command. @returns the output of the command */
  revoke(...addresses: readonly string[]): Promise<string> {
    return this.#sign('revoke', ...addresses);
  }

  async #sign(...command: readonly string[]): Promise<string> {
    const root = join(this.#dir, 'root.hex');
    const result = await run(registerKeys, 'keys', ...command, '--root', root, '--chain', this.#chain);
    if (result.exitCode !== 0) throw new Error(result.err);
    return result.out;
  }
}

/**
 * The feeds of BTCUSD (EVM) and DYDXUSD (Stark), each of which publishes ten new prices a second. More would be a backlog for the readers
 * of a busy machine.
 */
export class RotationLoad {
  #isOpen = true;
  readonly #done: Promise<unknown>;
  #published = 0;

  private constructor(feeds: readonly (readonly [Feed, string])[]) {
    this.#done = Promise.all(feeds.map(([feed, symbol]) => this.#publish(feed, symbol)));
    this.#done.catch(() => undefined);
  }

  /** Starts the load, and resolves when all services show an aggregate of each asset. @param services the first one takes the prices */
  static async start(t: Test, ...services: readonly TestService[]): Promise<RotationLoad> {
    const service = services[0]!;
    const load = new RotationLoad([
      [await Feed.open(service), 'BTCUSD'],
      [await Feed.open(service, { type: 'stark' }), 'DYDXUSD'],
    ]);
    t.teardown(() => load.stop().catch(() => undefined));
    for (const { url } of services)
      await eventually(async () => {
        const text = await (await get(`${url}/v1/prices/latest?assets=BTCUSD,DYDXUSD`)).text();
        return text.includes('"BTCUSD"') && text.includes('"DYDXUSD"');
      });
    return load;
  }

  /** The number of accepted prices. */
  get published(): number {
    return this.#published;
  }

  /** Ends the load. @throws Error when the service refused a price */
  async stop(): Promise<void> {
    this.#isOpen = false;
    await this.#done;
  }

  async #publish(feed: Feed, symbol: string): Promise<void> {
    for (let price = 1_000; this.#isOpen; price++) {
      await feed.accept({ symbol, price: units(price) });
      this.#published += 1;
      await wait(100);
    }
  }
}

/** A payload of a stream takes this process about 2 ms, so faster channels would be backlogs. */
const CHANNELS = ['real_time', '500ms'] as const;

/** A reader of streams and aggregates that follows announced keys, and records what it refuses and misses. */
export class RotationReader {
  /** The reasons of refused payloads, aggregates and chains. */
  readonly refused: string[];
  readonly gaps: unknown[] = [];
  /** The signers of payloads, in the order of their first payload. */
  readonly streamKeys = new Set<string>();
  /** The signers of aggregates of both types. */
  readonly aggregateKeys = new Set<bigint>();
  /** The number of received ticks. */
  ticks = 0;
  readonly signers: AnnouncedSigners;
  readonly #client;
  #isOpen = true;
  readonly #done: Promise<unknown>;

  private constructor(urls: readonly string[], signers: AnnouncedSigners, refused: string[]) {
    this.signers = signers;
    this.refused = refused;
    this.#client = createClient({
      urls,
      token: TOKEN,
      signers: signers.source,
      oracleId: 'servc',
      worker: false,
    });
    this.#client.on('gap', (gap) => this.gaps.push(gap));
    this.#client.on('error', (error) => this.refused.push(error.message));
    this.#client.on('report', ({ report }) => {
      if (report.verdict === 'failed') this.refused.push(JSON.stringify(report.checks));
    });
    this.#done = Promise.all([...CHANNELS.map((channel) => this.#stream(channel)), this.#read()]);
  }

  /**
   * Opens a reader, which ends with the test.
   * @param trust the pinned root or keys, and the last known announcement
   * @param chainUrls the services from which the reader reads the announcements
   */
  static async open(
    t: Test,
    urls: string | readonly string[],
    trust: Pick<FollowOptions, 'root' | 'pinned' | 'known'>,
    chainUrls = urls,
  ): Promise<RotationReader> {
    const refused: string[] = [];
    const signers = await followSigners({
      ...trust,
      urls: chainUrls,
      refreshMs: 2_000,
      onRefused: (reason) => refused.push(reason),
    });
    const reader = new RotationReader([urls].flat(), signers, refused);
    t.teardown(() => reader.end());
    return reader;
  }

  async end(): Promise<void> {
    this.#isOpen = false;
    this.signers.close();
    await this.#client.close();
    await this.#done;
  }

  /** Resolves when payloads and aggregates of both types are signed by a generation of keys. */
  async untilSignedBy({ evm, stark, stream }: Generation): Promise<void> {
    await eventually(
      () =>
        this.streamKeys.has(addressOf(stream)) &&
        this.aggregateKeys.has(BigInt(addressOf(evm))) &&
        this.aggregateKeys.has(BigInt(starkKeyOf(stark))),
      {
        what: 'prices of the next keys',
        withinMs: 60_000,
      },
    );
  }

  /** Returns the signers of the aggregates of BTCUSD in a time range, in the order of their times. */
  async signersBetween(from: bigint, to: bigint): Promise<readonly string[]> {
    const signers = new Set<string>();
    for await (const { signer } of this.#client.range('BTCUSD', { from, to })) signers.add(signer);
    return [...signers];
  }

  async #stream(channel: (typeof CHANNELS)[number]): Promise<void> {
    // With a backfill the client drops no payload of a short backlog, so a busy process causes no gap.
    const options = { channel, maxAgeMs: 60_000, backfill: true };
    for await (const { signer, backfilled } of this.#client.stream(['BTCUSD'], options)) {
      if (backfilled) continue;
      this.ticks += 1;
      this.streamKeys.add(signer);
    }
  }

  async #read(): Promise<void> {
    while (this.#isOpen) {
      try {
        const { BTCUSD } = await this.#client.latest(['BTCUSD']);
        const { DYDXUSD } = await this.#client.latest(['DYDXUSD'], { signatureType: 'stark' });
        for (const { signer } of [BTCUSD!, DYDXUSD!]) this.aggregateKeys.add(BigInt(signer));
      } catch (error) {
        if (this.#isOpen) this.refused.push((error as Error).message);
      }
      await wait(200);
    }
  }
}

/** Resolves when all readers have followed the chain to a version. */
export function untilFollowed(readers: readonly RotationReader[], version: number): Promise<unknown> {
  return eventually(() => readers.every(({ signers }) => signers.list.version >= version), {
    what: `announcement ${version} at all readers`,
    withinMs: 60_000,
  });
}

/** Resolves when each reader has received more ticks. */
export function untilTicks(readers: readonly RotationReader[], count: number): Promise<unknown> {
  const counts = readers.map(({ ticks }) => ticks + count);
  return eventually(() => readers.every(({ ticks }, i) => ticks >= counts[i]!), { what: 'ticks' });
}

/** Returns the number of keys with which the service signs and that are not announced, from its metrics. */
export async function unannouncedKeys({ adminUrl }: TestService): Promise<string | undefined> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  return /^tickseal_keys_not_announced (\d+)$/m.exec(metrics)?.[1];
}

/** Checks that the readers have refused and missed nothing. */
export function checkReaders(t: Test, name: string, readers: readonly RotationReader[]): void {
  for (const { refused, gaps } of readers) t.same([refused, gaps], [[], []], `${name}: 0 refused, 0 gaps`);
}
