import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { HANG_MS } from '../../scripts/load/wait.js';

export interface RawResponse {
  readonly status: number;
  /** The headers. Names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** An HTTP/1.1 connection on which a test writes every byte. */
export class RawHttp {
  #received = '';
  /** False while the next response answers a HEAD request. */
  #hasBody = true;
  readonly closed: Promise<void>;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      this.#received += text;
    });
    // A reset counts as an end of the connection. Without this listener, `events.once` would reject on the error.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  static async open(port: number): Promise<RawHttp> {
    const socket = connect(port, '127.0.0.1');
    const raw = new RawHttp(socket);
    await once(socket, 'connect');
    return raw;
  }

  /** Writes bytes. @param bytes the bytes; text is sent as Latin-1 */
  write(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Writes a request line and headers. `Host` is the first header. */
  request(line: string, headers: readonly string[] = [], body = ''): void {
    this.write(`${[`${line} HTTP/1.1`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n${body}`);
  }

  /** Returns the next response. @throws Error when the connection ends first */
  async response(): Promise<RawResponse> {
    const response = await this.responseOrEnd();
    if (response === undefined) throw new Error('closed without a response');
    return response;
  }

  /** Returns the next response, which answers a HEAD request and so has no body. */
  async responseHead(): Promise<RawResponse> {
    this.#hasBody = false;
    const response = await this.response();
    this.#hasBody = true;
    return response;
  }

  /**
   * Returns the next response that is not interim (1xx other than 101); `undefined` when the connection ends before a
   * response.
   */
  async responseOrEnd(): Promise<RawResponse | undefined> {
    for (;;) {
      const response = this.#take();
      if (response === undefined) {
        if (this.socket.closed) return undefined;
        await Promise.race([this.#nextBytes(), this.closed]);
      } else if (response.status >= 200 || response.status === 101) return response;
    }
  }

  end(): void {
    this.socket.destroy();
  }

  /** Waits for the next bytes. Also returns at a socket error, which precedes `closed`. @throws Error after a timeout */
  async #nextBytes(): Promise<void> {
    try {
      await once(this.socket, 'data', { signal: AbortSignal.timeout(HANG_MS) });
    } catch (error) {
      if (!this.socket.errored) throw error;
    }
  }

  #take(): RawResponse | undefined {
    // The text before the version is the rest of a body without a `Content-Length`.
    this.#received = this.#received.slice(Math.max(0, this.#received.indexOf(VERSION)));
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const [statusLine = '', ...lines] = this.#received.slice(0, headEnd).split('\r\n');
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const status = Number(statusLine.split(' ')[1]);
    const bodyStart = headEnd + 4;
    const bodyEnd = this.#bodyEnd(bodyStart, status, headers.get('content-length'));
    if (this.#received.length < bodyEnd) return undefined;
    const body = this.#received.slice(bodyStart, bodyEnd);
    this.#received = this.#received.slice(bodyEnd);
    return { status, headers, body };
  }

  /**
   * Finds the end of a body. The parser's own answers have no length, because the end of the connection ends them. For such an
   * answer, returns the end of the received bytes.
   */
  #bodyEnd(bodyStart: number, status: number, contentLength: string | undefined): number {
    if (!this.#hasBody) return bodyStart;
    if (contentLength !== undefined) return bodyStart + Number(contentLength);
    if (status < 200) return bodyStart;
    const next = this.#received.indexOf(VERSION, bodyStart);
    return next < 0 ? this.#received.length : next;
  }
}

const VERSION = 'HTTP/1.1 ';
