/**
 * The number of threads for `auto`. On two cores (row `threads` of the bench), two threads gave one client 0.75 times as many short
 * answers per CPU second as one thread. A price took 1.4 times as long to reach the subscribers. More cores were never measured. The
 * value stays 1 until that row shows a gain on a machine with eight or more cores.
 */
const AUTO_THREADS = 1;

/**
 * Plans the threads of a process. The main thread makes the prices. With one thread, the main thread also serves the connections.
 * The other cores are shared between serving and signatures.
 */
export function planThreads(
  configured: number | 'auto',
  cores: number,
): { readonly listen: number; readonly crypto: number } {
  const listen = configured === 'auto' ? AUTO_THREADS : configured;
  return { listen, crypto: Math.max(1, cores - 1 - (listen === 1 ? 0 : listen)) };
}
