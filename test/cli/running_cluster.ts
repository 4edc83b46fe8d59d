import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import { freePorts } from '../../src/cli/demo/free_ports.js';
import { ROOT } from '../pages.js';
import { runProgram } from '../run_program.js';
import { ServeProcess } from '../service/child.js';
import { testConfig } from '../service/harness.js';

/** The program of this checkout. */
export const MAIN = join(ROOT, 'dist/src/cli/main.js');

/** A cluster of `cluster-init` on three NATS servers, with its nodes in processes. All of them end with the test. */
export class RunningCluster {
  readonly #nodes = new Map<number, ServeProcess>();
  /** The process IDs of the NATS servers. */
  readonly #servers: number[] = [];
  /** The nodes whose configuration has ports of their own. */
  readonly #placed = new Set<number>();
  /** A folder with the program `nats-server`, for the printed commands. */
  readonly #programs: string;

  private constructor(
    /** The folder of `cluster-init`. */
    readonly dir: string,
    /** The addresses of the NATS servers. */
    readonly urls: readonly string[],
    readonly t: Test,
  ) {
    this.#programs = join(dir, '..', 'programs');
    mkdirSync(this.#programs);
    symlinkSync(findNatsServer()!, join(this.#programs, 'nats-server'));
  }

  /** Makes the files of a cluster with two aggregators, and starts its servers. @param main the program that makes the files */
  static async start(t: Test, nodes: number, main = MAIN): Promise<RunningCluster> {
    const folder = t.testdir();
    const dir = join(folder, 'made');
    const { keys: _, ...sections } = JSON.parse(testConfig(folder));
    const base = Object.entries({ ...sections, storage: { dir: 'store' } })
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
      .join('\n');
    writeFileSync(join(folder, 'base.yaml'), base);
    const servers = (await freePorts(3, [0, 2000, 4000])).map((port) => `127.0.0.1:${port}`);
    const plan = [
      '--nodes',
      String(nodes),
      '--servers',
      servers.join(),
      '--config',
      join(folder, 'base.yaml'),
    ];
    await runProgram(process.execPath, [main, 'cluster-init', dir, '--no-tls', ...plan]);
    const cluster = new RunningCluster(
      dir,
      servers.map((one) => `nats://${one}`),
      t,
    );
    for (const [i] of servers.entries()) {
      const file = join(dir, `nats-${i + 1}`, 'nats.conf');
      const server = spawn(findNatsServer()!, ['-c', file], { stdio: 'ignore' });
      t.teardown(() => server.kill('SIGKILL'));
      cluster.#servers.push(server.pid!);
    }
    return cluster;
  }

  /** Starts a node, always at the same address, and waits until it is ready. */
  async serve(node: number, main = MAIN): Promise<{ url: string; socketUrl: string; adminUrl: string }> {
    const file = join(this.dir, `node-${node}`, 'tickseal.yaml');
    if (!this.#placed.has(node)) {
      this.#placed.add(node);
      const [port] = await freePorts(1);
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, text.replace(/^(listen: \{ ?"?port"?: ?)\d+/m, `$1${port}`));
    }
    const program = new ServeProcess(['--config', file], {}, { main });
    this.t.teardown(() => program.kill());
    this.#nodes.set(node, program);
    const addresses = await program.ready();
    await eventually(async () => (await fetch(`${addresses.adminUrl}/readyz`)).status === 200);
    return addresses;
  }

  /** Stops a node as systemd does. @returns its exit status */
  async stop(node: number): Promise<number | null> {
    const program = this.#nodes.get(node)!;
    program.child.kill('SIGTERM');
    return (await program.exited).code;
  }

  /** Changes the files, and runs the printed commands on each NATS server. */
  async change(option: string, value: string): Promise<void> {
    const out = await runProgram(process.execPath, [MAIN, 'cluster-init', this.dir, option, value]);
    const [, command = 'false'] = /^ {3}(nats-server .*)$/m.exec(out) ?? [];
    for (const pid of this.#servers)
      execFileSync('bash', ['-c', command.replaceAll('PID', String(pid))], {
        env: { ...process.env, PATH: `${this.#programs}:${process.env['PATH']}` },
        stdio: 'pipe',
      });
  }
}
