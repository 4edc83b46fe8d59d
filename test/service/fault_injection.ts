import { isMainThread } from 'node:worker_threads';
import { createFaults, servesSockets, takeFaults } from '../../scripts/torture/thread_faults.js';

// All threads of a tested service load this module. `SIGUSR2` causes the fault in the environment variable.

/** The fault: an exception or a rejection in the main thread, or an endless loop in a thread that serves sockets. */
export type Fault = 'exception' | 'rejection' | 'hang';

export const FAULT_VARIABLE = 'TICKSEAL_TEST_FAULT';
export const FAULT_MESSAGE = 'injected by the test';

const fault = process.env[FAULT_VARIABLE] as Fault;

if (isMainThread) prepare();
else if (servesSockets()) takeFaults();

function prepare(): void {
  const giveFault = createFaults();
  process.on('SIGUSR2', () => {
    if (fault === 'exception') throw new Error(FAULT_MESSAGE);
    if (fault === 'rejection') void Promise.reject(new Error(FAULT_MESSAGE));
    giveFault('hang');
  });
}
