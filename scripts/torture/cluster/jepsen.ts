import { randomInt } from 'node:crypto';
import { findNatsServer } from '../../../src/cli/demo/find_nats_server.js';
import { ORACLE_ID, symbolOf, TOKEN } from '../../load/config.js';
import { publisherKeys } from '../../load/keys.js';
import { seededRandom } from '../../load/random.js';
import { median } from '../../load/statistics.js';
import { pause } from '../../load/wait.js';
import { type Check, exactly, type Finding, type Scale, type Sizes } from '../check.js';
import { readiness, until } from '../service.js';
import { JEPSEN_FAULTS, type JepsenFault, type Scene } from './jepsen_faults.js';
import { logCopies, moveLogLeader, withLogin } from './log_leader.js';
import { ASSETS, PUBLISHERS, TortureCluster, WITHOUT_SERVER } from './nodes.js';
import { readRawLog } from './raw_log.js';
import { SeenValues, type StrangerOptions, StrangerPublisher, StrangerReader } from './strangers.js';
import { canRecord, SyncedFiles } from './synced_files.js';

/**
 * The check with the faults of Jepsen's analysis of NATS: damaged files, lost power, paused and removed servers. The clients and the
 * reader of the log share no code with the service.
 */
export const jepsen: Check = {
  name: 'jepsen',
  title: 'a cluster whose message servers lose power, and whose files are damaged',
  run: measure,
};

const STEADY_MS: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 500 };
const RECOVERED_MS_MAX = 120_000;
const COPIED_MS_MAX = 60_000;
const LOOK_MS = 100;
const SETTLED_MS = 1_000;
/** The time within which nodes restore records that a new leader of the log does not have, or say that they are lost. */
const SAID_MS_MAX = 30_000;
/** A reason that says that the log is damaged. The reason that a node is still reading the log does not count. */
const SAYS_LOST = /log (has lost|lacks)|of the log|stream/;
const MINUTES: Readonly<Record<Scale, number>> = { full: 8, smoke: 0 };
const SMOKE_FAULTS = 1;

async function measure(scale: Scale, { minutes, only }: Sizes) {
  const binary = findNatsServer();
  if (binary === undefined) return WITHOUT_SERVER;
  if (!canRecord()) return { skipped: 'no strace, which records the synced bytes of the NATS servers' };
  const seed = randomInt(1, 2 ** 31);
  process.stderr.write(`  seed ${seed}\n`);
  const random = seededRandom(seed);
  const totals = new Totals();
  const chosen = JEPSEN_FAULTS.filter(({ name }) => only === undefined || name.includes(only));
  const faults = scale === 'smoke' ? chosen.slice(0, SMOKE_FAULTS) : chosen;
  const endMs = performance.now() + (minutes ?? MINUTES[scale]) * 60_000;
  for (let round = 0; round === 0 || performance.now() < endMs; round++) {
    const run = await JepsenRun.start(binary, random, totals, STEADY_MS[scale]);
    // The first round has each fault once. The next rounds have random faults, until a cluster stops.
    for (const fault of round === 0 ? faults : any(faults, random)) {
      if (round > 0 && performance.now() > endMs) break;
      if (!(await run.suffer(fault))) break;
    }
    await run.finish();
  }
  return totals.findings();
}

function* any(faults: readonly JepsenFault[], random: () => number): Iterable<JepsenFault> {
  for (;;) yield faults[Math.floor(random() * faults.length)]!;
}

/** The result of all clusters. */
class Totals {
  acknowledged = 0;
  lost = 0;
  lostAndSaid = 0;
  stopped = 0;
  stuck = 0;
  copiesMissing = 0;
  faults = 0;
  records = 0;
  epochs = 0;
  aggregates = 0;
  payloads = 0;
  damaged = 0;
  violations = 0;
  contradictions = 0;
  crashes = 0;
  readonly recoveredMs = new Map<string, number[]>();

