import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findNatsServer } from '../../../src/cli/demo/find_nats_server.js';
import { TOKEN } from '../../load/config.js';
import { TcpProxy } from '../../load/tcp_proxy.js';
import { Updates } from '../../load/updates.js';
import { eventually, pause } from '../../load/wait.js';
import { type Check, exactly, type Finding, type Scale, type Sizes } from '../check.js';
import { until } from '../service.js';
import { RoamingPublisher } from './clients.js';
import { FAULTS, SMOKE_FAULTS } from './faults.js';
import { PUBLISHERS, TortureCluster, type TortureNode, WITHOUT_SERVER } from './nodes.js';

/**
 * The check that `tickseal log audit --stream` finds nothing in honest work, while the parts of a cluster die, stop and are cut off. The
 * audit runs for the whole time, and once more at the end with an empty folder.
 */
export const audited: Check = {
  name: 'audited',
  title: 'an audit of the public log of a cluster whose parts die, stop and are cut off',
  run: measure,
};

const MINUTES: Readonly<Record<Scale, number>> = { full: 2, smoke: 0 };
/** The time between two updates of a publisher. The audit compares prices, and their number is not important. */
const SEND_MS = 1_000;
const BETWEEN_FAULTS_MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 1_000 };
const TARGET_POLL_MS = 50;
const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));

async function measure(scale: Scale, { minutes = MINUTES[scale] }: Sizes) {
  const binary = findNatsServer();
  if (binary === undefined) return WITHOUT_SERVER;
  const cluster = await TortureCluster.start({ binary, hasPublicLog: true });
  const updates = new Updates('evm', { startNs: BigInt(Date.now() - 7_200_000) * 1_000_000n });
  const publishers = Array.from(
    { length: PUBLISHERS },
    (_, publisher) => new RoamingPublisher(publisher, cluster.nodes, updates, SEND_MS),
  );
  const audit = await Audit.start(cluster.edges[0]!);
  const faults = scale === 'smoke' ? SMOKE_FAULTS : Object.values(FAULTS);
  const endMs = performance.now() + minutes * 60_000;
  let steps = 0;
  for (let at = 0; at === 0 || performance.now() < endMs; at++) {
    for (const { name, act } of await faults[at % faults.length]!(cluster)) {
      process.stderr.write(`  ${name}: ${audit.lastLine}\n`);
      await act();
      await pause(BETWEEN_FAULTS_MS[scale]);
      steps++;
    }
    await Promise.all(cluster.nodes.map((node) => node.untilReady()));
    if (audit.isOver) break;
  }
  const { found } = audit;
  await until('the audit has found the newest prices', () => audit.isOver || audit.found > found);
  for (const publisher of publishers) publisher.stop();
  const findings = await audit.finish();
  await cluster.stop();
  return [
    { figure: 'faults during the audit', value: steps, unit: '' },
    ...findings,
    { figure: 'processes that ended by themselves', value: cluster.crashes, unit: '', mustBe: exactly(0) },
  ] satisfies Finding[];
}

/** The command `tickseal log audit --stream` against a node, which may restart with another port. */
class Audit {
  readonly #dir: string;
  readonly #proxy: TcpProxy;
  readonly #timer: NodeJS.Timeout;
  readonly #policy: string;
  readonly #run: AuditRun;

  private constructor(dir: string, proxy: TcpProxy, timer: NodeJS.Timeout, policy: string) {
    this.#dir = dir;
    this.#proxy = proxy;
    this.#timer = timer;
    this.#policy = policy;
    this.#run = this.#audit('audit', '--stream');
  }

  static async start(node: TortureNode): Promise<Audit> {
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-audited-'));
    process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
    const proxy = await TcpProxy.start(node.service!.port);
    const timer = setInterval(() => {
      proxy.targetPort = node.service?.port ?? proxy.targetPort;
    }, TARGET_POLL_MS);
    const text = await eventually(() => policyAt(proxy.port), {
      what: 'an edge shows the policy of the log',
    });
    const policy = join(dir, 'policy');
    writeFileSync(policy, text);
    return new Audit(dir, proxy, timer, policy);
  }

  get lastLine(): string {
    return this.#run.lines.at(-1) ?? '';
  }

  get isOver(): boolean {
    return this.#run.status !== undefined;
  }

  /** The number of prices of the stream that the audit has found in the log. */
  get found(): number {
    return this.#run.found;
  }

  /** Ends the audit, audits the whole log again, and returns the results. */
  async finish(): Promise<Finding[]> {
    const [first, batches] = [this.#run, this.#run.batches];
    await first.end();
    const again = this.#audit('again', '--once');
    await until('the second audit ends', () => again.status !== undefined);
    clearInterval(this.#timer);
    await this.#proxy.stop();
    for (const line of [...first.lines.slice(-3), ...again.lines])
      process.stderr.write(`  log audit: ${line}\n`);
    return [
      {
        figure: 'prices of the stream that the audit found in the log',
        value: first.found,
        unit: '',
        mustBe: { atLeast: 1 },
      },
      { figure: 'batches that the audit checked', value: batches, unit: '', mustBe: { atLeast: 1 } },
      { figure: 'files with evidence', value: first.evidence + again.evidence, unit: '', mustBe: exactly(0) },
      { figure: 'exit status of the audit', value: first.status!, unit: '', mustBe: exactly(0) },
      { figure: 'exit status of the second audit', value: again.status!, unit: '', mustBe: exactly(0) },
    ];
  }

  #audit(folder: string, option: string): AuditRun {
    const url = `http://127.0.0.1:${this.#proxy.port}`;
    return new AuditRun(join(this.#dir, folder), ['--policy', this.#policy, option, url]);
  }
}

/** Returns the policy of the log; `undefined` before the node has received it from the leader. */
async function policyAt(port: number): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/signers`);
  const { log } = (await response.json()) as { readonly log?: { readonly policy: string } };
  return log?.policy;
}

/** A process of the command, with its output. */
class AuditRun {
  readonly lines: string[] = [];
  /** The exit status; `undefined` while the process runs. */
  status: number | undefined;
  readonly #folder: string;
  readonly #child: ChildProcess;

  constructor(folder: string, args: readonly string[]) {
    this.#folder = folder;
    this.#child = spawn(process.execPath, [PROGRAM, 'log', 'audit', '--folder', folder, ...args], {
      env: { ...process.env, TICKSEAL_TOKEN: TOKEN },
      // The errors of unreachable nodes are expected.
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    createInterface(this.#child.stdout!).on('line', (line) => this.lines.push(line));
    this.#child.once('exit', (code, signal) => {
      this.status = code ?? (signal === null ? -1 : -2);
    });
  }

  get found(): number {
    return this.#number(/(\d+) received prices found$/);
  }

  get batches(): number {
    return this.#number(/^(\d+) batches checked/);
  }

  /** The number of files with evidence. */
  get evidence(): number {
    if (!existsSync(this.#folder)) return 0;
    return readdirSync(this.#folder).filter((name) => name.startsWith('evidence')).length;
  }

  async end(): Promise<void> {
    if (this.status !== undefined) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  #number(pattern: RegExp): number {
    return Number(pattern.exec(this.lines.findLast((line) => pattern.test(line)) ?? '')?.[1] ?? 0);
  }
}
