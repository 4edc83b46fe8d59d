import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePorts } from '../../src/cli/demo/free_ports.js';
import { type NatsUser, natsAccounts, natsUserName } from '../../src/cluster/nats/nats_accounts.js';

export interface NatsServersOptions {
  readonly binary: string;
  /** The number of servers. More than one server form a cluster. */
  readonly count: number;
  /**
   * The roles of node 1, node 2 and so on of the cluster `main`. Each node has a user on the servers, as
   * with `cluster-init`. Without roles, any client has all rights.
   */
  readonly roles?: readonly NatsUser['role'][];
  /** True when a server writes each record to disk before it acknowledges the record, as with `cluster-init`. */
  readonly syncAlways?: boolean;
  /**
   * Returns a command that starts the server. The server's own command follows as its arguments. The server must stay the direct
   * child process.
   * @param folder the folder with the server's stored data
   */
  readonly wrapper?: (index: number, folder: string) => readonly string[];
  /** Additional lines for each server's configuration. */
  readonly settings?: string;
}

/** The number of attempts. An attempt fails when another program takes a free port before the server listens on that port. */
const PORT_ATTEMPTS_MAX = 3;

/**
 * Starts servers on free ports of this machine. Each server has JetStream with a separate folder.
 * @throws Error when a server does not start
 */
export async function startNatsServers(options: NatsServersOptions): Promise<NatsServers> {
  for (let attempt = 1; ; attempt++) {
    const servers = new NatsServers(options, await freePorts(2 * options.count));
    try {
      servers.configure();
      await Promise.all(servers.urls.map((_, index) => servers.start(index)));
      return servers;
    } catch (error) {
      await servers.stop();
      const isTaken = (error as Error).message.includes('address already in use');
      if (!isTaken || attempt === PORT_ATTEMPTS_MAX) throw error;
    }
  }
}

const START_MS_MAX = 60_000;
const START_POLL_MS = 20;

/**
 * The servers of one cluster. The names of the servers are `n1`, `n2` and so on, and their indexes begin at 0. The servers end when
 * this process exits.
 */
export class NatsServers {
  /** The address `nats://127.0.0.1:port` of each server. */
  readonly urls: readonly string[];
  readonly #options: NatsServersOptions;
  readonly #ports: readonly number[];
  readonly #routePorts: readonly number[];
  readonly #dir: string;
  readonly #children: (ChildProcess | undefined)[] = [];
  readonly #users: readonly (NatsUser & { readonly login: { readonly password: string } })[];
  readonly #killAll = () => {
    for (const child of this.#children) child?.kill('SIGKILL');
    rmSync(this.#dir, { recursive: true, force: true });
  };

  constructor(options: NatsServersOptions, ports: readonly number[]) {
    this.#options = options;
    this.#users = (options.roles ?? []).map((role, index) => {
      return { node: index + 1, role, login: { password: randomBytes(16).toString('hex') } };
    });
    this.#dir = mkdtempSync(join(tmpdir(), 'tickseal-nats-'));
    this.#ports = ports.slice(0, options.count);
    this.#routePorts = ports.slice(options.count);
    this.urls = this.#ports.map((port) => `nats://127.0.0.1:${port}`);
    process.once('exit', this.#killAll);
  }

  /** Returns the text of `cluster.credentials` of a node. The servers must have been started with the node's role. */
  credentialsOf(node: number): string {
    return `${natsUserName(node)}:${this.#users[node - 1]!.login.password}`;
  }

  pid(index: number): number | undefined {
    return this.#children[index]?.pid;
  }

  /** Returns the folder with the server's stored data. */
  storage(index: number): string {
    return join(this.#dir, `n${index + 1}`);
  }

  /** Writes the configuration files. A running server reads its file at its next start. */
  configure(): void {
    for (const index of this.#ports.keys()) {
      mkdirSync(this.storage(index), { recursive: true });
      writeFileSync(this.#configFile(index), this.#configText(index));
    }
  }

  /**
   * Starts an ended server again with its stored data.
   * @returns the server's process, even if the process already runs
   */
  async start(index: number): Promise<ChildProcess> {
    const running = this.#running(index);
    if (running !== undefined) return running;
    const { binary, wrapper } = this.#options;
    const [command, ...args] = [
      ...(wrapper?.(index, this.storage(index)) ?? []),
      binary,
      '-c',
      this.#configFile(index),
    ];
    const child = spawn(command!, args, { stdio: 'ignore' });
    this.#children[index] = child;
    child.once('error', () => {});
    const endMs = performance.now() + START_MS_MAX;
    while (!(await accepts(this.#ports[index]!))) {
      if (child.pid === undefined || child.exitCode !== null || performance.now() > endMs)
        throw new Error(`nats-server ${index + 1} did not start: ${this.#lastLine(index)}`);
      await wait(START_POLL_MS);
    }
    return child;
  }

  /**
   * Sends a signal to a server.
   * @returns after the process has ended, for SIGKILL and SIGTERM; immediately, for other signals
   */
  async signal(index: number, signal: NodeJS.Signals): Promise<void> {
    const child = this.#running(index);
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    if (signal === 'SIGKILL' || signal === 'SIGTERM') await ended;
  }

  /** Ends all servers and deletes their data. */
  async stop(): Promise<void> {
    process.off('exit', this.#killAll);
    await Promise.all(this.#children.map((_, index) => this.signal(index, 'SIGKILL')));
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 5 });
  }

  #running(index: number): ChildProcess | undefined {
    const child = this.#children[index];
    return child?.exitCode === null && child.signalCode === null ? child : undefined;
  }

  #lastLine(index: number): string | undefined {
    const file = join(this.#dir, `n${index + 1}.log`);
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').at(-1) : 'it wrote no log';
  }

  #configFile(index: number): string {
    return join(this.#dir, `n${index + 1}.conf`);
  }

  #configText(index: number): string {
    const { settings = '', count, syncAlways = false } = this.#options;
    const folder = JSON.stringify(this.storage(index));
    return [
      `server_name: n${index + 1}`,
      `listen: "127.0.0.1:${this.#ports[index]}"`,
      `jetstream { store_dir: ${folder}${syncAlways ? ', sync_interval: always' : ''} }`,
      `log_file: ${JSON.stringify(join(this.#dir, `n${index + 1}.log`))}`,
      count > 1 ? this.#clusterText(index) : '',
      this.#users.length > 0 ? natsAccounts('main', this.#users) : '',
      settings,
    ].join('\n');
  }

  #clusterText(index: number): string {
    const others = this.#routePorts.filter((_, to) => to !== index);
    const routes = others.map((port) => `"nats://127.0.0.1:${port}"`);
    return `cluster { name: tickseal, listen: "127.0.0.1:${this.#routePorts[index]}", routes: [${routes.join(', ')}] }`;
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    // A server sends a greeting on each connection.
    socket.once('data', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
