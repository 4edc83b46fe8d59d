import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromJob, JobReport, LoadJob } from './jobs.js';

const MAIN = fileURLToPath(new URL('./job_main.js', import.meta.url));

/** A process that makes a part of the load. */
export class JobProcess {
  readonly #child: ChildProcess;
  readonly #ready: Promise<void>;

  /** @param onReport receives the counts of each second */
  constructor(job: LoadJob, onReport: (report: JobReport) => void) {
    const child = fork(MAIN);
    this.#child = child;
    this.#ready = new Promise((resolve, reject) => {
      child.on('message', (message: FromJob) => {
        if (message.is === 'ready') resolve();
        else if (message.is === 'report') onReport(message.report);
        else reject(new Error(message.reason));
      });
      child.once('exit', () => reject(new Error('a process of the load has ended')));
    });
    this.#ready.catch(() => {});
    child.send(job);
  }

  /** Resolves when all connections are open. @throws Error of one sentence */
  ready(): Promise<void> {
    return this.#ready;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
