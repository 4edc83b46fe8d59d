import { createRequire } from 'node:module';

/** The bytes of a TCP connection, as the system counts them. */
export interface TcpCounts {
  /** The number of bytes that arrived, including bytes that the process has not read yet. */
  readonly received: number;
  /** The number of bytes that the process has written, including bytes that are not sent yet. */
  readonly written: number;
}

/** Reads the system's counts of the TCP connections of this process, by their file handles. */
export interface TcpCounters {
  /** @returns `undefined` when the handle is not a TCP connection */
  of(handle: number): TcpCounts | undefined;
  /** Returns the number of bytes that arrived on a TCP connection and that the process has not read yet. */
  unread(handle: number): number;
}

const IPPROTO_TCP = 6;
const TCP_INFO = 11;
const FIONREAD = 0x541b;
/**
 * The size and some offsets of `struct tcp_info` of Linux. New fields come only at the end of this struct. Linux 4.19 and later
 * fill these fields.
 */
const INFO_BYTES = 216;
const BYTES_RECEIVED_AT = 128;
const NOT_SENT_BYTES_AT = 144;
const BYTES_SENT_AT = 200;
const BYTES_SENT_AGAIN_AT = 208;

/**
 * Opens the counts. uWebSockets.js does not count the bytes that it reads, and Node has no call for the counts of the system.
 * @returns `undefined` where the counts cannot be read: on systems other than Linux, with a C library other than glibc, and
 * without the optional package koffi
 */
export function openTcpCounters(): TcpCounters | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as {
      load(library: string): { func(declaration: string): unknown };
    };
    const libc = koffi.load('libc.so.6');
    return countersOf(
      libc.func('int getsockopt(int, int, int, void *, void *)') as GetSocketOption,
      libc.func('int ioctl(int, unsigned long, void *)') as Ioctl,
    );
  } catch {
    return undefined;
  }
}

type GetSocketOption = (
  handle: number,
  level: number,
  name: number,
  value: Uint8Array,
  length: Uint32Array,
) => number;
type Ioctl = (handle: number, request: number, count: Int32Array) => number;

function countersOf(getSocketOption: GetSocketOption, ioctl: Ioctl): TcpCounters {
  const info = Buffer.alloc(INFO_BYTES);
  const length = new Uint32Array(1);
  const count = new Int32Array(1);
  const u64 = (at: number) => info.readUInt32LE(at) + info.readUInt32LE(at + 4) * 2 ** 32;
  return {
    of(handle) {
      length[0] = INFO_BYTES;
      if (getSocketOption(handle, IPPROTO_TCP, TCP_INFO, info, length) !== 0) return undefined;
      if (length[0] < INFO_BYTES) return undefined;
      return {
        received: u64(BYTES_RECEIVED_AT),
        written: u64(BYTES_SENT_AT) - u64(BYTES_SENT_AGAIN_AT) + info.readUInt32LE(NOT_SENT_BYTES_AT),
      };
    },
    unread: (handle) => (ioctl(handle, FIONREAD, count) === 0 ? count[0]! : 0),
  };
}
