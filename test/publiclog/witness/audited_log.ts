import { signDigest } from '../../../src/client/sign/evm_sign.js';
import { prefixedHex } from '../../../src/client/verify/bytes.js';
import { type Evidence, formatEvidence, parseEvidence } from '../../../src/client/verify/evidence_file.js';
import { eip191Digest, evmAggregateHash } from '../../../src/client/verify/evm_messages.js';
import { checksumAddress, evmAddress } from '../../../src/client/verify/evm_signatures.js';
import { factsOfAggregate, verifyEvidence } from '../../../src/client/verify/log_evidence.js';
import type { ReadLogFile } from '../../../src/client/verify/served_log.js';
import { batchOf, formatBatchEntry } from '../../../src/tlog/batch_entry.js';
import { verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../../src/tlog/log_policy.js';
import { sortRecords } from '../../../src/tlog/price_record.js';
import { formatNote } from '../../../src/tlog/signed_note.js';
import { indexPath, parseTilePath, writeBundle } from '../../../src/tlog/tiles.js';
import { formatCheckpoint } from '../../../src/tlog/tree_checkpoint.js';
import { leafHash } from '../../../src/tlog/tree_hash.js';
import { treeRoot } from '../../../src/tlog/tree_nodes.js';
import { nodesOfEntries } from '../../tlog/small_log.js';
import { tileBytes } from '../../tlog/tile_bytes.js';
import { LOG, LOG_ORIGIN, policyText, recordAt, SECOND_NS, WITNESSES } from '../../tlog/witnessed_log.js';

const SERVICE_KEY = new Uint8Array(32).fill(3);
export const SERVICE_ADDRESS = checksumAddress(evmAddress(SERVICE_KEY));

/** Makes an aggregate that the service signs, as REST serves it, without its inputs. */
export function signedPrice(
  timeNs: bigint,
  price: bigint,
  symbol = 'BTCUSD',
  secretKey = SERVICE_KEY,
): string {
  const address = evmAddress(secretKey);
  const [merkleRoot, checksum] = [new Uint8Array(32), new Uint8Array(32)];
  const hash = evmAggregateHash({
    address,
    assetId: symbol,
    signedAtNs: timeNs,
    price,
    merkleRoot,
    checksum,
  });
  const { r, s, recovery } = signDigest(eip191Digest(hash), secretKey);
  const signature = {
    r: `0x${r.toString(16)}`,
    s: `0x${s.toString(16)}`,
    v: recovery === 0 ? '0x1b' : '0x1c',
  };
  return JSON.stringify({
    timestamp: String(timeNs),
    asset_id: symbol,
    signature_type: 'evm',
    trigger: 'clock',
    price: String(price),
    service_signed_price: {
      public_key: checksumAddress(address),
      encoded_asset_id: Buffer.from(symbol).toString('base64'),
      price: String(price),
      timestamped_signature: { signature, timestamp: String(timeNs), msg_hash: prefixedHex(hash) },
      publisher_merkle_root: prefixedHex(merkleRoot),
      calculation_alg: { type: 'median', version: 'v1', checksum: Buffer.from(checksum).toString('hex') },
    },
    signed_prices: [],
  });
}

/** The policy of the logs of these tests: two of three witnesses. */
export const POLICY = parsePolicy(policyText('group G 2 W1 W2 W3\nquorum G'));

/** Returns a third party's verdict on evidence, from its file alone. */
export function verdictOn(evidence: Evidence | undefined): ReturnType<typeof verifyEvidence> {
  const read = parseEvidence(formatEvidence(evidence!));
  return verifyEvidence(read, { policy: POLICY, signers: [SERVICE_ADDRESS], verifyEd25519: verifyByNode });
}

/** The delay of a log that is never late. */
export const NO_DELAY = { steadyMs: () => 0, promisedMs: 0, slackMs: 0 };

/** Returns the start of a batch. */
export const startOf = (batch: number) => BigInt(batch + 1_000) * SECOND_NS;

/** A log of signed prices in memory, whose parts a test can corrupt. */
export class AuditedLog {
  /** The records of each batch, in the order in which they are logged and served. */
  readonly records: Uint8Array[][] = [];
  readonly entries: Uint8Array[] = [];
  /** The prices that the service has signed. */
  readonly prices: string[] = [];
  /** The size of the served checkpoint, if it is not the newest. */
  shownSize: number | undefined;

  constructor(
    readonly origin = LOG_ORIGIN,
    readonly key = LOG,
  ) {}

  /** Appends batches, each with the service's price of BTCUSD and four other records. */
  grow(count: number): this {
    for (let i = 0; i < count; i += 1) {
      const fromNs = startOf(this.entries.length);
      const price = signedPrice(fromNs + 5n, 100n + BigInt(this.entries.length));
      this.prices.push(price);
      const others = [1, 2, 3, 4].map((asset) => recordAt(fromNs + 7n, asset));
      this.append(sortRecords([factsOfAggregate(price).record, ...others]));
    }
    return this;
  }

  /** Appends a batch with these records, in any order. */
  append(records: Uint8Array[], change: Partial<{ fromNs: bigint; batch: bigint }> = {}): void {
    const index = this.entries.length;
    const place = { epoch: 0n, batch: BigInt(index), fromNs: startOf(index), toNs: startOf(index + 1) };
    this.entries.push(formatBatchEntry(batchOf({ ...place, ...change }, records)));
    this.records.push(records);
  }

  /** Returns the checkpoint of the first `size` entries, signed by the log and two witnesses. */
  note(size = this.entries.length): string {
    const root = treeRoot(BigInt(size), nodesOfEntries(this.entries.slice(0, size)));
    const { origin } = this;
    const text = formatCheckpoint({ origin, size: BigInt(size), root });
    const cosignatures = WITNESSES.slice(0, 2).map(({ name, key }) => key.cosign(name, text, 100n));
    return formatNote({ text, signatures: [this.key.sign(origin, text), ...cosignatures] });
  }

  /** Serves the current files of the log. */
  readonly read: ReadLogFile = async (path) => {
    if (path === 'checkpoint') return Buffer.from(this.note(this.shownSize));
    const tile = parseTilePath(path);
    if (tile !== undefined) {
      const start = 256 * Number(tile.index);
      if (tile.level === 'entries') return writeBundle(this.entries.slice(start, start + tile.width));
      return tileBytes(this.entries.map((entry) => leafHash(entry)))(tile);
    }
    const batch = this.records.find((_, i) => path === `batch/${indexPath(BigInt(i))}`);
    return batch && Buffer.concat(batch);
  };
}
