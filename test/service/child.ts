import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../scripts/load/wait.js';
import { SERVICE_KEYS, type Sections, testConfig } from './harness.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

interface ServeOptions {
  /** The program, if it is not the program of this checkout. */
  readonly main?: string;
  /** A command that receives the program and its arguments as its own arguments, and replaces itself with that program. */
  readonly wrapper?: readonly string[];
}

/** `tickseal serve` in a separate process. */
export class ServeProcess {
  readonly #lines: string[] = [];
  #stderr = '';
  /** True when the process has ended and the test has read its whole output. */
  #hasEnded = false;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;

  constructor(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    { main = MAIN, wrapper = [] }: ServeOptions = {},
  ) {
    const [command, ...rest] = [...wrapper, process.execPath, main, 'serve', ...args];
    const child = spawn(command!, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.child = child;
    createInterface({ input: child.stdout }).on('line', (line) => this.#lines.push(line));
    child.stderr.on('data', (text) => {
      this.#stderr += text;
    });
    this.exited = once(child, 'close').then(([code, signal]) => {
      this.#hasEnded = true;
      return { code, signal };
    });
  }

  readonly child: ChildProcessByStdio<null, Readable, Readable>;

  get stdout(): string {
    return this.#lines.join('\n');
  }

  get stderr(): string {
    return this.#stderr;
  }

  /**
   * Waits for a line of standard output that matches. Log lines of `serve --config` are JSON.
   * @throws Error with the whole output when the process ends without a matching line
   */
  async line(pattern: RegExp): Promise<string> {
    const found = await eventually(() => {
      const line = this.#lines.find((one) => pattern.test(one));
      return line ?? (this.#hasEnded ? null : undefined);
    });
    if (found === null) throw new Error(`no line ${pattern} in:\n${this.stdout}\n${this.stderr}`);
    return found;
  }

  /** Returns the addresses of `serve --config`, after it is ready. */
  async ready(): Promise<{ url: string; socketUrl: string; adminUrl: string }> {
    const { port, adminPort } = JSON.parse(await this.line(/"msg":"ready"/)) as Record<string, number>;
    return {
      url: `http://127.0.0.1:${port}`,
      socketUrl: `ws://127.0.0.1:${port}`,
      adminUrl: `http://127.0.0.1:${adminPort}`,
    };
  }

  /** Kills the process in a teardown, if it is still running. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }
}

/** Writes a configuration and its key files into `dir`. Returns the path of the configuration. */
export function writeConfig(dir: string, sections: Sections = {}): string {
  for (const type of ['evm', 'stark'] as const)
    writeFileSync(join(dir, `${type}.hex`), SERVICE_KEYS[type].toString('hex'), { mode: 0o600 });
  const file = join(dir, 'config.json');
  const keys = { evm: { file: 'evm.hex' }, stark: { file: 'stark.hex' } };
  writeFileSync(file, testConfig(dir, { keys, ...sections }));
  return file;
}

/** Returns the processes that `pid` started; `undefined` on systems without `/proc`. */
export function childrenOf(pid: number): number[] | undefined {
  if (parentOf(pid) === undefined) return undefined;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((id) => parentOf(id) === pid);
}

function parentOf(pid: number): number | undefined {
  try {
    // The second field is the name, which is in parentheses and may contain any characters.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, '').trim().split(' ')[1]);
  } catch {
    return undefined;
  }
}

/** Returns whether a process has ended, also if nobody has waited for its end. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return /^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}
