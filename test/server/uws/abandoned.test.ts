import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { test } from 'tap';
import type { ConnectionEvents } from '../../../src/server/connections/connection.js';
import type { LateAnswer } from '../../../src/server/http/rest_exchange.js';
import { EventStreams } from '../../../src/server/uws/event_streams.js';
import { writeResponse } from '../../../src/server/uws/http.js';
import type { TurnBudget } from '../../../src/server/uws/turn_budget.js';

test('a route hears that nobody waits for its late answer', async (t) => {
  let abort = () => {};
  let corked = 0;
  const res = {
    onAborted(callback: () => void) {
      abort = callback;
      return res;
    },
    cork() {
      corked++;
      return res;
    },
  } as unknown as HttpResponse;
  let abandoned = 0;
  let answer = (_: LateAnswer) => {};
  const later = new Promise<LateAnswer>((resolve) => {
    answer = resolve;
  });
  writeResponse(res, 'GET', {
    status: 200,
    headers: [],
    body: '',
    later,
    abandon: () => {
      abandoned++;
    },
  });
  t.equal(abandoned, 0);
  abort();
  t.equal(abandoned, 1);
  answer({ status: 499, headers: [], body: '' });
  await later;
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(corked, 0, 'nothing is written');
});

test('what a client of events has missed is not read for a refused client, or for one that has left', (t) => {
  let handle = (_res: HttpResponse, _req: HttpRequest) => {};
  const app = {
    any(_path: string, handler: typeof handle) {
      handle = handler;
    },
  };
  let abandoned = 0;
  const known = { status: 200, headers: [], body: '' };
  const missed = {
    ...known,
    later: new Promise<LateAnswer>(() => {}),
    abandon: () => {
      abandoned++;
    },
  };
  const turns = { take: () => true } as unknown as TurnBudget;
  const asked: (string | undefined)[] = [];
  const events = { set: { assets: [3, 7] }, closed() {} } as unknown as ConnectionEvents;
  let open: (() => ConnectionEvents) | undefined;
  const streams = new EventStreams(app as unknown as TemplatedApp, turns, {
    rest({ body }) {
      asked.push(body);
      return missed;
    },
    decideEvents: () => ({ response: { ...known, closeConnection: true }, open }),
  });
  t.teardown(() => streams.stop());
  let abort = () => {};
  const res = {
    onAborted(callback: () => void) {
      abort = callback;
    },
    onWritable() {},
    cork() {},
    getRemoteAddressAsText: () => new ArrayBuffer(0),
  };
  const req = {
    getCaseSensitiveMethod: () => 'GET',
    getUrl: () => '/v1/stream',
    getQuery: () => 'assets=BTCUSD',
    getHeader: () => '',
    forEach: (take: (name: string, value: string) => void) => take('last-event-id', '1'),
  };
  const receive = () => handle(res as unknown as HttpResponse, req as unknown as HttpRequest);
  receive();
  t.same([streams.size, asked], [0, []]);
  open = () => events;
  receive();
  t.same([streams.size, asked], [1, ['3,7\n1']]);
  abort();
  t.same([streams.size, abandoned], [0, 1]);
  t.end();
});
