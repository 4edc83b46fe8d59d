import { isMainThread } from 'node:worker_threads';
import { createHeldBytes } from '../load/held_memory.js';
import { createFaults, servesSockets, takeFaults } from './thread_faults.js';

// The module that Node loads into all threads of a service. `PROBED` of service.ts names its requests.

if (isMainThread) answerQuestions();
else if (servesSockets()) takeFaults();

function answerQuestions(): void {
  const giveFault = createFaults();
  const answers: Readonly<Record<string, () => number>> = {
    heap: createHeldBytes(),
    crashServer: () => giveFault('crash'),
  };
  process.on('message', (question: string) => process.send!(answers[question]!()));
  // Without this call, the channel would keep the service alive.
  process.channel!.unref();
}
