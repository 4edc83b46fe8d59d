import type { ListenOptions } from '../../../src/server/uws/app.js';
import { openListener } from '../../../src/server/uws/listener.js';
import { loadWebSockets } from '../../../src/server/uws/native.js';
import { FanOut } from '../../../src/stream/fan_out.js';

type Listened = Parameters<typeof openListener>[2];
const NOT_FOUND = { status: 404, headers: [], body: '' };

/** Listens on a free port with these answers of REST, and without any stream. */
export function listenWith(rest: Listened['rest'] = () => NOT_FOUND, at: Partial<ListenOptions> = {}) {
  return openListener(
    loadWebSockets(undefined),
    { host: '127.0.0.1', port: 0, ...at },
    {
      fanOut: new FanOut(),
      endpoints: [],
      pingIntervalSeconds: 20,
      decideEvents: () => ({ response: NOT_FOUND, open: undefined }),
      decideUpgrade: () => NOT_FOUND,
      rest,
      refused: { checked: (_request, response) => response },
      connections: { isShort: false, accept: () => true, ended: () => {} },
    },
  );
}
