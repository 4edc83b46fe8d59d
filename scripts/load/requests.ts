import { connect } from 'node:net';
import { TOKEN } from './config.js';
import type { ServerProcess } from './server_process.js';
import { measureUsage, type Usage } from './usage.js';

const CONNECTIONS = 32;
/** The number of steps of a warm-up on a machine that is not busy. After each step, the CPU time is read. */
const WARM_UP_STEPS = 5;

/** The answers of a period, and their cost. */
export interface AnswerUsage extends Usage {
  readonly answersPerCpuSecond: number;
}

export interface AnswerTimes {
  /**
   * The CPU time that the server uses before the measurement, in which V8 compiles the code of a request. On a busy machine, the same time
   * of a clock would end before V8 has compiled it.
   */
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** Requests a path of a server on {@link CONNECTIONS} connections, and measures the answers. */
export async function measureAnswers(
  server: ServerProcess,
  path: string,
  { warmUpMs, measureMs }: AnswerTimes,
): Promise<AnswerUsage> {
  const warmAtSeconds = server.cpuSeconds() + warmUpMs / 1000;
  do await requestFor(server.port, path, CONNECTIONS, warmUpMs / WARM_UP_STEPS);
  while (server.cpuSeconds() < warmAtSeconds);
  const end = measureUsage(server);
  const { requests } = await requestFor(server.port, path, CONNECTIONS, measureMs);
  const usage = end();
  return { ...usage, answersPerCpuSecond: requests / usage.serverCpuSeconds };
}

/** The requests that were made in a period. */
export interface RequestCount {
  readonly requests: number;
  /** The time, in ms, from the last sent byte of each request to the last received byte of its answer. */
  readonly delaysMs: readonly number[];
}

/** Requests one path for a period. Each connection sends its next request after an answer. */
export async function requestFor(
  port: number,
  path: string,
  connections: number,
  durationMs: number,
): Promise<RequestCount> {
  const endMs = performance.now() + durationMs;
  const delaysMs: number[] = [];
  await Promise.all(Array.from({ length: connections }, () => keepAsking(port, path, endMs, delaysMs)));
  return { requests: delaysMs.length, delaysMs };
}

const READ_BUFFER = Buffer.allocUnsafeSlow(512 * 1024);

function keepAsking(port: number, path: string, endMs: number, delaysMs: number[]): Promise<void> {
  const request = Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${TOKEN}\r\n\r\n`,
  );
  return new Promise((resolve, reject) => {
    let sentMs = 0;
    /** The number of bytes of the body that have not arrived yet; `undefined` before the end of the head. */
    let bytesLeft: number | undefined;
    let head = '';
    const ask = () => {
      bytesLeft = undefined;
      head = '';
      sentMs = performance.now();
      socket.write(request);
    };
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback(length, buffer) {
          if (bytesLeft === undefined) {
            head += (buffer as Buffer).toString('latin1', 0, length);
            const end = head.indexOf('\r\n\r\n');
            if (end < 0) return true;
            const body = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
            if (!head.startsWith('HTTP/1.1 200') || Number.isNaN(body)) {
              reject(new Error(`${path}: ${head.slice(0, end)}`));
              socket.destroy();
              return false;
            }
            bytesLeft = body - (head.length - end - 4);
          } else {
            bytesLeft -= length;
          }
          if (bytesLeft > 0) return true;
          const nowMs = performance.now();
          delaysMs.push(nowMs - sentMs);
          if (nowMs < endMs) ask();
          else socket.destroy();
          return true;
        },
      },
    });
    socket.once('connect', ask);
    socket.once('error', reject);
    socket.once('close', resolve);
  });
}
