import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromJob, JobReport, LoadJob, ToJob } from './jobs.js';

const MAIN = fileURLToPath(new URL('./job_main.js', import.meta.url));

/** A process that generates a part of the load. */
export class JobProcess {
  readonly #child: ChildProcess;
  /** Never resolves. Rejects with an Error whose message is one sentence, when the process fails or ends. */
  readonly failed: Promise<never>;
  /** The service's message when it first refused an update. */
  refusal: string | undefined;

  constructor(readonly job: LoadJob) {
    this.#child = fork(MAIN);
    this.failed = new Promise((_, reject) => {
      this.#child.on('message', (message: FromJob) => {
        if (message.is === 'refused') this.refusal = message.message;
        else if (message.is === 'failed') reject(new Error(message.reason));
      });
      this.#child.once('exit', () => reject(new Error('a process of the load has ended')));
    });
    this.failed.catch(() => {});
    this.#child.send(job);
  }

  /** Resolves when all connections are open. @throws Error whose message is one sentence */
  async ready(): Promise<void> {
    await this.#next('ready');
  }

  measure(): void {
    this.#child.send('measure' satisfies ToJob);
  }

  /** Returns the counts since the last report. @throws Error whose message is one sentence, when the process fails or ends */
  async report(which: 'report' | 'finish'): Promise<JobReport> {
    this.#child.send(which satisfies ToJob);
    return (await this.#next('report')).report;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  #next<Is extends FromJob['is']>(is: Is): Promise<Extract<FromJob, { is: Is }>> {
    const message = new Promise<Extract<FromJob, { is: Is }>>((resolve) => {
      const look = (one: FromJob) => {
        if (one.is !== is) return;
        this.#child.off('message', look);
        resolve(one as Extract<FromJob, { is: Is }>);
      };
      this.#child.on('message', look);
    });
    return Promise.race([message, this.failed]);
  }
}
