import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * @returns a function that collects the calling thread's garbage, and then returns the number of bytes in the thread's heap and external
 * memory
 */
export function createHeldBytes(): () => number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  return () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
}
