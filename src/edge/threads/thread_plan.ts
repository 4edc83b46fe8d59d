/**
 * The meaning of `auto`. On two cores (row `threads` of the bench) one client got 0.75 as many short answers per CPU second from two
 * threads as from one, and a price took 1.4 times as long to subscribers; more cores were never measured. It stays 1 until that
 * row shows a gain on a machine with eight or more.
 */
const AUTO_THREADS = 1;

/**
 * Plans the threads of a process. The main thread makes the prices and, if it is the only one, serves the connections. The cores
 * beside it are shared between serving and signatures.
 */
export function planThreads(
  configured: number | 'auto',
  cores: number,
): { readonly listen: number; readonly crypto: number } {
  const listen = configured === 'auto' ? AUTO_THREADS : configured;
  return { listen, crypto: Math.max(1, cores - 1 - (listen === 1 ? 0 : listen)) };
}
