import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A WebSocket client that needs little CPU time, because load runs must measure the server. */
export interface FrameSocket {
  /**
   * Sends bytes from {@link clientFrame}.
   * @param onTaken called when the kernel has accepted the bytes
   */
  write(frames: Buffer, onTaken?: () => void): void;
  /** Stops reading from the socket. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** The address of a server. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

export interface FrameSocketOptions {
  readonly port: number;
  /** The host; default: 127.0.0.1. */
  readonly host?: string;
  /** True to connect with TLS. */
  readonly isTls?: boolean;
  /** The path and the query. */
  readonly path: string;
  readonly token: string;
  /** Called for each text or binary frame. The bytes are valid only during the call. */
  readonly onFrame: (payload: Buffer) => void;
  /** Called when the server ends the connection, with the code of the server's close frame if the server sent one. */
  readonly onClose?: (code: number | undefined) => void;
}

/**
 * Connects and upgrades.
 * @throws Error when the server's answer is not 101, or when the server ends the connection early
 */
export function openFrameSocket(options: FrameSocketOptions): Promise<FrameSocket> {
  const { port, host = '127.0.0.1', isTls = false, path, token, onFrame, onClose } = options;
  return new Promise((resolve, reject) => {
    let upgraded = false;
    let response = '';
    const parser = new FrameParser(onFrame);
    const read = (bytes: Buffer): boolean => {
      if (upgraded) {
        parser.push(bytes);
        return true;
      }
      response += bytes.toString('latin1');
      const end = response.indexOf('\r\n\r\n');
      if (end < 0) return true;
      if (!response.startsWith('HTTP/1.1 101')) {
        reject(new Error(`${path}: ${response.slice(0, response.indexOf('\r\n'))}`));
        socket.destroy();
        return false;
      }
      upgraded = true;
      resolve({
        write: (frames, onTaken) => socket.write(frames, (error) => error ?? onTaken?.()),
        pause: () => socket.pause(),
        resume: () => socket.resume(),
        close: () => socket.destroy(),
      });
      const rest = Buffer.from(response.slice(end + 4), 'latin1');
      if (rest.length > 0) parser.push(rest);
      return true;
    };
    const socket: Socket = isTls
      ? connectTls({ port, host, ...(isIP(host) === 0 && { servername: host }) }).on('data', read)
      : connect({
          port,
          host,
          noDelay: true,
          // All sockets share this buffer, because the parser handles the bytes before the call returns.
          onread: {
            buffer: READ_BUFFER,
            callback: (length, buffer) => read((buffer as Buffer).subarray(0, length)),
          },
        });
    socket.once('error', reject);
    socket.once('close', () => {
      reject(new Error(`${path}: the connection ended before it was a WebSocket`));
      if (upgraded) onClose?.(parser.closeCode);
    });
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
        `Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\nAuthorization: Basic ${token}\r\n\r\n`,
    );
  });
}

/** Returns a client's text frame (RFC 6455, section 5.2). The mask is zero, so masking changes nothing. */
export function clientFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10;
  const frame = Buffer.alloc(head + MASK_BYTES + payload.length);
  frame[0] = FINAL | OPCODE_TEXT;
  frame[1] = MASKED | (head === 2 ? payload.length : head === 4 ? 126 : 127);
  if (head === 4) frame.writeUInt16BE(payload.length, 2);
  if (head === 10) frame.writeBigUInt64BE(BigInt(payload.length), 2);
  payload.copy(frame, head + MASK_BYTES);
  return frame;
}

const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);
const MASK_BYTES = 4;
const FINAL = 0x80;
const MASKED = 0x80;
const OPCODE_BITS = 0x0f;
const OPCODE_TEXT = 1;
const OPCODE_BINARY = 2;
const OPCODE_CLOSE = 8;

/** Splits bytes from a server into frames, which have no mask. The parser ignores pings. */
class FrameParser {
  readonly #onFrame: (payload: Buffer) => void;
  /** The beginning of an incomplete frame. */
  #begun: Buffer = Buffer.alloc(0);
  /** The code of the close frame; `undefined` before the frame arrives. */
  closeCode: number | undefined;

  constructor(onFrame: (payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  push(chunk: Buffer): void {
    const bytes = this.#begun.length === 0 ? chunk : Buffer.concat([this.#begun, chunk]);
    let at = 0;
    while (at + 2 <= bytes.length) {
      const short = bytes[at + 1]! & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (at + head > bytes.length) break;
      const length =
        short < 126
          ? short
          : short === 126
            ? bytes.readUInt16BE(at + 2)
            : Number(bytes.readBigUInt64BE(at + 2));
      const end = at + head + length;
      if (end > bytes.length) break;
      const opcode = bytes[at]! & OPCODE_BITS;
      if (opcode === OPCODE_TEXT || opcode === OPCODE_BINARY) this.#onFrame(bytes.subarray(at + head, end));
      else if (opcode === OPCODE_CLOSE && length >= 2) this.closeCode = bytes.readUInt16BE(at + head);
      at = end;
    }
    this.#begun = at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(at));
  }
}

const EMPTY = Buffer.alloc(0);
