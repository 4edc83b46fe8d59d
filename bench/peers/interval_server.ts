import { createRequire } from 'node:module';
import { publisherKeys } from '../../scripts/load/keys.js';
import { eip191 } from '../../src/crypto/evm.js';
import { PUBLISH_PATHS, STREAM_PATH } from '../../src/wire/paths.js';
import { CHANNEL_INTERVALS_MS } from '../../src/wire/stream.js';
import { SOCKET_OPTIONS, serve, webSockets } from './web_sockets.js';

/**
 * `interval_server.js`: implements the fixed channels in the simplest way. Each channel has a `setInterval`, which publishes a
 * frame with the current time. For each received message, the server recovers one signature, because the service must do so too.
 */
const native = createRequire(import.meta.url)('secp256k1/bindings') as typeof import('secp256k1');
const digest = eip191(Buffer.alloc(32, 1));
const { signature, recid } = native.ecdsaSign(digest, publisherKeys('evm', 0).secretKey);

const app = webSockets.App();
app.ws<{ topic: string }>(STREAM_PATH, {
  ...SOCKET_OPTIONS,
  upgrade(res, req, context) {
    res.upgrade({ topic: req.getQuery('channel')! }, req.getHeader('sec-websocket-key'), '', '', context);
  },
  message(ws, message) {
    ws.send(message, false);
    ws.subscribe(ws.getUserData().topic);
  },
});
app.ws(PUBLISH_PATHS.evm, {
  ...SOCKET_OPTIONS,
  message: () => void native.ecdsaRecover(signature, recid, digest, false),
});
await serve(app);
for (const [channel, intervalMs] of Object.entries(CHANNEL_INTERVALS_MS)) {
  if (intervalMs === undefined) continue;
  setInterval(() => {
    const ts = Math.round((performance.timeOrigin + performance.now()) * 1e6);
    app.publish(channel, `{"type":"unsigned","tax":1,"ts":${ts},"a":[{"id":0,"v":"100"}]}`, false);
  }, intervalMs);
}
