import { aggregatePrice } from '../../client/verify/aggregate_price.js';
import { type CryptoJobs, createCryptoJobs } from '../../crypto/pool/jobs.js';
import { KeptChecks, type KeptJob, type KeptSigners, NotVerified } from '../../edge/kept_verifier.js';
import type { PricedEntry } from '../../past/kept_entry.js';
import { receivedBlock } from '../../past/sent_block.js';
import { notPast, type PackedBlock } from './packed_block.js';

type JobOf<Type> = Extract<KeptJob, { readonly type: Type }>['job'];

/** Verifies the blocks of an asset's packed range on the calling thread. */
export class BlockVerifier {
  readonly #symbol: string;
  readonly #checks: KeptChecks;
  readonly #crypto: Pick<CryptoJobs, 'verifyEvm' | 'verifyStark'> = createCryptoJobs(10);

  constructor(symbol: string, signers: KeptSigners) {
    this.#symbol = symbol;
    this.#checks = new KeptChecks(signers);
  }

  /**
   * Returns the aggregates of a block that lie in the range, each verified.
   * @throws NotVerified
   */
  entriesOf(block: PackedBlock): readonly PricedEntry[] {
    const entries = readEntries(block, this.#symbol);
    const evm: JobOf<'evm'>[] = [];
    const stark: JobOf<'stark'>[] = [];
    let last: PricedEntry | undefined;
    for (const entry of entries) {
      for (const { type, job } of this.#checks.jobsOf(entry))
        if (type === 'evm') evm.push(job);
        else stark.push(job);
      checkPrice(entry, last);
      last = entry;
    }
    const verdicts = [...this.#crypto.verifyEvm(evm), ...this.#crypto.verifyStark(stark)];
    if (!verdicts.every((verdict) => verdict === 'valid')) throw new NotVerified('a signature is invalid');
    return entries;
  }
}

/** Reads the aggregates of a block that lie in the range. Checks their order. */
function readEntries({ bytes, fromNs, toNs }: PackedBlock, symbol: string): PricedEntry[] {
  const entries: PricedEntry[] = [];
  try {
    const block = receivedBlock(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    if (block.name.symbol !== symbol) throw new NotVerified(`the block is of ${block.name.symbol}`);
    for (const { timeNs, isCarried, aggregate, shown, kind, isHashDerived } of block.entries()) {
      if (timeNs < fromNs || timeNs >= toNs) continue;
      if (timeNs <= (entries.at(-1)?.timeNs ?? -1n))
        throw new NotVerified('an aggregate is not in its place');
      const hasInputs = aggregate.inputs.length > 0;
      entries.push({ kind, timeNs, isCarried, aggregate, shown, hasInputs, isHashDerived });
    }
  } catch (error) {
    throw notPast(error);
  }
  return entries;
}

/**
 * Checks that the price is the price of the inputs. Only the service knows the weights of a weighted average.
 * @param last the entry before, which was checked. Successive aggregates may share their inputs, and so their price
 */
function checkPrice({ aggregate, hasInputs }: PricedEntry, last: PricedEntry | undefined): void {
  const { algorithm, inputs, price, signatureType } = aggregate;
  if (!hasInputs || algorithm === 'weighted average') return;
  const { aggregate: known } = last ?? {};
  if (known?.inputs === inputs && known.algorithm === algorithm && known.price === price) return;
  const priced = inputs.map((input) => ({ key: 0n, price: input.price, signatureType }));
  if (aggregatePrice(algorithm, priced, {}) !== price)
    throw new NotVerified('the price is not the price of its inputs');
}
