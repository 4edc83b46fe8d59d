import type { Platform, WorkerLike } from '../connect/platform.js';
import { type SignerSource, signersOf } from '../verify/checks.js';
import { type PayloadReport, verifyPayload } from '../verify/verify_payload.js';
import type { VerifiedPayload } from '../verify/verify_worker.js';

/** The rate above which a worker verifies payloads. A payload takes about 2 ms of a browser's main thread. */
const INLINE_PER_SECOND_DEFAULT = 20;

/**
 * The callback with the report about a payload's form and signature. The verifier calls it immediately, or later when a worker
 * answers.
 */
type Settle = (report: PayloadReport) => void;

/** Verifies payloads. A worker verifies them when there are many. */
export class PayloadVerifier {
  readonly #signers: SignerSource;
  readonly #platform: Platform;
  readonly #workerUrl: string | undefined;
  readonly #inlinePerSecond: number;
  /** True while a worker may be started. */
  #mayStart: boolean;
  #worker: WorkerLike | undefined;
  /** True once the worker has loaded and answers. */
  #isReady = false;
  #second = 0;
  #inSecond = 0;
  #lastId = 0;
  /** The payloads in the worker. Each source has at most one payload there. */
  readonly #pending = new Map<number, { readonly hex: string; readonly settle: Settle }>();

  /**
   * @param worker the address of the worker's module; `undefined` for the default module, `false` for no worker
   * @param inlinePerSecond the rate above which the worker is started
   */
  constructor(
    signers: SignerSource,
    platform: Platform,
    worker: string | false | undefined,
    inlinePerSecond = INLINE_PER_SECOND_DEFAULT,
  ) {
    this.#signers = signers;
    this.#platform = platform;
    this.#workerUrl = worker === false ? undefined : worker;
    this.#inlinePerSecond = inlinePerSecond;
    this.#mayStart = worker !== false && platform.openWorker !== undefined;
  }

  /**
   * Verifies the hex of a payload. Calls `settle` before it returns, unless a worker verifies the payload. The check of the signer
   * fails if no valid signers are known, for example because the user's function throws.
   */
  verify(hex: string, settle: Settle): void {
    this.#count();
    let report: PayloadReport;
    try {
      // The signers may be a function of the user, which is called here.
      const signers = signersOf(this.#signers);
      if (this.#isReady) {
        this.#worker!.postMessage({ id: ++this.#lastId, hex, signers });
        this.#pending.set(this.#lastId, { hex, settle });
        return;
      }
      report = verifyPayload(hex, { signers });
    } catch (error) {
      report = { verdict: 'failed', checks: [{ name: 'signer', status: 'failed', reason: String(error) }] };
    }
    settle(report);
  }

  /** Ends the worker. Payloads in the worker are no longer settled. */
  close(): void {
    this.#pending.clear();
    this.#mayStart = false;
    this.#isReady = false;
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #count(): void {
    const second = Math.floor(this.#platform.nowMs() / 1_000);
    if (second !== this.#second) this.#inSecond = 0;
    this.#second = second;
    this.#inSecond += 1;
    if (this.#inSecond > this.#inlinePerSecond && this.#mayStart) this.#start();
  }

  #start(): void {
    this.#mayStart = false;
    try {
      this.#worker = this.#platform.openWorker!(this.#workerUrl);
    } catch {
      // The page's policy forbids workers, so the main thread verifies payloads.
      return;
    }
    this.#worker.onmessage = ({ data }: { data: VerifiedPayload | 'ready' }) => {
      if (data === 'ready') this.#isReady = true;
      else this.#settle(data);
    };
    this.#worker.onerror = () => this.#giveUp();
  }

  #settle({ id, report }: VerifiedPayload): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.settle(report);
  }

  /** Ends a worker that does not work. The main thread verifies its payloads and all later payloads. */
  #giveUp(): void {
    const left = [...this.#pending.values()];
    this.close();
    for (const { hex, settle } of left) this.verify(hex, settle);
  }
}
