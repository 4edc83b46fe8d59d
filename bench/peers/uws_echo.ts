import { PUBLISH_PATHS, STREAM_PATH } from '../../src/wire/paths.js';
import { serve, webSockets } from './web_sockets.js';

/**
 * `uws_echo.js FRAME`: publishes a frame to all connections of `/ws` for every message on `/evm/publish`. The server
 * uses only uWebSockets.js, and reads, verifies and encodes nothing. `/echo` sends the frame back to the sender, and
 * `/sink` does nothing.
 */
const [frame = ''] = process.argv.slice(2);
const bytes = Buffer.from(frame);
const app = webSockets.App();
const options = { idleTimeout: 960, maxPayloadLength: 1024 * 1024 };
app.ws(STREAM_PATH, {
  ...options,
  message(ws, message) {
    ws.send(message, false);
    ws.subscribe('all');
  },
});
app.ws(PUBLISH_PATHS.evm, {
  ...options,
  message() {
    app.publish('all', bytes, false);
  },
});
app.ws('/echo', {
  ...options,
  message(ws) {
    ws.send(bytes, false);
  },
});
app.ws('/sink', { ...options, message() {} });
await serve(app);
