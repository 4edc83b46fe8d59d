import { isMainThread } from 'node:worker_threads';
import { createHangs, hangWhenAsked, servesSockets } from '../../scripts/torture/hang.js';

// The module that is loaded into all threads of a tested service. `SIGUSR2` causes the fault that the environment names.

/** The fault: an exception or a rejection in the main thread, or an endless loop in a thread that serves sockets. */
export type Fault = 'exception' | 'rejection' | 'hang';

export const FAULT_VARIABLE = 'TICKSEAL_TEST_FAULT';
export const FAULT_MESSAGE = 'injected by the test';

const fault = process.env[FAULT_VARIABLE] as Fault;

if (isMainThread) prepare();
else if (servesSockets()) hangWhenAsked();

function prepare(): void {
  const hang = createHangs();
  process.on('SIGUSR2', () => {
    if (fault === 'exception') throw new Error(FAULT_MESSAGE);
    if (fault === 'rejection') void Promise.reject(new Error(FAULT_MESSAGE));
    hang();
  });
}
