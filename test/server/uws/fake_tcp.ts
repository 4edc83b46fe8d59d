import type { TcpCounters } from '../../../src/server/uws/tcp_counters.js';

/** A fake socket with the kernel's byte counts. */
export class FakeSocket {
  received = 500;
  written = 200;
  unread = 0;
  /** True when a ping would wait for other bytes. */
  isBlocked = false;
  pings = 0;
  /** The bytes that are written in addition to a ping's payload. */
  overhead = 2;

  ping(bytes = 0): void {
    if (this.isBlocked) return;
    this.pings += 1;
    this.written += bytes + this.overhead;
  }
}

/** Returns the counts of sockets. A third of the handles belong to files. */
export function fakeCounters(sockets: readonly FakeSocket[]): () => TcpCounters {
  const at = (handle: number) =>
    handle % 3 === 0 ? undefined : sockets[handle - 30 - Math.floor((handle - 30) / 3) - 1];
  return () => ({ of: at, unread: (handle) => at(handle)!.unread });
}
