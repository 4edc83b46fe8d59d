import type { ChildProcess } from 'node:child_process';

export interface KeptProcessOptions {
  /** The name that the user of the demo sees, such as `node 1`. */
  readonly name: string;
  /** Starts the process. Resolves when the process runs. */
  readonly spawn: () => ChildProcess | Promise<ChildProcess>;
  /** Reports an event to the user in one line. */
  readonly say: (line: string) => void;
}

/** The delay before the demo restarts a process that ended. The user has time to see how the other processes react. */
export const RESTART_MS = 5_000;
/** The time after which the demo kills a process that does not stop. */
const STOP_MS_MAX = 10_000;

/** A process that is restarted when it ends, unless {@link stop} ended it. */
export class KeptProcess {
  readonly name: string;
  readonly #options: KeptProcessOptions;
  #child: ChildProcess | undefined;
  #starting: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isKept = false;

  constructor(options: KeptProcessOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** True while the process runs. */
  get isUp(): boolean {
    const child = this.#child;
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Starts the process. @throws Error when it does not start */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  /** Restarts the process after each end from now on. */
  keep(): void {
    this.#isKept = true;
  }

  /** Ends the process. */
  async stop(): Promise<void> {
    this.#isKept = false;
    clearTimeout(this.#timer);
    await this.#starting?.catch(() => {});
    if (!this.isUp) return;
    const child = this.#child!;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    await exited;
    clearTimeout(timer);
  }

  async #start(): Promise<void> {
    const child = await this.#options.spawn();
    this.#child = child;
    child.on('error', () => {});
    if (this.isUp) child.once('exit', () => this.#ended());
    else this.#ended();
  }

  #ended(): void {
    if (!this.#isKept) return;
    const { exitCode, signalCode } = this.#child!;
    const how = signalCode ?? `exit status ${exitCode}`;
    this.#options.say(`${this.name} has ended (${how}); it starts again in ${RESTART_MS / 1000} s`);
    this.#timer = setTimeout(() => void this.#startAgain(), RESTART_MS);
  }

  async #startAgain(): Promise<void> {
    try {
      await this.start();
      if (this.isUp) this.#options.say(`${this.name} was started again: kill -9 ${this.pid}`);
    } catch (error) {
      this.#options.say(`${this.name} does not start again: ${(error as Error).message}`);
    }
  }
}
