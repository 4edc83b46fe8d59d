import { SERVICE_KEY } from '../../scripts/load/keys.js';
import type { SentEntry } from '../../scripts/load/updates.js';
import { isEvmPriceHash, isHashSignedBy } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { PUBLISH_PATHS } from '../../src/wire/paths.js';
import { ALL, acceptSubscribers, SOCKET_OPTIONS, serve, webSockets } from './web_sockets.js';

/**
 * `uws_echo.js FRAME [signed]`: publishes a frame to all connections of `/ws` for every message on `/evm/publish`, after it has parsed the
 * message and checked the hash and the signature of its update. With `signed`, the server also makes a signature. `/sink` does nothing.
 */
const [frame = '', mode] = process.argv.slice(2);
const bytes = Buffer.from(frame);
const app = webSockets.App();
acceptSubscribers(app);
app.ws(PUBLISH_PATHS.evm, {
  ...SOCKET_OPTIONS,
  message(_, message) {
    if (!isVerified(Buffer.from(message).toString())) return;
    if (mode === 'signed') secp256k1.sign(SERVICE_KEY, SERVICE_KEY);
    app.publish(ALL, bytes, false);
  },
});
app.ws('/sink', { ...SOCKET_OPTIONS, message() {} });
await serve(app);

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
