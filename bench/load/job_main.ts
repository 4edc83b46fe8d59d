import type { FromJob, LoadJob, RunningJob, ToJob } from './jobs.js';
import { openPublisher } from './publisher.js';
import { openReaders } from './readers.js';
import { openRequests } from './requests.js';

// The program of each load process. The parent sends one job, and ends the process by closing the channel.

process.on('disconnect', () => process.exit(0));
process.once('message', (job: LoadJob) => {
  run(job).catch((error: Error) => {
    tell({ is: 'failed', reason: error.message });
  });
});

async function run(job: LoadJob): Promise<void> {
  const running = await open(job);
  let before = process.cpuUsage();
  let beforeMs = performance.now();
  const used = () => {
    const { user, system } = process.cpuUsage(before);
    const seconds = (performance.now() - beforeMs) / 1_000;
    before = process.cpuUsage();
    beforeMs = performance.now();
    return { cpuSeconds: (user + system) / 1e6, seconds };
  };
  process.on('message', (message: ToJob) => {
    if (message === 'measure') {
      running.begin();
      used();
    } else if (message === 'report') {
      tell({ is: 'report', report: { ...running.take(), ...used() } });
    } else {
      // Rates are those of the load, so the time and the CPU time of the wait count as nothing.
      void running.finish().then(() => {
        tell({ is: 'report', report: { ...running.take(), cpuSeconds: 0, seconds: 0 } });
      });
    }
  });
  tell({ is: 'ready' });
}

function open(job: LoadJob): Promise<RunningJob> {
  switch (job.kind) {
    case 'readers':
      return openReaders(job, (message) =>
        tell({ is: 'failed', reason: `a subscription was refused: ${message}` }),
      );
    case 'publisher':
      return openPublisher(job, (message) => tell({ is: 'refused', message }));
    case 'requests':
      return openRequests(job);
  }
}

function tell(message: FromJob): void {
  if (process.connected) process.send!(message);
}
