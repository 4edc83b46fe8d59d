import { findNatsServer } from '../../../src/cli/demo/find_nats_server.js';
import { toHex } from '../../../src/model/hex.js';
import { publisherKeys } from '../../load/keys.js';
import { median, sum } from '../../load/statistics.js';
import { Updates } from '../../load/updates.js';
import { HANG_MS, pause } from '../../load/wait.js';
import { type Check, exactly, type Finding, type Scale, type Sizes } from '../check.js';
import { until } from '../service.js';
import { SignedValues } from '../signed_values.js';
import { NodeReader, RoamingPublisher } from './clients.js';
import { clocksApart, FAULTS, type Fault, type SilenceLimits, SMOKE_FAULTS } from './faults.js';
import { LogAccount } from './log_account.js';
import { PUBLISHERS, TortureCluster, type TortureNode, WITHOUT_SERVER } from './nodes.js';
import { silenceTable } from './silence_table.js';
import { SIGNALS, type Signal, type Track } from './silences.js';

/** The check with all faults that a cluster must withstand. The check runs three real message servers, two aggregators and two edges. */
export const cluster: Check = {
  name: 'cluster',
  title: 'a cluster whose nodes and message servers die, stop and are cut off, under load',
  run: measure,
};

const SETTLED_MS = 1_000;
const STEADY_MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 500 };
const RECOVERED_MS_MAX: Readonly<Record<Scale, number>> = { full: 60_000, smoke: HANG_MS };
/** The time after the start at which the rounds of all faults end. */
const ROUNDS_MS: Readonly<Record<Scale, number>> = { full: 240_000, smoke: 0 };
/** The time between two updates of a publisher, and between two requests of a reader. */
const SEND_MS: Readonly<Record<Scale, number>> = { full: 80, smoke: 400 };
const POLL_MS: Readonly<Record<Scale, number>> = { full: 50, smoke: 400 };
const HOUR_NS = 3_600_000_000_000n;

