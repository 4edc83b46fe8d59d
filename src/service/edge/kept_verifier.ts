import { encodedAssetId } from '../../crypto/evm.js';
import { merkleRoot } from '../../crypto/merkle.js';
import type { CryptoJobs, VerifyJob } from '../../crypto/pool/jobs.js';
import { SIGNATURE_RULES } from '../../crypto/signatures/signature_table.js';
import type { ReceivedLine } from '../../log/past/past_answer.js';
import type { ShownFacts } from '../../log/records/signed_line.js';
import type { SignatureType } from '../../model/asset.js';
import { parseHex } from '../../model/hex.js';
import { PRICE_MAX, PRICE_MIN, parsePrice } from '../../model/price.js';
import { type PublisherPrice, placeAmong, type SignedAggregate } from '../../model/signed_price.js';
import { readMetadataText } from '../../prices/message.js';
import { parseSignature } from '../../prices/signature_texts.js';
import { SERVICE_NAME_PATTERN } from '../../wire/service_name.js';
import { SIGNATURES, WORD_BYTES } from '../../wire/signatures.js';

/** The facts that decide which aggregates are the service's own. */
export interface KeptSigners {
  /** The oracle ID in the service's own Stark messages. */
  readonly oracleId: string;
  /** Returns whether the service signs or signed aggregates with a key. @param key the key in lower-case hex */
  readonly isSigner: (type: SignatureType, key: string) => boolean;
}

export interface KeptVerifierOptions extends KeptSigners {
  /** Verifies signatures on this thread. */
  readonly here: CryptoJobs;
  /** Does work in turn with other work of this thread. */
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly nowMs: () => number;
}

/** The time after which a turn ends. A turn verifies at most the signatures that take about this time. */
const TURN_MS = 2;

