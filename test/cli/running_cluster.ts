import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerClusterInit } from '../../src/cli/cluster_init_command.js';
import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import { freePorts } from '../../src/cli/demo/free_ports.js';
import { ServeProcess } from '../service/child.js';
import { testConfig } from '../service/harness.js';
import { run } from './run.js';

/** A cluster of `cluster-init` with its NATS servers and nodes in processes, which end with the test. */
export class RunningCluster {
  readonly #nodes = new Map<number, ServeProcess>();
  readonly #servers: number[] = [];
  /** A folder with the program `nats-server`, for the printed commands. */
  readonly #programs: string;

  private constructor(
    readonly dir: string,
    /** The addresses of the NATS servers. */
    readonly urls: readonly string[],
    readonly t: Test,
  ) {
    this.#programs = join(dir, '..', 'programs');
    mkdirSync(this.#programs);
    symlinkSync(findNatsServer()!, join(this.#programs, 'nats-server'));
  }

  static async start(t: Test): Promise<RunningCluster> {
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
      '3',
      '--no-tls',
      '--servers',
      servers.join(),
      '--config',
      join(folder, 'base.yaml'),
    ];
    const made = await run(registerClusterInit, 'cluster-init', dir, ...plan);
    t.equal(made.exitCode, 0, made.err);
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

  /** Starts a node and waits until it is ready. */
  async serve(node: number) {
    const process = new ServeProcess(['--config', join(this.dir, `node-${node}`, 'tickseal.yaml')]);
    this.t.teardown(() => process.kill());
    this.#nodes.set(node, process);
    const addresses = await process.ready();
    await eventually(async () => (await fetch(`${addresses.adminUrl}/readyz`)).status === 200);
    return addresses;
  }

  stop(node: number) {
    const process = this.#nodes.get(node)!;
    process.child.kill('SIGTERM');
    return process.exited;
  }

  /** Changes the files, and runs the printed commands on each NATS server. */
  async change(option: string, value: string): Promise<void> {
    const { out, err, exitCode } = await run(registerClusterInit, 'cluster-init', this.dir, option, value);
    this.t.equal(exitCode, 0, err);
    const [, command = ''] = /^ {3}(nats-server .*)$/m.exec(out) ?? [];
    for (const pid of this.#servers)
      execFileSync('bash', ['-c', command.replaceAll('PID', String(pid))], {
        env: { ...process.env, PATH: `${this.#programs}:${process.env['PATH']}` },
        stdio: 'pipe',
      });
  }
}
