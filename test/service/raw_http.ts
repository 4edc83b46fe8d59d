import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** An HTTP/1.1 connection on which a test writes every byte itself. */
export class RawHttp {
  #received = '';
  readonly closed: Promise<unknown>;

  private constructor(readonly socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      this.#received += text;
    });
    socket.on('error', () => undefined);
    this.closed = once(socket, 'close');
  }

  static async open(port: number): Promise<RawHttp> {
    const socket = connect(port, '127.0.0.1');
    const raw = new RawHttp(socket);
    await once(socket, 'connect');
    return raw;
  }

  /** Writes a request line and headers; `Host` stands there already. */
  request(line: string, headers: readonly string[] = [], body = ''): void {
    this.socket.write(`${[`${line} HTTP/1.1`, 'Host: test', ...headers].join('\r\n')}\r\n\r\n${body}`);
  }

  /** The next response; its body is as long as its `Content-Length` says. */
  async response(): Promise<RawResponse> {
    for (;;) {
      const found = this.#take();
      if (found) return found;
      await Promise.race([once(this.socket, 'data', { signal: AbortSignal.timeout(5_000) }), this.closed]);
      if (this.socket.closed && !this.#received.includes('\r\n\r\n'))
        throw new Error('closed without a response');
    }
  }

  end(): void {
    this.socket.destroy();
  }

  #take(): RawResponse | undefined {
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const [statusLine = '', ...lines] = this.#received.slice(0, headEnd).split('\r\n');
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
      }),
    );
    const bodyEnd = headEnd + 4 + Number(headers.get('content-length') ?? 0);
    if (this.#received.length < bodyEnd) return undefined;
    const body = this.#received.slice(headEnd + 4, bodyEnd);
    this.#received = this.#received.slice(bodyEnd);
    return { status: Number(statusLine.split(' ')[1]), headers, body };
  }
}
