import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromJob, JobReport, LoadJob, ToJob } from './jobs.js';

const MAIN = fileURLToPath(new URL('./job_main.js', import.meta.url));

/** A process that generates a part of the load. */
export class JobProcess {
  readonly #child: ChildProcess;
  readonly #ready: Promise<void>;
  readonly #failed: Promise<never>;

  /** The service's message when it first refused an update. */
  refusal: string | undefined;
  #onReport: (report: JobReport) => void = () => {};

  constructor(readonly job: LoadJob) {
    const child = fork(MAIN);
    this.#child = child;
    let onReady = () => {};
    this.#failed = new Promise((_, reject) => {
      child.on('message', (message: FromJob) => {
        if (message.is === 'ready') onReady();
        else if (message.is === 'report') this.#onReport(message.report);
        else if (message.is === 'refused') this.refusal = message.message;
        else reject(new Error(message.reason));
      });
      child.once('exit', () => reject(new Error('a process of the load has ended')));
    });
    this.#failed.catch(() => {});
    this.#ready = new Promise((resolve) => {
      onReady = resolve;
    });
    child.send(job);
  }

  /** Resolves when all connections are open. @throws Error whose message is one sentence */
  ready(): Promise<void> {
    return Promise.race([this.#ready, this.#failed]);
  }

  /** Never resolves. @throws Error whose message is one sentence, when the process fails or ends */
  failed(): Promise<never> {
    return this.#failed;
  }

  measure(): void {
    this.#child.send('measure' satisfies ToJob);
  }

  /** Returns the counts since the last report. @throws Error whose message is one sentence, when the process fails or ends */
  report(which: 'report' | 'finish'): Promise<JobReport> {
    const report = new Promise<JobReport>((resolve) => {
      this.#onReport = resolve;
    });
    this.#child.send(which satisfies ToJob);
    return Promise.race([report, this.#failed]);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
