/**
 * Returns the number of open sockets of uWebSockets.js on the calling thread. Each socket is a handle of the thread's libuv loop, and Node
 * aborts the process when a thread ends with an open handle. Takes about 5 ms.
 */
export function openSockets(): number {
  const { libuv } = process.report.getReport() as unknown as { libuv: readonly LibuvHandle[] };
  return libuv.filter(({ type, fd }) => type === 'poll' && fd !== undefined).length;
}

interface LibuvHandle {
  readonly type: string;
  /** The file descriptor; missing while libuv closes the handle. */
  readonly fd?: number;
}
