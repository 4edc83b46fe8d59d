import { findNatsServer } from '../../../src/cli/demo/find_nats_server.js';
import { toHex } from '../../../src/model/hex.js';
import { publisherKeys } from '../../load/keys.js';
import { median, sum } from '../../load/statistics.js';
import { Updates } from '../../load/updates.js';
import { HANG_MS, pause } from '../../load/wait.js';
import {
  type Check,
  count,
  type Finding,
  measured,
  NONE,
  type Scale,
  type Sizes,
  type Skipped,
  timing,
} from '../check.js';
import { until } from '../service.js';
import { SignedValues } from '../signed_values.js';
import { NodeReader, RoamingPublisher } from './clients.js';
import { FAULTS, type Fault, POWER_FAULTS, type SilenceLimits } from './faults.js';
import { LogAccount } from './log_account.js';
import { PUBLISHERS, TortureCluster, type TortureNode } from './nodes.js';
import { SIGNALS, type Signal, type Track } from './silences.js';
import { ServerPower } from './synced_files.js';

/**
 * The check with faults that a cluster must withstand, which runs three real message servers, two aggregators and two edges. The simulation
 * of clusters proves more orders of faults; this check shows how long clients wait, and what real message servers do.
 */
export const cluster: Check = {
  name: 'cluster',
  title: 'a cluster whose nodes and message servers die, stop and are cut off, under load',
  run: (scale, sizes) => measure(scale, sizes, FAULTS, false),
};

/** The check with message servers that lose each byte that no `fsync` covered. */
export const power: Check = {
  name: 'power',
  title: 'a cluster whose message servers lose power',
  run: (scale, sizes) => measure(scale, sizes, POWER_FAULTS, true),
};

const SETTLED_MS = 1_000;
const STEADY_MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 500 };
const RECOVERED_MS_MAX: Readonly<Record<Scale, number>> = { full: 120_000, smoke: HANG_MS };
/** The time after the start at which the rounds of all faults end. */
const ROUNDS_MS: Readonly<Record<Scale, number>> = { full: 240_000, smoke: 0 };
/** The number of faults in a smoke run. */
const SMOKE_FAULTS = 1;
/** The time between two updates of a publisher, and between two requests of a reader. */
const SEND_MS: Readonly<Record<Scale, number>> = { full: 80, smoke: 400 };
const POLL_MS: Readonly<Record<Scale, number>> = { full: 50, smoke: 400 };
const HOUR_NS = 3_600_000_000_000n;
const SOME = { atLeast: 10 };

async function measure(
  scale: Scale,
  { rounds, only }: Sizes,
  all: Readonly<Record<string, Fault>>,
  canLosePower: boolean,
): Promise<readonly Finding[] | Skipped> {
  const binary = findNatsServer();
  if (binary === undefined)
    return {
      skipped: 'no nats-server; scripts/nats_server.sh fetches one, or TICKSEAL_NATS_SERVER names one',
    };
  const missing = canLosePower ? ServerPower.missing() : undefined;
  if (missing !== undefined) return { skipped: missing };
  const power = canLosePower ? new ServerPower() : undefined;
  const torture = new ClusterTorture(await TortureCluster.start(binary, power), scale);
  await torture.steady(STEADY_MS[scale]);
  const startMs = performance.now();
  const named = Object.entries(all).filter(([name]) => only === undefined || name === only);
  const faults = scale === 'smoke' ? named.slice(0, SMOKE_FAULTS) : named;
  const isOver = (done: number) =>
    rounds === undefined ? performance.now() - startMs >= ROUNDS_MS[scale] : done >= rounds;
  for (let done = 0; done === 0 || !isOver(done); done++)
    for (const [, fault] of faults) await torture.run(fault);
  return torture.finish();
}

class ClusterTorture {
  readonly #cluster: TortureCluster;
  readonly #recoveredMsMax: number;
  readonly #values = new SignedValues();
  readonly #readers: readonly NodeReader[];
  readonly #publishers: readonly RoamingPublisher[];
  readonly #silences = new Map<
    string,
    { readonly limits: SilenceLimits | undefined; readonly found: Record<Signal, number[]> }
  >();

