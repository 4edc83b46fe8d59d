import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { NewestPrices } from './newest_prices.js';

const PROGRAM = fileURLToPath(new URL('main.js', import.meta.url));
/**
 * The variables that contain publishing secrets. The sources process receives none of these variables, because it connects to
 * foreign servers.
 */
const SECRET_VARIABLES = ['TICKSEAL_KEY', 'TICKSEAL_TOKEN'];

/**
 * The options that keep the heap small, because the process runs beside the service on each publisher's machine. With six exchanges
 * and 5,000 quotes a second, the options reduce resident memory from 103 to 83 MiB.
 */
const SMALL_HEAP = ['--optimize-for-size', '--max-semi-space-size=2'];

export interface SourcesChildOptions {
  /** The options for `tickseal sources`. */
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Receives the lines of standard error. Without this callback the lines go to the standard error of this process. */
  readonly onWarning?: (line: string) => void;
}

/** The process of `tickseal sources FILE`: a source of price lines that never holds a key. */
export class SourcesChild {
  readonly #child: ChildProcess;
  /** The prices that wait to be published. While the service is unreachable, newer prices replace older prices. */
  readonly #newest = new NewestPrices();
  /** The number of prices that {@link next} has returned. */
  lineNumber = 0;
  #wake: () => void = () => {};
  #ended: string | undefined;
  #isStopped = false;

  constructor(file: string, { args = [], env = process.env, onWarning }: SourcesChildOptions = {}) {
    const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET_VARIABLES.includes(name)));
    // The process ends when the pipe to its standard input ends, even if this process is killed.
    this.#child = spawn(
      process.execPath,
      [...SMALL_HEAP, PROGRAM, 'sources', file, '--end-with-input', ...args],
      {
        stdio: ['pipe', 'pipe', onWarning === undefined ? 'inherit' : 'pipe'],
        env: kept,
      },
    );
    this.#child.stdin!.on('error', () => {});
    if (onWarning !== undefined)
      createInterface({ input: this.#child.stderr! }).on('line', (line) => onWarning(line));
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#handleLine(line));
    this.#child.once('error', (error) => this.#end(error.message));
    this.#child.once('close', (code, signal) => this.#end(`tickseal sources ended (${signal ?? code})`));
  }

  /** The exit status of the process; `undefined` while it runs, and after a signal. */
  get exitStatus(): number | undefined {
    return this.#child.exitCode ?? undefined;
  }

  /** The reason why the process ended, unless {@link stop} ended it. */
  get failure(): string | undefined {
    return this.#ended;
  }

  /** Returns the next price to publish; `undefined` after the end of the process. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const newest = this.#newest.take();
      if (newest !== undefined) {
        this.lineNumber++;
        return newest;
      }
      if (this.#ended !== undefined || this.#isStopped) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#child.kill();
    this.#wake();
  }

  #handleLine(text: string): void {
    const { asset, price, timestamp, trigger, publish } = JSON.parse(text) as Record<string, unknown>;
    if (price === null || publish === false) {
      this.#newest.delete(String(asset));
      return;
    }
    const line = JSON.stringify({ asset, price, timestamp, trigger });
    this.#newest.put(String(asset), line, trigger === 'delta');
    this.#wake();
  }

  #end(reason: string): void {
    if (!this.#isStopped) this.#ended ??= reason;
    this.#wake();
  }
}
