import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { TOKEN } from '../../load/config.js';
import { TcpProxy } from '../../load/tcp_proxy.js';
import { eventually } from '../../load/wait.js';
import { count, type Finding, NONE, SOME } from '../check.js';
import { until } from '../service.js';
import type { TortureNode } from './nodes.js';

const TARGET_POLL_MS = 50;
const PROGRAM = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url));

/**
 * The command `tickseal log audit --stream` against a node, which may restart with another port. The audit must find nothing in honest
 * work.
 */
export class Audit {
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
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-audit-'));
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

  /** Waits for prices of now, ends the audit, audits the whole log again with an empty folder, and returns the results. */
  async finish(): Promise<Finding[]> {
    const { found } = this.#run;
    await until(
      'the audit has found the newest prices',
      () => this.#run.status !== undefined || this.#run.found > found,
    );
    const { batches } = this.#run;
    await this.#run.end();
    const again = this.#audit('again', '--once');
    await until('the second audit ends', () => again.status !== undefined);
    clearInterval(this.#timer);
    await this.#proxy.stop();
    for (const line of [...this.#run.lines.slice(-3), ...again.lines])
      process.stderr.write(`  log audit: ${line}\n`);
    return [
      count('prices of the stream that the audit found in the public log', this.#run.found, SOME),
      count('  batches that it checked', batches, SOME),
      count('  files with evidence', this.#run.evidence + again.evidence, NONE),
      count('  exit status', this.#run.status!, NONE),
      count('  exit status of an audit of the whole log afterwards', again.status!, NONE),
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

  /** The number of prices of the stream that the audit has found in the log. */
  get found(): number {
    return this.#number(/(\d+) received prices found$/);
  }

  get batches(): number {
    return this.#number(/^(\d+) batches checked/);
  }

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