  findings(): Finding[] {
    const none = exactly(0);
    const count = (figure: string, value: number, mustBe?: Finding['mustBe']): Finding => ({
      figure,
      value,
      unit: '',
      ...(mustBe && { mustBe }),
    });
    return [
      ...[...this.recoveredMs].flatMap(([name, values]) => [
        count(`${name}: times`, values.length),
        { figure: '  ready again, median', value: median(values), unit: 'ms' },
        { figure: '  longest', value: Math.max(...values), unit: 'ms' },
      ]),
      count('faults', this.faults),
      count('durable acknowledgements', this.acknowledged, { atLeast: 10 }),
      count('  lost, and nothing said', this.lost, none),
      count('  lost, and a node said so', this.lostAndSaid),
      count('clusters that stopped with the reason', this.stopped),
      count('clusters that never were ready again, without the reason', this.stuck, none),
      count('servers that got no copy of the log again within a minute', this.copiesMissing),
      count('records of the log', this.records),
      count('  epochs', this.epochs),
      count("  missing or changed in one server's copy, which a node that reads it finds", this.damaged),
      count('  rules broken', this.violations, none),
      count('aggregates seen', this.aggregates, { atLeast: 10 }),
      count('signed payloads seen', this.payloads, { atLeast: 10 }),
      count('  two values under one time', this.contradictions, none),
      count('processes that ended by themselves', this.crashes, none),
    ];
  }
}

/** A cluster, until the cluster stops or the check is over. */
class JepsenRun {
  readonly #scene: Scene;
  readonly #totals: Totals;
  readonly #values = new SeenValues();
  readonly #publishers: readonly StrangerPublisher[];
  readonly #readers: readonly StrangerReader[];
  readonly #steadyMs: number;
  #isStopped = false;

