import { TOKEN } from '../service/harness.js';
import { RawHttp, type RawResponse } from '../service/raw_http.js';

export interface Exchange {
  readonly responses: readonly RawResponse[];
  /**
   * The state after the answers. `closed`: the service closed the connection. `open`: the service still serves the
   * connection.
   */
  readonly end: 'closed' | 'open';
  readonly tookMs: number;
}

/** The request that marks the end. Its answer is unique: an error that names the repeated parameter. */
const SENTINEL =
  'GET /v1/prices/latest?sentinel&sentinel HTTP/1.1\r\nHost: test\r\n' +
  `Authorization: Basic ${TOKEN}\r\n\r\n`;
const SENTINEL_ANSWER = 'sentinel is given more than once';

/** An empty, masked close frame, which ends a connection that has become a WebSocket. */
const CLOSE_FRAME = Buffer.from('888000000000', 'hex');

/**
 * Sends bytes and collects the answers. Answers come in the order of the requests. The sentinel is a request after the bytes,
 * and its answer shows that all their answers have arrived.
 * @param answers the expected number of answers; if `isOpenAfter`, the sentinel is sent after the bytes
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
