import { REST_PATHS } from '../../wire/paths.js';
import { RefusedError, type StreamClient, type TaxonomyAsset } from '../index.js';
import { oneAtATime } from './one_at_a_time.js';
import { reasonText } from './plain_reason.js';
import { momentText } from './price_text.js';
import {
  PROOF_WORKER_NAME,
  type Proof,
  type ProofRequest,
  type ProvenAggregate,
  readAlgorithms,
} from './proof.js';

/** The interval at which the proof is read again. */
const REFRESH_MS = 5_000;
/** The statuses with which the service answers that it has no price at an instant. */
const GONE: readonly number[] = [404, 410];

export interface ProofReaderOptions {
  readonly client: StreamClient;
  /** The address of the module of the worker that verifies. */
  readonly worker: string;
  /** Returns the pinned key of the asset's type, and the service's oracle ID. */
  readonly trustOf: (asset: TaxonomyAsset) => {
    readonly signer: string | undefined;
    readonly oracleId: string | undefined;
  };
  /** Called after each attempt to read. */
  readonly onRead: () => void;
}

/** The newest signed aggregate of the chosen asset, with the results of all its checks. */
export class ProofReader {
  readonly #options: ProofReaderOptions;
  readonly #read = oneAtATime(() => this.#readOnce());
  #shown: { readonly asset: TaxonomyAsset; readonly atNs: bigint | undefined } | undefined;
  #timer = 0;
  #algorithms: ReadonlyMap<string, string> | undefined;
  #worker: Worker | undefined;
  /** Resolves when the last verification ends, even if that verification fails. */
  #verified: Promise<unknown> = Promise.resolve();
  /** The newest aggregate that was read, with its proof. */
  proven: ProvenAggregate | undefined;
  /** The reason why there is no newer proof, as a sentence. */
  problem: string | undefined;

  constructor(options: ProofReaderOptions) {
    this.#options = options;
  }

  /** Reads the proof of an asset, or nothing. @param atNs the instant that is shown; `undefined` for the current time */
  show(asset: TaxonomyAsset | undefined, atNs: bigint | undefined): void {
    this.#shown = asset && { asset, atNs };
    this.proven = undefined;
    this.problem = undefined;
    void this.#read();
  }

  /**
   * Verifies an aggregate in the worker, one after the other, because a verification takes tens of milliseconds. Rejects when the worker
   * fails; the next call starts another worker.
   */
  verify(request: ProofRequest): Promise<Proof | undefined> {
    const verified = this.#verified.then(() => this.#requestProof(request));
    this.#verified = verified.catch(() => undefined);
    return verified;
  }

  #requestProof(request: ProofRequest): Promise<Proof | undefined> {
    this.#worker ??= new Worker(this.#options.worker, { type: 'module', name: PROOF_WORKER_NAME });
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<Proof | undefined | 'ready'>) => {
        if (data !== 'ready') resolve(data);
      };
      worker.onerror = ({ message }) => {
        worker.terminate();
        this.#worker = undefined;
        reject(new Error(`the worker that verifies has failed: ${message || 'it did not load'}`));
      };
      worker.postMessage(request);
    });
  }

  async #readOnce(): Promise<void> {
    clearTimeout(this.#timer);
    const shown = this.#shown;
    if (shown === undefined) return;
    const { asset, atNs } = shown;
    let isGone = false;
    if (!document.hidden) {
      const read = await this.#proofOf(asset, atNs).catch((error: Error) => error);
      if (this.#shown !== shown) return;
      const isFailed = read instanceof Error;
      isGone = read instanceof RefusedError && GONE.includes(read.status);
      this.problem = isFailed ? problemText(read, asset, atNs) : undefined;
      if (!isFailed) this.proven = read;
    }
    this.#options.onRead();
    // The past does not change, and deleted prices do not return.
    const isDone = atNs !== undefined && (this.proven !== undefined || isGone);
    if (!isDone) this.#timer = setTimeout(() => void this.#read(), REFRESH_MS);
  }

  async #proofOf(asset: TaxonomyAsset, atNs: bigint | undefined): Promise<ProvenAggregate> {
    const { client, trustOf } = this.#options;
    const { symbol, signatureType } = asset;
    const query = new URLSearchParams({ assets: symbol, signature_type: signatureType });
    if (atNs !== undefined) query.set('timestamp', String(atNs));
    const answer = await client.get(`${atNs === undefined ? REST_PATHS.latest : REST_PATHS.at}?${query}`);
    this.#algorithms ??= readAlgorithms(await client.get(REST_PATHS.algorithms));
    const { signer, oracleId } = trustOf(asset);
    if (signer === undefined) throw new Error('no key is pinned for this type of signature');
    const request = { answer, symbol, signers: [signer], oracleId, algorithms: this.#algorithms, atNs };
    const proof = await this.verify(request);
    if (proof === undefined) throw new Error('there is no live price to prove');
    if (proof.form === undefined) throw new Error(proof.report.checks[0]!.reason);
    return { request, proof };
  }
}

/** Returns the reason why a proof is missing, in plain words. */
function problemText(error: Error, { symbol }: TaxonomyAsset, atNs: bigint | undefined): string {
  if (atNs === undefined || !(error instanceof RefusedError) || ![400, ...GONE].includes(error.status))
    return `The proof cannot be read: ${reasonText(error)}.`;
  const at = momentText(atNs);
  if (error.status === 404) return `${symbol} had no price at ${at}.`;
  if (error.status === 400) return `${at} lies in the future.`;
  const from = error.keptFromNs === undefined ? '' : `: they begin at ${momentText(error.keptFromNs)}`;
  return `${at} is before the signed prices that the service keeps${from}.`;
}
