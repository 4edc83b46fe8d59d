import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'tap';
import { checksumAddress } from '../../src/crypto/checksum_address.js';
import { encodedAssetId, evmAggregateHash, evmPriceHash } from '../../src/crypto/evm.js';
import { merkleRoot } from '../../src/crypto/merkle.js';
import { createCryptoJobs } from '../../src/crypto/pool/jobs.js';
import { starkExternalAssetId, starkPriceMessage } from '../../src/crypto/stark/stark.js';
import { parseHex } from '../../src/model/hex.js';
import { parsePrice } from '../../src/model/price.js';
import { parseTimeNs } from '../../src/model/time.js';

// Tests with real updates and aggregates. The recordings are not part of the repository.
const FOLDER = new URL('../../../../shared/vectors/', import.meta.url);
const skip = existsSync(FOLDER) ? false : 'the recorded data is not on this machine';

interface Update {
  publisher_key: string;
  external_asset_id: string;
  signature_type: 'evm' | 'stark';
  price: string;
  timestamped_signature: {
    signature: { r: string; s: string; v: string };
    timestamp: string;
    msg_hash: string;
  };
}

interface Aggregate {
  asset_id: string;
  price: string;
  service_signed_price?: {
    public_key: string;
    encoded_asset_id: string;
    price: string;
    timestamped_signature: Update['timestamped_signature'];
    publisher_merkle_root: string;
    calculation_alg: { checksum: string };
  };
  publisher_merkle_root?: string;
  signed_prices: Update[];
}

const jobs = createCryptoJobs();

test('every recorded update and aggregate verifies', { skip }, async (t) => {
  let updates = 0;
  let aggregates = 0;
  let roots = 0;
  for (const name of readdirSync(FOLDER).filter((file) => /^recorded-.*\.json$/.test(file))) {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    const content = JSON.parse(text.replace(/("timestamp": )(\d+)/g, '$1"$2"')) as Aggregate | Aggregate[];
    for (const aggregate of [content].flat()) {
      for (const update of aggregate.signed_prices) {
        t.equal(
          verdictOf(update, aggregate.asset_id),
          'valid',
          `${name} ${update.timestamped_signature.msg_hash}`,
        );
        updates += 1;
      }
      const root = aggregate.publisher_merkle_root ?? aggregate.service_signed_price?.publisher_merkle_root;
      if (root !== undefined) {
        const leaves = aggregate.signed_prices.map((update) => bytes(update.timestamped_signature.msg_hash));
        t.same(merkleRoot(leaves), bytes(root));
        roots += 1;
      }
      if (aggregate.service_signed_price !== undefined) {
        t.equal(verdictOfAggregate(aggregate.asset_id, aggregate.service_signed_price), 'valid');
        t.equal(
          encodedAssetId(aggregate.asset_id, 'keccak256'),
          aggregate.service_signed_price.encoded_asset_id,
        );
        aggregates += 1;
      }
    }
  }
  t.comment(`${updates} updates, ${aggregates} aggregates, ${roots} Merkle roots`);
  t.ok(updates > 0 && aggregates > 0);
});

function verdictOf(update: Update, symbol: string): string {
  const signed = update.timestamped_signature;
  const time = parseTimeNs(signed.timestamp)!;
  const price = parsePrice(update.price)!;
  if (update.signature_type === 'evm') {
    const address = bytes(update.publisher_key, 20);
    const msgHash = evmPriceHash(address, update.external_asset_id, time, price);
    if (!msgHash.equals(bytes(signed.msg_hash))) return 'hash mismatch';
    return jobs.verifyEvm([{ msgHash, address, ...evmSignature(signed) }])[0]!;
  }
  const oracleId = Buffer.from(update.external_asset_id.slice(-10), 'hex').toString('ascii');
  if (starkExternalAssetId(symbol, oracleId) !== update.external_asset_id) return 'asset mismatch';
  const claim = {
    ...starkPriceMessage(symbol, oracleId, time, price)!,
    msgHash: bytes(signed.msg_hash),
    r: bytes(signed.signature.r),
    s: bytes(signed.signature.s),
    publicKey: bytes(update.publisher_key),
  };
  return jobs.verifyStark([claim])[0]!;
}

function verdictOfAggregate(symbol: string, signed: NonNullable<Aggregate['service_signed_price']>): string {
  const address = bytes(signed.public_key, 20);
  if (checksumAddress(address) !== signed.public_key) return 'address in another case';
  const msgHash = evmAggregateHash({
    address,
    symbol,
    signedAtNs: parseTimeNs(signed.timestamped_signature.timestamp)!,
    price: parsePrice(signed.price)!,
    merkleRoot: bytes(signed.publisher_merkle_root),
    checksum: Buffer.from(signed.calculation_alg.checksum, 'hex'),
  });
  if (!msgHash.equals(bytes(signed.timestamped_signature.msg_hash))) return 'hash mismatch';
  return jobs.verifyEvm([{ msgHash, address, ...evmSignature(signed.timestamped_signature) }])[0]!;
}

function evmSignature({ signature: { r, s, v } }: Update['timestamped_signature']): {
  signature: Buffer;
  recovery: 0 | 1;
} {
  return { signature: Buffer.concat([bytes(r), bytes(s)]), recovery: v === '0x1b' ? 0 : 1 };
}

function bytes(hex: string, size = 32): Buffer {
  return parseHex(hex, size)!;
}
