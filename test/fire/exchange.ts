import { TOKEN } from '../service/harness.js';
import { RawHttp, type RawResponse } from '../service/raw_http.js';

export interface Exchange {
  readonly responses: readonly RawResponse[];
  /** The state after the answers: the service closed the connection, or still served it. */
  readonly end: 'closed' | 'open';
  readonly tookMs: number;
}

/** The request whose answer, an error that names the repeated parameter, is unique. */
const SENTINEL =
  'GET /v1/prices/latest?sentinel&sentinel HTTP/1.1\r\nHost: test\r\n' +
  `Authorization: Basic ${TOKEN}\r\n\r\n`;
const SENTINEL_ANSWER = 'sentinel is given more than once';

/** A masked, empty close frame: it ends a connection that has become a WebSocket. */
const CLOSE_FRAME = Buffer.from('888000000000', 'hex');

/**
 * Sends bytes and collects the answers. Answers come in the order of the requests, so a request behind the bytes, the sentinel,
 * shows that all their answers have come.
 * @param answers the expected number; the sentinel is sent behind them if `isOpenAfter`
 */
export async function exchange(
  port: number,
  bytes: string | Buffer,
  answers: number,
  isOpenAfter: boolean,
): Promise<Exchange> {
  const startMs = performance.now();
  const http = await RawHttp.open(port);
  http.write(bytes);
  const responses: RawResponse[] = [];
  let end: Exchange['end'] = 'closed';
  for (let response = await http.responseOrEnd(); response; response = await http.responseOrEnd()) {
    if (response.body.includes(SENTINEL_ANSWER)) {
      end = 'open';
      break;
    }
    responses.push(response);
    if (response.status === 101) http.write(CLOSE_FRAME);
    if (isOpenAfter && responses.length === answers) http.write(SENTINEL);
  }
  http.end();
  return { responses, end, tookMs: performance.now() - startMs };
}
