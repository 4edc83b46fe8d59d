/**
 * The main thread makes the prices and, where it is the only one, serves the connections. The cores beside it are shared
 * between serving and signatures. On two cores (row `threads` of the bench) two threads answered 0.82 to 0.86 as many REST requests
 * per CPU second as one, and sent 0.88 to 1.05 as many frames; a price took 0.8 ms to subscribers instead of 0.5. So they pay
 * where both have a core of their own beside the main thread's.
 */
export function planThreads(
  configured: number | 'auto',
  cores: number,
): { readonly listen: number; readonly crypto: number } {
  const listen = configured === 'auto' ? Math.max(1, Math.floor((cores - 1) / 2)) : configured;
  return { listen, crypto: Math.max(1, cores - 1 - (listen === 1 ? 0 : listen)) };
}