const SERVICE_NAME = new RegExp(`^${SERVICE_NAME_PATTERN}$`);
const CHECKSUM = /^[0-9a-f]{64}$/;
// The service shows the version unchanged, so the version must not contain a character that JSON escapes.
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters
const VERSION = /^[^"\\\x00-\x1f]{1,64}$/;

/** Thrown for an aggregate that this service did not sign, or that the service would show in another form. */
export class NotVerified extends Error {
  override readonly name = 'NotVerified';
}

/** A signature that must be verified. */
export interface KeptJob {
  readonly type: SignatureType;
  readonly job: VerifyJob;
}

/**
 * Verifies aggregates of another node's past: the service's hash and signature, the Merkle root, each publisher's hash and signature,
 * and the form of each text that REST shows.
 * @throws NotVerified when one of the entries is not authentic
 */
export async function verifyKept(
  entries: Iterable<ReceivedLine>,
  { here, turn, nowMs, ...signers }: KeptVerifierOptions,
): Promise<void> {
  const source: Iterator<ReceivedLine, undefined> = entries[Symbol.iterator]();
  const checks = new KeptChecks(signers);
  const waiting: KeptJob[] = [];

  /** Verifies a part of the entries. @returns false at the end, or before a signature that needs tables */
  async function part(): Promise<boolean> {
    const endMs = nowMs() + TURN_MS;
    for (let done = 0; ; ) {
      const next = waiting.shift();
      if (next === undefined) {
        const { value: entry } = source.next();
        if (entry === undefined) return false;
        waiting.push(...checks.jobsOf(entry));
        continue;
      }
      const { fillTables, verifyOne, jobsIn2Ms } = SIGNATURE_RULES[next.type];
      if (fillTables !== undefined && !withTables.has(next.type)) {
        waiting.unshift(next);
        return false;
      }
      if (verifyOne(here, next.job) !== 'valid') throw new NotVerified('a signature is invalid');
      done++;
      if (done >= jobsIn2Ms || nowMs() >= endMs) return true;
    }
  }

  const withTables = new Set<SignatureType>();
  for (;;) {
    while (await turn(part));
    const next = waiting[0];
    if (next === undefined) return;
    // Without this call, the first signature of the type would fill the tables in one turn.
    await SIGNATURE_RULES[next.type].fillTables?.(setImmediate);
    withTables.add(next.type);
  }
}

/**
 * Checks all of an entry except the arithmetic on curves. Remembers the facts that entries share, because successive entries share most
 * of them.
 */
class KeptChecks {
  readonly #signers: KeptSigners;
  readonly #inputs = new InputChecks();
  /** The checked facts, with their symbol and the bytes of their checksum. */
  readonly #shown = new WeakMap<ShownFacts, { readonly symbol: string; readonly checksum: Buffer }>();
  /** The last signer's key. */
  #last: { readonly type: SignatureType; readonly publicKey: string; readonly key: Buffer } | undefined;

  constructor(signers: KeptSigners) {
    this.#signers = signers;
  }

  /**
   * Checks the form and the hashes of an entry.
   * @returns the jobs of its signatures that no earlier call has returned
   * @throws NotVerified
   */
  jobsOf({ aggregate, shown, hasInputs, timeNs }: ReceivedLine): KeptJob[] {
    const { symbol, signatureType: type, publicKey, price } = aggregate;
    const key = this.#keyOf(type, publicKey);
    requireVerified(timeNs === aggregate.signedAtNs && aggregate.timestampNs >= 0n, 'a time is invalid');
    requireVerified(price >= PRICE_MIN && price <= PRICE_MAX, 'the price is invalid');
    let known = this.#shown.get(shown);
    if (known?.symbol !== symbol) {
      checkShown(symbol, shown);
      known = { symbol, checksum: Buffer.from(shown.checksum, 'hex') };
      this.#shown.set(shown, known);
    }
    const { aggregateJob } = SIGNATURE_RULES[type];
    const jobs = [keptJob(type, aggregateJob(aggregate, key, known.checksum, this.#signers.oracleId))];
    if (hasInputs) jobs.push(...this.#inputs.jobsOf(aggregate));
    return jobs;
  }

  #keyOf(type: SignatureType, publicKey: string): Buffer {
    if (this.#last?.publicKey === publicKey && this.#last.type === type) return this.#last.key;
    const key = parseHex(publicKey, SIGNATURES[type].keyBytes);
    const keyText = key && SIGNATURE_RULES[type].keyText(key);
    if (key === undefined || keyText !== publicKey || !this.#signers.isSigner(type, publicKey.toLowerCase()))
      throw new NotVerified(`${publicKey} is no known signer`);
    this.#last = { type, publicKey, key };
    return key;
  }
}

/** The checked inputs of an aggregate. */
interface CheckedInputs {
  readonly inputs: readonly PublisherPrice[];
  /** The hash of each input. */
  readonly hashes: readonly Uint8Array[];
  readonly newestNs: bigint;
  readonly root: Buffer;
}

const NO_INPUTS: CheckedInputs = { inputs: [], hashes: [], newestNs: 0n, root: Buffer.alloc(0) };

/** Checks the inputs of aggregates. Inputs that successive aggregates share are checked once. */
class InputChecks {
  #last = NO_INPUTS;

  /** @returns the jobs of the inputs that the last aggregate did not have */
  jobsOf({ symbol, signatureType: type, inputs, timestampNs, merkleRoot: root }: SignedAggregate): KeptJob[] {
    const jobs: KeptJob[] = [];
    let last = this.#last;
    if (last.inputs !== inputs) {
      const keys = new Set<string>();
      const hashes: Uint8Array[] = [];
      let newestNs = 0n;
      for (const [i, input] of inputs.entries()) {
        keys.add(input.wire.publisherKey);
        if (input.timestampNs > newestNs) newestNs = input.timestampNs;
        let hash = last.hashes[placeAmong(last.inputs, input, i)];
        if (hash === undefined) {
          const job = inputJob(input, symbol, type);
          jobs.push(job);
          hash = job.job.msgHash;
        }
        hashes.push(hash);
      }
      requireVerified(keys.size === inputs.length, 'a publisher is repeated');
      last = { inputs, hashes, newestNs, root: merkleRoot(hashes) };
      this.#last = last;
    }
    requireVerified(last.newestNs === timestampNs, 'timestamp is not the newest time of the inputs');
    requireVerified(last.root.equals(root), 'the Merkle root is of other inputs');
    return jobs;
  }
}

function checkShown(
  symbol: string,
  { serviceName, encodedAssetId: encoded, version, checksum }: ShownFacts,
): void {
  requireVerified(SERVICE_NAME.test(serviceName), 'the name of the service is invalid');
  const isEncoded = (['base64', 'keccak256'] as const).some(
    (form) => encodedAssetId(symbol, form) === encoded,
  );
  requireVerified(isEncoded, 'encoded_asset_id names another asset');
  requireVerified(VERSION.test(version) && CHECKSUM.test(checksum), 'the algorithm is invalid');
}

function inputJob(input: PublisherPrice, symbol: string, type: SignatureType): KeptJob {
  const { price, timestampNs, wire } = input;
  const { keyBytes, coversOracleId } = SIGNATURES[type];
  const key = parseHex(wire.publisherKey, keyBytes);
  const signature = parseSignature(wire, type);
  const msgHash = parseHex(wire.msgHash, WORD_BYTES);
  if (key === undefined || msgHash === undefined || typeof signature === 'string')
    throw new NotVerified('an input has an invalid key, hash or signature');
  requireVerified(parsePrice(wire.price) === price, 'an input has another price than its text');
  requireVerified(coversOracleId || wire.externalAssetId === symbol, 'an input is of another asset');
  const { metadata } = wire;
  requireVerified(
    metadata === undefined || readMetadataText(metadata) === metadata,
    'the metadata of an input is invalid',
  );
  const claim = {
    raw: wire,
    asset: { symbol },
    publisher: { key, oracleId: undefined },
    price,
    timestampNs,
    msgHash,
    signature: signature.rs,
    recovery: signature.recovery,
  };
  return keptJob(type, SIGNATURE_RULES[type].priceJob(claim));
}

/** @throws NotVerified with the reason for a refusal */
function keptJob(type: SignatureType, job: VerifyJob | string): KeptJob {
  if (typeof job === 'string') throw new NotVerified(job);
  return { type, job };
}

function requireVerified(isTrue: boolean, reason: string): void {
  if (!isTrue) throw new NotVerified(reason);
}