  private constructor(scene: Scene, totals: Totals, steadyMs: number) {
    this.#scene = scene;
    this.#totals = totals;
    this.#steadyMs = steadyMs;
    const nodes = scene.cluster.nodes.map((node) => ({
      number: node.number,
      port: () => node.service?.port,
    }));
    const symbols = Array.from({ length: ASSETS }, (_, asset) => symbolOf(asset));
    const options: StrangerOptions = { token: TOKEN, oracleId: ORACLE_ID, symbols };
    this.#publishers = Array.from(
      { length: PUBLISHERS },
      (_, n) => new StrangerPublisher(options, nodes, publisherKeys('evm', n).secretKey, n),
    );
    this.#readers = nodes.map((node) => new StrangerReader(options, node, this.#values));
  }

  static async start(
    binary: string,
    random: () => number,
    totals: Totals,
    steadyMs: number,
  ): Promise<JepsenRun> {
    const files: SyncedFiles[] = [];
    const cluster = await TortureCluster.start({
      binary,
      syncAlways: true,
      wrapper: (server, folder) => {
        files[server] ??= new SyncedFiles(folder);
        return files[server].command();
      },
    });
    const run = new JepsenRun({ cluster, files, random }, totals, steadyMs);
    await pause(steadyMs);
    return run;
  }

  /** @returns false after the cluster has stopped, or after a fault after which no other may follow */
  async suffer({ name, act, isLast = false }: JepsenFault): Promise<boolean> {
    const details = await act(this.#scene);
    this.#totals.faults++;
    const startMs = performance.now();
    const isReady = await until(
      'the cluster is ready',
      async () =>
        (await this.#unready()).length === 0 && this.#publishers.every((one) => one.lastAckMs > startMs),
      RECOVERED_MS_MAX,
    ).then(
      () => true,
      () => false,
    );
    const tookMs = performance.now() - startMs;
    const times = this.#totals.recoveredMs.get(name) ?? [];
    this.#totals.recoveredMs.set(name, [...times, tookMs]);
    process.stderr.write(
      `  ${name}: ${details}; ${isReady ? 'ready' : 'not ready'} after ${tookMs.toFixed(0)} ms\n`,
    );
    if (isReady && isLast) {
      await pause(this.#steadyMs);
      return false;
    }
    if (isReady) {
      // The next fault may affect another server, so a majority of servers must first have undamaged copies.
      await until('all servers have the log', () => this.#isCopied(), COPIED_MS_MAX).catch(() => {
        this.#totals.copiesMissing++;
        process.stderr.write('    a server does not get a copy of the log\n');
      });
      await pause(this.#steadyMs);
      return true;
    }
    const reasons = await this.#unready();
    for (const reason of reasons) process.stderr.write(`    ${reason}\n`);
    this.#isStopped = reasons.some((reason) => SAYS_LOST.test(reason));
    if (this.#isStopped) this.#totals.stopped++;
    else this.#totals.stuck++;
    return false;
  }

  /**
   * Stops all clients, and compares their acknowledgements with the log on each server. An update is lost when more than one copy lacks it,
   * because a node that finds a damaged copy asks the other servers.
   */
  async finish(): Promise<void> {
    const { cluster } = this.#scene;
    const totals = this.#totals;
    for (const publisher of this.#publishers) publisher.stop();
    await pause(SETTLED_MS);
    for (const reader of this.#readers) reader.stop();
    const urls = withLogin(cluster.servers);
    const acknowledged = this.#publishers.flatMap((one) => [...one.acknowledged]);
    /** The number of copies that lack an acknowledged update. */
    const lacking = new Map<string, number>();
    let isLossSaid = this.#isStopped;
    for (let server = 0; server < urls.length; server++) {
      const leads = await moveLogLeader(urls, server);
      const { log, lost, isSaid } = await this.#settledLog(urls[server]!, acknowledged);
      process.stderr.write(
        `  log led by server ${leads + 1}: records ${log?.first} to ${log?.last}, ${acknowledged.length} acknowledged, ${lost.length} not there\n`,
      );
      for (const text of [...(log?.damaged ?? []), ...(log?.violations ?? [])].slice(0, 5))
        process.stderr.write(`    ${text}\n`);
      isLossSaid ||= isSaid;
      for (const name of lost) lacking.set(name, (lacking.get(name) ?? 0) + 1);
      totals.damaged += log?.damaged.length ?? 0;
      if (!this.#isStopped) totals.violations += log?.violations.length ?? 0;
      if (server > 0) continue;
      totals.acknowledged += acknowledged.length;
      totals.records += log?.last ?? 0;
      totals.epochs += log?.epochs ?? 0;
    }
    const lost = [...lacking].filter(([, copies]) => copies > 1).map(([name]) => name);
    for (const name of lost.slice(0, 3)) process.stderr.write(`    ${name} is lost\n`);
    if (isLossSaid) totals.lostAndSaid += lost.length;
    else totals.lost += lost.length;
    for (const one of this.#values.contradictions.slice(0, 5)) process.stderr.write(`    ${one}\n`);
    totals.aggregates += this.#values.aggregates;
    totals.payloads += this.#values.payloads;
    totals.contradictions += this.#values.contradictions.length;
    totals.crashes += cluster.crashes;
    await cluster.stop();
  }

  /**
   * Reads the log, and compares it with the acknowledgements. A server that has just begun to lead may lack records. The nodes then restore
   * them, or say that they are lost, so the log is read until one of both has happened.
   */
  async #settledLog(url: string, acknowledged: readonly string[]) {
    const endMs = performance.now() + SAID_MS_MAX;
    for (;;) {
      const log = await readRawLog(url).catch((error: Error) => {
        if (!this.#isStopped) throw error;
        return undefined;
      });
      const lost = acknowledged.filter((name) => !log?.updates.has(name));
      const isSaid =
        this.#isStopped ||
        (lost.length > 0 && (await this.#unready()).some((reason) => SAYS_LOST.test(reason)));
      if (isSaid || lost.length === 0 || performance.now() > endMs) return { log, lost, isSaid };
      await pause(LOOK_MS);
    }
  }

  async #isCopied(): Promise<boolean> {
    const urls = withLogin(this.#scene.cluster.servers);
    await pause(LOOK_MS);
    return (await logCopies(urls[0]!)) === urls.length;
  }

  /** Returns the reasons why nodes are not ready. */
  async #unready(): Promise<string[]> {
    const reasons = this.#scene.cluster.nodes.map(async ({ number, service }) => {
      if (service === undefined) return `node ${number} does not run`;
      const { status, reason } = await readiness(service).catch(() => ({ status: 0, reason: 'no answer' }));
      return status === 200 ? undefined : `node ${number}: ${reason}`;
    });
    return (await Promise.all(reasons)).filter((reason) => reason !== undefined);
  }
}
