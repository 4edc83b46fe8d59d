import {
  BroadcastChannel,
  getEnvironmentData,
  isMainThread,
  setEnvironmentData,
  workerData,
} from 'node:worker_threads';

// Loaded into all threads of a service under test, which `SIGUSR2` strikes in the way that its environment names.

/** What happens: an exception in the main thread, or a loop without an end in one that serves sockets. */
export type Strike = 'fault' | 'rejection' | 'hang';

export const STRIKE_VARIABLE = 'TICKSEAL_TEST_STRIKE';

const CHANNEL = 'tickseal test, strikes';
const strike = process.env[STRIKE_VARIABLE] as Strike;

if (isMainThread) prepare();
else if (workerData?.pulse !== undefined) hangWhenStruck();

function prepare(): void {
  const strikesLeft = new Int32Array(new SharedArrayBuffer(4));
  setEnvironmentData(CHANNEL, strikesLeft);
  process.on('SIGUSR2', () => {
    if (strike === 'fault') throw new Error('struck by the test');
    if (strike === 'rejection') void Promise.reject(new Error('struck by the test'));
    Atomics.add(strikesLeft, 0, 1);
    const channel = new BroadcastChannel(CHANNEL);
    channel.postMessage('');
    channel.close();
  });
}

function hangWhenStruck(): void {
  const strikesLeft = getEnvironmentData(CHANNEL) as Int32Array;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = () => {
    if (Atomics.sub(strikesLeft, 0, 1) > 0) for (;;);
    Atomics.add(strikesLeft, 0, 1);
  };
  channel.unref();
}
