import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { PUBLISH_PATHS, STREAM_PATH } from '../../src/wire/paths.js';
import { serve, webSockets } from './web_sockets.js';

/**
 * `uws_echo.js FRAME [relayed]`: publishes a frame to all connections of `/ws` for every message on `/evm/publish`. The server
 * uses only uWebSockets.js, and reads, verifies and encodes nothing. `/echo` sends the frame back to the sender, and
 * `/sink` does nothing. With `relayed`, two other threads serve, each with a port of its own, of which the first is printed: a thread sends
 * each message to the main thread, which sends it to both, and both publish the frame.
 */
const [frame = '', relayed] = process.argv.slice(2);
if (relayed !== undefined && isMainThread) relay();
else await run();

function relay(): void {
  const start = (stdout: boolean) =>
    new Worker(new URL(import.meta.url), { argv: [frame, relayed!], stdout });
  const workers = [start(false), start(true)];
  for (const from of workers)
    from.on('message', (message) => {
      for (const worker of workers) worker.postMessage(message);
    });
}

async function run(): Promise<void> {
  const bytes = Buffer.from(frame);
  const app = webSockets.App();
  const options = { idleTimeout: 960, maxPayloadLength: 1024 * 1024 };
  const publish = () => app.publish('all', bytes, false);
  parentPort?.on('message', publish);
  app.ws(STREAM_PATH, {
    ...options,
    message(ws, message) {
      ws.send(message, false);
      ws.subscribe('all');
    },
  });
  app.ws(PUBLISH_PATHS.evm, {
    ...options,
    message(_, message) {
      if (parentPort === null) publish();
      else parentPort.postMessage(message.slice(0));
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
}
