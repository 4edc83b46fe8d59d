import { connect, type Socket } from 'node:net';
import { TOKEN } from '../service/harness.js';

export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface FrameOptions {
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  /** The three reserved bits. RSV1 is the highest. */
  readonly reserved?: number;
  /** The length in the header, if it differs from the real length. */
  readonly declaredBytes?: number;
}

/** Returns a client frame (RFC 6455, section 5.2), which may be invalid. The mask is zero. */
export function clientFrame(
  opcode: number,
  payload: string | Buffer = '',
  { isFinal = true, isMasked = true, reserved = 0, declaredBytes }: FrameOptions = {},
): Buffer {
  const body = Buffer.from(payload);
  const length = declaredBytes ?? body.length;
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  let head: Buffer;
  if (length < 126) {
    head = Buffer.from([first, mask | length]);
  } else if (length < 0x10000) {
    head = Buffer.from([first, mask | 126, length >> 8, length & 0xff]);
  } else {
    head = Buffer.alloc(10);
    head.set([first, mask | 127]);
    head.writeBigUInt64BE(BigInt(length), 2);
  }
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), body]);
}

export interface ServerFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** A WebSocket on which a test writes every byte. The socket does not answer pings and close frames. */
export class RawSocket {
  /** Frames that have arrived and that {@link next} has not returned yet. */
  readonly frames: ServerFrame[] = [];
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
  isEnded = false;
  #buffered = Buffer.alloc(0);
  #wake = (): void => {};

  private constructor(readonly socket: Socket) {
    this.ended = new Promise((resolve) => {
      socket.on('error', () => {});
      socket.once('close', () => {
        this.isEnded = true;
        resolve();
        this.#wake();
      });
    });
  }

  /** Connects and upgrades. @throws Error with the status line when the upgrade is refused */
  static open(port: number, path: string, token = TOKEN): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      const raw = new RawSocket(socket);
      let head = Buffer.alloc(0);
      const onHead = (chunk: Buffer) => {
        head = Buffer.concat([head, chunk]);
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        socket.off('data', onHead);
        const statusLine = head.subarray(0, head.indexOf('\r\n')).toString();
        if (!statusLine.includes(' 101 ')) {
          socket.destroy();
          reject(new Error(statusLine));
          return;
        }
        socket.on('data', (more: Buffer) => raw.#take(more));
        raw.#take(head.subarray(end + 4));
        resolve(raw);
      };
      socket.on('data', onHead);
      socket.once('error', reject);
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${token}\r\nConnection: Upgrade\r\n` +
          'Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
      );
    });
  }

  write(bytes: Buffer): void {
    this.socket.write(bytes);
  }

  /** Returns the next frame; `undefined` when the connection ended before a frame arrived. */
  async next(): Promise<ServerFrame | undefined> {
    while (this.frames.length === 0 && !this.isEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.frames.shift();
  }

  #take(chunk: Buffer): void {
    this.#buffered = Buffer.concat([this.#buffered, chunk]);
    for (;;) {
      const frame = readServerFrame(this.#buffered);
      if (frame === undefined) break;
      this.#buffered = this.#buffered.subarray(frame.bytes);
      this.frames.push(frame);
    }
    this.#wake();
  }
}

function readServerFrame(bytes: Buffer): (ServerFrame & { readonly bytes: number }) | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]! & 0x7f;
  const headBytes = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < headBytes) return undefined;
  const length =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < headBytes + length) return undefined;
  const payload = bytes.subarray(headBytes, headBytes + length);
  return { opcode: bytes[0]! & 0x0f, payload, bytes: headBytes + length };
}
