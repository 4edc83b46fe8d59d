import type { WebSocket } from 'uWebSockets.js';
import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { KECCAK256_BYTES, keccak256Into } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { STREAM_PATH } from '../../src/wire/paths.js';
import { serve, webSockets } from './web_sockets.js';

/**
 * `uws_signed.js INTERVAL_MS BODY_BYTES FRAME_BYTES`: at an interval, hashes and signs a body for each connection of `/ws`, and sends the
 * connection a frame of this size, which is always the same. The server encodes nothing, and does all work on one thread. The server sends after the last
 * signature: a client that wakes for each frame between two signatures takes 20 µs a frame of the server's time.
 */
const [intervalMs = 0, bodyBytes = 0, frameBytes = 0] = process.argv.slice(2).map(Number);
const body = Buffer.alloc(bodyBytes, 1);
const frame = Buffer.alloc(frameBytes, '1');
const [digest, signature] = [Buffer.alloc(KECCAK256_BYTES), Buffer.alloc(64)];
const subscribed = new Set<WebSocket<unknown>>();
const app = webSockets.App();
app.ws(STREAM_PATH, {
  idleTimeout: 960,
  maxPayloadLength: 1024 * 1024,
  message(ws, message) {
    ws.send(message, false);
    subscribed.add(ws);
  },
  close(ws) {
    subscribed.delete(ws);
  },
});
await serve(app);
setInterval(() => {
  for (let left = subscribed.size; left > 0; left--) {
    keccak256Into(body, digest, 0);
    secp256k1.sign(digest, SERVICE_KEY, signature);
  }
  for (const ws of subscribed) ws.send(frame, false);
}, intervalMs);
