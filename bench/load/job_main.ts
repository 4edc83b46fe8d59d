import type { FromJob, JobReport, LoadJob } from './jobs.js';
import { openPublisher } from './publisher.js';
import { openReaders } from './readers.js';
import { openRequests } from './requests.js';

// The program of each load process. The parent sends one job, and ends the process by closing the channel.

/** The counts of a job since the last call. */
export interface RunningJob {
  take(): Omit<JobReport, 'cpuSeconds' | 'seconds'>;
}

const REPORT_MS = 1_000;

process.on('disconnect', () => process.exit(0));
process.once('message', (job: LoadJob) => {
  run(job).catch((error: Error) => {
    tell({ is: 'failed', reason: error.message });
  });
});

async function run(job: LoadJob): Promise<void> {
  const running = await open(job);
  tell({ is: 'ready' });
  let before = process.cpuUsage();
  let beforeMs = performance.now();
  running.take();
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - beforeMs) / 1_000;
    before = process.cpuUsage();
    beforeMs = performance.now();
    tell({ is: 'report', report: { ...running.take(), cpuSeconds: (user + system) / 1e6, seconds } });
  }, REPORT_MS);
}

function open(job: LoadJob): Promise<RunningJob> {
  switch (job.kind) {
    case 'readers':
      return openReaders(job);
    case 'publisher':
      return openPublisher(job);
    case 'requests':
      return openRequests(job);
  }
}

function tell(message: FromJob): void {
  if (process.connected) process.send!(message);
}
