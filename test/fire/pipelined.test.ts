import { connect } from 'node:net';
import { test } from 'tap';
import { REQUESTS_PER_TURN } from '../../src/server/uws/turn_budget.js';
import { startTestService, TOKEN } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';

/**
 * The number of pipelined requests. The number exceeds the budget of a turn, and all requests fit into a single read. Without the
 * budget, uWebSockets.js would answer all of them in the same turn.
 */
const PIPELINED = 2_000;
const REQUESTS: Readonly<Record<string, string>> = {
  'an unknown path': 'GET /x HTTP/1.1\r\nHost: test\r\n\r\n',
  'the documents': 'GET /llms.txt HTTP/1.1\r\nHost: test\r\n\r\n',
  'no token': 'GET /v1/taxonomy HTTP/1.1\r\nHost: test\r\n\r\n',
  'past the rate': `GET /v1/taxonomy HTTP/1.1\r\nHost: test\r\nAuthorization: Basic ${TOKEN}\r\n\r\n`,
  'refused upgrades': 'GET /ws HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
};

/** Sends all requests in a single write. Counts the answers until the connection ends or all answers have arrived. */
function answersTo(port: number, request: string, count: number): Promise<{ answers: number; end: string }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request.repeat(count)));
    let text = '';
    const finish = (end: string) => {
      socket.destroy();
      resolve({ answers: text.split('HTTP/1.1 ').length - 1, end });
    };
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
      if (text.split('HTTP/1.1 ').length - 1 === count && text.endsWith('}')) finish('open');
    });
    socket.on('error', () => {});
    socket.on('close', () => finish('closed'));
  });
}

for (const threads of THREAD_COUNTS) {
  test(`${threads} thread(s): a connection has only so many pipelined requests in one turn`, async (t) => {
    const service = await startTestService(t, { listen: { threads } });
    for (const [name, request] of Object.entries(REQUESTS)) {
      const { answers, end } = await answersTo(service.port, request, PIPELINED);
      t.equal(end, 'closed', `${name}: ${answers} answers`);
      t.ok(answers <= 4 * REQUESTS_PER_TURN, `${name}: ${answers} answers`);
    }
    const few = await answersTo(service.port, REQUESTS['an unknown path']!, REQUESTS_PER_TURN / 2);
    t.same(few, { answers: REQUESTS_PER_TURN / 2, end: 'open' }, 'a few are answered');
  });
}
