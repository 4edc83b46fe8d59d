import { isMainThread } from 'node:worker_threads';
import { createHeldBytes } from '../load/held_memory.js';
import type { ProbeAnswers } from './probed_service.js';
import { createFaults, servesSockets, takeFaults } from './thread_faults.js';

// The module that Node loads into all threads of a service. probed_service.ts sends requests to this module.

if (isMainThread) answerQuestions();
else if (servesSockets()) takeFaults();

function answerQuestions(): void {
  const giveFault = createFaults();
  const answers: Readonly<Record<keyof ProbeAnswers, () => number>> = {
    heap: createHeldBytes(),
    crashServer: () => giveFault('crash'),
  };
  process.on('message', (question: keyof ProbeAnswers) => process.send!(answers[question]()));
  // Without this call, the channel would keep the service alive.
  process.channel!.unref();
}
