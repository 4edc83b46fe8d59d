import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { SentEntry } from '../../scripts/load/updates.js';
import { isEvmPriceHash, isHashSignedBy } from '../../src/crypto/evm.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { PUBLISH_PATHS, STREAM_PATH } from '../../src/wire/paths.js';
import { serve, webSockets } from './web_sockets.js';

/**
 * `uws_echo.js FRAME [relayed | verified]`: publishes a frame to all connections of `/ws` for every message on `/evm/publish`. The server
 * uses only uWebSockets.js, and reads, verifies and encodes nothing. `/echo` sends the frame back to the sender, and
 * `/sink` does nothing. With `verified`, the server publishes the frame only after it has parsed the message and checked the hash and the
 * signature of its update. With `relayed`, two other threads serve, each with a port of its own, of which the first is printed: a thread sends
 * each message to the main thread, which sends it to both, and both publish the frame.
 */
const [frame = '', mode] = process.argv.slice(2);
if (mode === 'relayed' && isMainThread) relay();
else await run();

function relay(): void {
  const start = (stdout: boolean) => new Worker(new URL(import.meta.url), { argv: [frame, mode!], stdout });
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
      if (mode === 'verified' && !isVerified(Buffer.from(message).toString())) return;
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

/** Parses a message with one update, and returns whether the update's hash and signature are right. */
function isVerified(text: string): boolean {
  const { data } = JSON.parse(text) as { readonly data: Readonly<Record<string, SentEntry>> };
  const { publisher_key, external_asset_id, price, timestamped_signature } =
    Object.values(data)[0]!.signed_price;
  const { r, s, v } = timestamped_signature.signature;
  const address = bytesOf(publisher_key);
  const msgHash = bytesOf(timestamped_signature.msg_hash);
  // `JSON.parse` would lose the last digits of the time.
  const timestampNs = BigInt(/"timestamp":(\d+)/.exec(text)![1]!) as TimeNs;
  return (
    isEvmPriceHash(msgHash, address, external_asset_id, timestampNs, BigInt(price) as Price) &&
    isHashSignedBy(address, msgHash, bytesOf(r + s.slice(2)), v === '0x1b' ? 0 : 1)
  );
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), 'hex');
}
