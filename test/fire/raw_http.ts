import { connect } from 'node:net';

/** One answer as it came over the wire. */
export interface RawResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly body: string;
}

export interface Exchange {
  readonly responses: readonly RawResponse[];
  /** What came behind the last whole answer. */
  readonly rest: string;
  /** Who ended it: the service closed the connection, or it answered the canary. */
  readonly end: 'closed' | 'canary answered' | 'nothing';
  readonly tookMs: number;
}

/**
 * Nothing may take longer than 15 s (uWebSockets.js ends what is idle for 10 s, on ticks of 4 s). They are counted in
 * ticks, so that time in which a busy machine lets nobody run does not count.
 */
const DEADLINE_TICKS = 150;
const TICK_MS = 100;

/** A request that no hostile one can be mistaken for: its answer is the only 404 that names nothing else. */
const CANARY = 'GET /canary HTTP/1.1\r\nHost: canary\r\n\r\n';

/** Behind a switch of protocols there is nothing to ask: a masked, empty close frame ends it. */
const CLOSE_FRAME = Buffer.from('888000000000', 'hex');

/**
 * Sends bytes and, once `answers` answers are there, a canary behind them. Answers come in the order of the requests, so
 * what stands before the canary's answer is all that the bytes were answered, and no waiting has to show that.
 * @param answers how many are expected; the canary is only sent where `isOpenAfter`
 */
export function exchange(
  port: number,
  bytes: string | Buffer,
  answers: number,
  isOpenAfter: boolean,
): Promise<Exchange> {
  return new Promise((resolve) => {
    const startMs = performance.now();
    const socket = connect(port, '127.0.0.1');
    let received = '';
    let isCanarySent = false;
    const finish = (end: Exchange['end']) => {
      clearInterval(timer);
      socket.destroy();
      const { responses, rest } = parseResponses(received);
      const own = end === 'canary answered' ? responses.slice(0, -1) : responses;
      resolve({ responses: own, rest, end, tookMs: performance.now() - startMs });
    };
    let ticks = 0;
    const timer = setInterval(() => {
      if (++ticks === DEADLINE_TICKS) finish('nothing');
    }, TICK_MS);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const { length, [0]: first } = parseResponses(received).responses;
      if (first?.status === 101) socket.write(CLOSE_FRAME);
      if (!isOpenAfter || length < answers) return;
      if (isCanarySent && length > answers) finish('canary answered');
      else if (!isCanarySent) socket.write(CANARY);
      isCanarySent = true;
    });
    // A reset is an end like another: what matters is what was answered before it.
    socket.on('error', () => {});
    socket.on('close', () => finish('closed'));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  });
}

/** Splits a byte stream into final answers; interim ones (1xx other than 101) are no answers. */
function parseResponses(text: string): { responses: RawResponse[]; rest: string } {
  const responses: RawResponse[] = [];
  let rest = text;
  for (;;) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return { responses, rest };
    const head = rest.slice(0, headEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
    const bodyBytes = /^content-length: *(\d+)/im.exec(head)?.[1];
    // An answer of the parser has no length: it ends with the connection.
    const bodyEnd = bodyBytes ? headEnd + 4 + Number(bodyBytes) : endWithoutLength(rest, headEnd + 4, status);
    if (rest.length < bodyEnd) return { responses, rest };
    if (status >= 200 || status === 101)
      responses.push({
        status,
        contentType: /^content-type: *([^;\r]*)/im.exec(head)?.[1],
        body: rest.slice(headEnd + 4, bodyEnd),
      });
    rest = rest.slice(bodyEnd);
  }
}

function endWithoutLength(text: string, bodyStart: number, status: number): number {
  if (status < 200) return bodyStart;
  const next = text.indexOf('HTTP/1.1 ', bodyStart);
  return next < 0 ? text.length : next;
}
