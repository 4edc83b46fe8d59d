import { isMainThread } from 'node:worker_threads';
import { createHangs, hangWhenAsked, servesSockets } from '../../scripts/torture/hang.js';

// Loaded into all threads of a service under test, which `SIGUSR2` strikes in the way that its environment names.

/** What happens: an exception in the main thread, or a loop without an end in one that serves sockets. */
export type Strike = 'fault' | 'rejection' | 'hang';

export const STRIKE_VARIABLE = 'TICKSEAL_TEST_STRIKE';

const strike = process.env[STRIKE_VARIABLE] as Strike;

if (isMainThread) prepare();
else if (servesSockets()) hangWhenAsked();

function prepare(): void {
  const hang = createHangs();
  process.on('SIGUSR2', () => {
    if (strike === 'fault') throw new Error('struck by the test');
    if (strike === 'rejection') void Promise.reject(new Error('struck by the test'));
    hang();
  });
}
