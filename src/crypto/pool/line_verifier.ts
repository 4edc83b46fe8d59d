import { parseHex, parseHexInto } from '../../model/hex.js';
import { type Price, parsePrice } from '../../model/price.js';
import { parseTimeNs, type TimeNs } from '../../model/time.js';
import {
  type AggregateLine,
  inputTexts,
  readAggregateLine,
  readInputLine,
  type SignatureTexts,
} from '../../wire/aggregate_line.js';
import { EVM_ADDRESS_BYTES, evmAggregateHash, evmPriceHash } from '../evm.js';
import { EvmVerifier, type EvmVerifyJob } from '../evm_verifier.js';
import { merkleRoot } from '../merkle.js';

/** An aggregate with correct hashes, Merkle root and signatures. The inputs of the aggregate are correct too. */
export interface VerifiedLine {
  readonly texts: AggregateLine;
  readonly price: Price;
  readonly timestampNs: TimeNs;
  readonly signedAtNs: TimeNs;
  /** The inputs; `undefined` after the verifier has dropped the inputs. */
  readonly inputs: readonly VerifiedInput[] | undefined;
}

export interface VerifiedInput {
  readonly signatureType: 'evm';
  /** The address as a number. */
  readonly key: bigint;
  readonly externalAssetId: string;
  readonly price: Price;
  readonly timestampNs: TimeNs;
}

interface KnownInput extends VerifiedInput {
  readonly msgHash: Buffer;
  readonly job: EvmVerifyJob;
  isValid: boolean;
}

interface ReadLine extends Omit<VerifiedLine, 'inputs'> {
  readonly inputs: readonly KnownInput[] | undefined;
  readonly job: EvmVerifyJob;
}

/** The largest number of remembered inputs. Each input takes about a kilobyte. */
const INPUTS_MAX = 4_096;
const WORD_BYTES = 32;
/** The values 27 and 0 mean an even y, and 28 and 1 an odd y. */
const RECOVERY_OF_V: ReadonlyMap<string, 0 | 1> = new Map([
  ['0x1b', 0],
  ['0x1c', 1],
  ['0x0', 0],
  ['0x1', 1],
]);

/**
 * Verifies EVM aggregates of the past, many at a time. Many aggregates may share an input, but the verifier checks each input once.
 * A line that this verifier rejects may still be valid. The caller must then run each check of that line separately.
 */
export class LineVerifier {
  readonly #signatures = new EvmVerifier();
  /** Inputs by their text. */
  #inputs = new Map<string, KnownInput>();

  /** Returns the aggregates of lines; `undefined` for each line that could not be verified. */
  verify(lines: readonly string[]): (VerifiedLine | undefined)[] {
    if (this.#inputs.size > INPUTS_MAX) this.#inputs = new Map();
    const unknown: KnownInput[] = [];
    const read = lines.map((line) => this.#read(line, unknown));
    const known = read.filter((one) => one !== undefined);
    const verdicts = this.#signatures.verify([...known, ...unknown].map(({ job }) => job));
    unknown.forEach((input, i) => {
      input.isValid = verdicts[known.length + i] === 'valid';
    });
    let at = 0;
    return read.map((one) => {
      if (one === undefined || verdicts[at++] !== 'valid') return undefined;
      return one.inputs?.every(({ isValid }) => isValid) === false ? undefined : one;
    });
  }

  /** Reads a line and checks the line's hashes. Adds the inputs whose signatures are not known to `unknown`. */
  #read(line: string, unknown: KnownInput[]): ReadLine | undefined {
    const texts = readAggregateLine(line);
    if (texts?.signatureType !== 'evm') return undefined;
    const price = parsePrice(texts.price);
    const timestampNs = parseTimeNs(texts.timestamp);
    const signedAtNs = parseTimeNs(texts.signedAt);
    if (price === undefined || timestampNs === undefined || signedAtNs === undefined) return undefined;
    const root = parseHex(texts.merkleRoot, WORD_BYTES)!;
    let inputs: KnownInput[] | undefined;
    if (texts.inputs !== undefined) {
      const all = inputTexts(texts.inputs);
      if (all === undefined || all.length === 0) return undefined;
      inputs = [];
      for (const text of all) {
        const input = this.#inputOf(text, unknown);
        if (input === undefined) return undefined;
        inputs.push(input);
      }
      if (!merkleRoot(inputs.map(({ msgHash }) => msgHash)).equals(root)) return undefined;
    }
    const address = parseHex(texts.publicKey, EVM_ADDRESS_BYTES);
    if (address === undefined) return undefined;
    const checksum = Buffer.from(texts.checksum, 'hex');
    const { symbol } = texts;
    const msgHash = evmAggregateHash({ address, symbol, signedAtNs, price, merkleRoot: root, checksum });
    const job = jobOf(msgHash, address, texts);
    return job && { texts, price, timestampNs, signedAtNs, inputs, job };
  }

  #inputOf(text: string, unknown: KnownInput[]): KnownInput | undefined {
    const known = this.#inputs.get(text);
    if (known !== undefined) return known;
    const line = readInputLine(text);
    if (line?.signatureType !== 'evm') return undefined;
    const { texts } = line;
    const price = parsePrice(texts.price);
    const timestampNs = parseTimeNs(line.timestamp);
    if (price === undefined || timestampNs === undefined) return undefined;
    const address = parseHex(texts.publisherKey, EVM_ADDRESS_BYTES);
    if (address === undefined) return undefined;
    const { externalAssetId } = texts;
    const msgHash = evmPriceHash(address, externalAssetId, timestampNs, price);
    const job = jobOf(msgHash, address, texts);
    if (job === undefined) return undefined;
    const input: KnownInput = {
      signatureType: 'evm',
      key: BigInt(texts.publisherKey),
      // V8 keeps a whole string in memory for each slice of the string. Here the whole string is a large part of the answer.
      externalAssetId: ownText(externalAssetId),
      price,
      timestampNs,
      msgHash,
      job,
      isValid: false,
    };
    unknown.push(input);
    this.#inputs.set(ownText(text), input);
    return input;
  }
}

/** Returns the job for a signature; `undefined` for an unusual `v`, and when the declared hash differs from the recomputed hash. */
function jobOf(msgHash: Buffer, address: Uint8Array, texts: SignatureTexts): EvmVerifyJob | undefined {
  const recovery = RECOVERY_OF_V.get(texts.v?.toLowerCase() ?? '');
  if (recovery === undefined || parseHex(texts.msgHash, WORD_BYTES)?.equals(msgHash) !== true)
    return undefined;
  const signature = Buffer.allocUnsafe(2 * WORD_BYTES);
  parseHexInto(texts.r, signature, 0, WORD_BYTES);
  parseHexInto(texts.s, signature, WORD_BYTES, WORD_BYTES);
  return { msgHash, signature, recovery, address };
}

function ownText(text: string): string {
  return Buffer.from(text).toString();
}
