/**
 * The main thread makes the prices and, where it is the only one, serves the connections. The cores beside it are shared
 * between serving and signatures.
 */
export function planThreads(
  configured: number | 'auto',
  cores: number,
): { readonly listen: number; readonly crypto: number } {
  const listen = configured === 'auto' ? Math.max(1, Math.floor((cores - 1) / 2)) : configured;
  return { listen, crypto: Math.max(1, cores - 1 - (listen === 1 ? 0 : listen)) };
}