async function measure(scale: Scale, { minutes, rounds, only }: Sizes) {
  const binary = findNatsServer();
  if (binary === undefined) return WITHOUT_SERVER;
  const torture = new ClusterTorture(await TortureCluster.start({ binary }), scale);
  await torture.steady(STEADY_MS[scale]);
  const startMs = performance.now();
  const named = Object.keys(FAULTS).filter((name) => only === undefined || name === only);
  const faults = scale === 'smoke' ? SMOKE_FAULTS : named.map((name) => FAULTS[name]!);
  const roundsMs = minutes === undefined ? ROUNDS_MS[scale] : minutes * 60_000;
  const isOver = (done: number) =>
    rounds === undefined ? performance.now() - startMs >= roundsMs : done >= rounds;
  try {
    for (let done = 0; done === 0 || !isOver(done); done++) {
      if (rounds !== undefined) process.stderr.write(`  round ${done + 1} of ${rounds}\n`);
      for (const fault of faults) await torture.run(fault);
    }
    if (scale === 'full' && only === undefined && rounds === undefined) await torture.run(clocksApart);
    return await torture.finish();
  } finally {
    // The table has the completed steps, also when a later step has failed.
    if (rounds !== undefined) process.stdout.write(`\n${torture.table()}\n`);
  }
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
    const updates = new Updates('evm', { startNs: BigInt(Date.now()) * 1_000_000n - 2n * HOUR_NS });
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
      const { apart } = step;
      if (apart) this.#note(apart.name, startMs, this.#tracksOf(apart.nodes), apart.limits);
    }
    await this.#settle(performance.now());
  }

  /** Returns the table of all silences so far. */
  table(): string {
    return silenceTable(new Map([...this.#silences].map(([name, { found }]) => [name, found])));
  }

  async finish(): Promise<Finding[]> {
    for (const publisher of this.#publishers) publisher.stop();
    await until('all updates are answered', () =>
      this.#publishers.every(({ unanswered }) => unanswered === 0),
    );
    await pause(SETTLED_MS);
    for (const reader of this.#readers) reader.stop();
    const log = await LogAccount.read(this.#cluster.servers, this.#cluster.edges[0]!.number);
    const { crashes } = this.#cluster;
    await this.#cluster.stop();
    for (const violation of log.violations.slice(0, 20)) process.stderr.write(`${violation}\n`);
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
    return this.#tracksOf(this.#cluster.nodes.filter((node) => !except.includes(node)));
  }

  #tracksOf(nodes: readonly TortureNode[]): Track[] {
    return [
      ...this.#readers
        .filter(({ node }) => nodes.includes(node))
        .flatMap(({ streams, rest }) => [streams, rest]),
      ...this.#publishers.filter(({ node }) => nodes.includes(node)).map(({ acks }) => acks),
    ];
  }

  #note(name: string, startMs: number, tracks: readonly Track[], limits?: SilenceLimits): void {
    const found = this.#silences.get(name)?.found ?? { stream: [], rest: [], ack: [] };
    for (const signal of SIGNALS)
      found[signal].push(
        Math.max(
          ...tracks.filter((track) => track.signal === signal).map((track) => track.longestMs(startMs)),
        ),
      );
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
        const isTiming = true;
        return [
          {
            figure: `${name}: ${SIGNAL_NAMES[signal]} silent, median of ${values.length}`,
            value: median(values),
            unit: 'ms',
          },
          {
            figure: '  longest',
            value: Math.max(...values),
            unit: 'ms',
            // The limit includes the silence without a fault, because clients on a busy machine wait even without faults.
            ...(limit !== undefined && { mustBe: { atMost: limit + steady[signal][0]! }, isTiming }),
          },
        ];
      }),
    );
  }

  #counts(log: LogAccount, crashes: number): Finding[] {
    const values = this.#values;
    let acknowledged = 0;
    let lost = 0;
    const refusals = new Map<string, number>();
    const errors = new Map<string, number>();
    for (const publisher of this.#publishers) {
      const key = toHex(publisherKeys('evm', publisher.publisher).key);
      acknowledged += publisher.acknowledged.size;
      for (const name of publisher.acknowledged) if (!log.inputs.has(`${key} ${name}`)) lost++;
      for (const [reason, times] of publisher.refusals)
        refusals.set(reason, (refusals.get(reason) ?? 0) + times);
      for (const [reason, times] of publisher.errors) errors.set(reason, (errors.get(reason) ?? 0) + times);
    }
    const none = exactly(0);
    const shown = (counts: ReadonlyMap<string, number>, what: string): Finding[] =>
      [...counts].map(([reason, value]) => ({ figure: `  ${what}: ${reason}`, value, unit: '' }));
    return [
      { figure: 'durable acknowledgements', value: acknowledged, unit: '', mustBe: { atLeast: 10 } },
      { figure: '  not in the log', value: lost, unit: '', mustBe: none },
      { figure: 'updates refused', value: sum(refusals.values()), unit: '', mustBe: none },
      ...shown(refusals, 'refused'),
      { figure: 'messages answered with an error', value: sum(errors.values()), unit: '' },
      ...shown(errors, 'error'),
      { figure: 'records of the log', value: log.records, unit: '' },
      { figure: '  epochs', value: log.epochs, unit: '' },
      { figure: '  aggregates', value: log.aggregates, unit: '', mustBe: { atLeast: 10 } },
      { figure: '  rules broken', value: log.violations.length, unit: '', mustBe: none },
      { figure: 'aggregates seen', value: values.aggregates, unit: '', mustBe: { atLeast: 10 } },
      {
        figure: '  two under one key, asset and time',
        value: values.aggregatesTwice,
        unit: '',
        mustBe: none,
      },
      { figure: '  times that go back on one node', value: values.aggregatesBack, unit: '', mustBe: none },
      { figure: 'signed payloads seen', value: values.payloads, unit: '', mustBe: { atLeast: 10 } },
      { figure: '  two under one key and ts', value: values.payloadsTwice, unit: '', mustBe: none },
      {
        figure: '  two prices of one asset under one key and ts',
        value: values.valuesTwice,
        unit: '',
        mustBe: none,
      },
      { figure: 'processes that ended by themselves', value: crashes, unit: '', mustBe: none },
    ];
  }
}

const SIGNAL_NAMES: Readonly<Record<Signal, string>> = {
  stream: 'streams',
  rest: 'REST',
  ack: 'durable answers',
};