  constructor(cluster: TortureCluster, scale: Scale) {
    this.#recoveredMsMax = RECOVERED_MS_MAX[scale];
    this.#cluster = cluster;
    const { nodes } = cluster;
    this.#readers = nodes.map((node) => new NodeReader(node, this.#values, POLL_MS[scale]));
    const updates = new Updates('evm', { startNs: BigInt(Date.now()) * 1_000_000n - HOUR_NS });
    this.#publishers = Array.from(
      { length: PUBLISHERS },
      (_, publisher) => new RoamingPublisher(publisher, nodes, updates, SEND_MS[scale]),
    );
  }

  /** Measures the longest wait of clients for new data while no fault is active. */
  async steady(ms: number): Promise<void> {
    await this.#settle(performance.now());
    const startMs = performance.now();
    await pause(ms);
    this.#note('no fault', startMs, this.#tracks([]));
  }

  async run(fault: Fault): Promise<void> {
    await Promise.all(
      this.#cluster.nodes.filter(({ service }) => service !== undefined).map((node) => node.untilReady()),
    );
    for (const step of await fault(this.#cluster)) {
      await this.#goHome();
      const tracks = this.#tracks(step.except);
      const startMs = performance.now();
      await step.act();
      await this.#settle(performance.now(), tracks);
      this.#note(step.name, startMs, tracks, step.limits);
    }
    await this.#settle(performance.now());
  }

  async finish(): Promise<Finding[]> {
    for (const publisher of this.#publishers) publisher.stop();
    await until('all updates are answered', () =>
      this.#publishers.every(({ unanswered }) => unanswered === 0),
    );
    await pause(SETTLED_MS);
    for (const reader of this.#readers) reader.stop();
    const log = await LogAccount.read(this.#cluster.servers, this.#cluster.edges[0]!.number);
    const crashes = sum(this.#cluster.nodes.map((node) => node.crashes));
    await this.#cluster.stop();
    return [...this.#timings(), ...this.#counts(log, crashes)];
  }

  /** Sends publishers back to their preferred nodes after a fault. Each node then has publishers again. */
  async #goHome(): Promise<void> {
    const nodes = this.#cluster.nodes.filter(({ service }) => service !== undefined);
    const away = this.#publishers.filter(({ isHome, home }) => !isHome && nodes.includes(home));
    if (away.length === 0) return;
    for (const publisher of away) publisher.goHome();
    await until('publishers are back', () => away.every(({ isHome }) => isHome));
    await this.#settle(performance.now());
  }

  /** Waits until all clients have received something after `sinceMs`. */
  async #settle(sinceMs: number, tracks = this.#tracks([])): Promise<void> {
    await until(
      'every client gets something new',
      () => tracks.every(({ lastMs }) => lastMs > sinceMs),
      this.#recoveredMsMax,
    );
    await pause(SETTLED_MS);
  }

  #tracks(except: readonly TortureNode[]): Track[] {
    const isSeen = ({ node }: { readonly node: TortureNode }) => !except.includes(node);
    return [
      ...this.#readers.filter(isSeen).flatMap(({ streams, rest }) => [streams, rest]),
      ...this.#publishers.filter(isSeen).map(({ acks }) => acks),
    ];
  }

  #note(name: string, startMs: number, tracks: readonly Track[], limits?: SilenceLimits): void {
    const found = this.#silences.get(name)?.found ?? { stream: [], rest: [], ack: [] };
    for (const signal of SIGNALS) {
      const own = tracks.filter((track) => track.signal === signal);
      found[signal].push(Math.max(...own.map((track) => track.longestMs(startMs))));
    }
    this.#silences.set(name, { limits, found });
    const text = SIGNALS.map((signal) => `${signal} ${found[signal].at(-1)!.toFixed(0)}`).join(', ');
    process.stderr.write(`  ${name}: ${text} ms\n`);
  }

  #timings(): Finding[] {
    const steady = this.#silences.get('no fault')!.found;
    return [...this.#silences].flatMap(([name, { limits, found }]) =>
      SIGNALS.flatMap((signal): Finding[] => {
        const limit = limits?.[signal === 'stream' ? 'stream' : 'log'];
        const values = found[signal];
        // The limit includes the silence without a fault, because clients on a busy machine wait even without faults.
        const bound = limit === undefined ? undefined : { atMost: limit + steady[signal][0]! };
        return [
          measured(
            `${name}: ${SIGNAL_NAMES[signal]} silent, median of ${values.length}`,
            median(values),
            'ms',
          ),
          timing('  longest', Math.max(...values), 'ms', bound),
        ];
      }),
    );
  }

  #counts(log: LogAccount, crashes: number): Finding[] {
    const lost = this.#publishers.map(({ publisher, acknowledged }) => {
      const key = toHex(publisherKeys('evm', publisher).key);
      return [...acknowledged].filter((name) => !log.inputs.has(`${key} ${name}`)).length;
    });
    const refusals = this.#publishers.flatMap((publisher) => publisher.refusals);
    const acknowledged = sum(this.#publishers.map((publisher) => publisher.acknowledged.size));
    return [
      count('durable acknowledgements', acknowledged, SOME),
      count('  not in the log', sum(lost), NONE),
      count('updates refused', refusals.length, NONE),
      ...[...new Set(refusals)].map((reason) =>
        count(`  ${reason}`, refusals.filter((one) => one === reason).length),
      ),
      count('records of the log', log.records),
      ...this.#values.findings(),
      count('processes that ended by themselves', crashes, NONE),
    ];
  }
}

const SIGNAL_NAMES: Readonly<Record<Signal, string>> = {
  stream: 'streams',
  rest: 'REST',
  ack: 'durable answers',
};
