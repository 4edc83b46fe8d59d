/**
 * The number of threads for `auto`. Measured with two threads on two cores, against one thread (row `threads` of the bench):
 *
 * | Measurement | Two threads |
 * |---|---|
 * | short answers per CPU second, one client | 0.75 |
 * | time until a price reaches the subscribers | 1.4 |
 *
 * There is no measurement on more cores. The value stays 1 until `scripts/many_cores.sh` shows a gain on a machine with eight or more
 * cores.
 */
const AUTO_THREADS = 1;

/**
 * Plans the threads of a process. The main thread makes the prices. With one thread, the main thread also serves the connections. Serving
 * and signing share the other cores.
 */
export function planThreads(
  configured: number | 'auto',
  cores: number,
): { readonly listen: number; readonly crypto: number } {
  const listen = configured === 'auto' ? AUTO_THREADS : configured;
  return { listen, crypto: Math.max(1, cores - 1 - (listen === 1 ? 0 : listen)) };
}
