import { ProtocolError } from '../connect/errors.js';
import type { RestService } from '../connect/rest_service.js';
import type { ClientContext } from './client_context.js';
import type { LogLookup } from './log_lookup.js';
import type { LogOptions } from './log_options.js';
import type { StreamedType } from './taxonomy.js';
import type { Tick } from './tick.js';

const SAMPLE_DEFAULT = 0.01;
/** The largest number of prices that wait for a proof. The client looks up no further price while this many prices wait. */
const WAITING_MAX = 64;

/** Chooses a sample of the received prices, and looks up the sample in the public logs of the services. */
export class LogSample {
  readonly #context: ClientContext;
  readonly #share: number;
  readonly #lookup: Promise<LogLookup | undefined>;
  #count = 0;

  /** @throws TypeError or RangeError for wrong options */
  constructor({ policy, sample = SAMPLE_DEFAULT }: LogOptions, context: ClientContext) {
    if (typeof policy !== 'string' || policy.trim() === '')
      throw new TypeError('log.policy must be the text of a policy file');
    if (!(sample > 0 && sample <= 1)) throw new RangeError('log.sample must be above 0 and at most 1');
    this.#context = context;
    this.#share = sample;
    this.#lookup = this.#load(policy);
    context.open.add(this);
  }

  /**
   * Looks up a price with the probability of the sample.
   * @param signatureType the signature type of the tick's stream
   */
  received(price: Tick, signatureType?: StreamedType): void {
    if (this.#count >= WAITING_MAX || Math.random() >= this.#share) return;
    this.#count += 1;
    void this.#lookup
      .then((lookup) => lookup?.lookUp(price, signatureType))
      .finally(() => {
        this.#count -= 1;
      });
  }

  /** Abandons all prices that wait for a proof. */
  async close(): Promise<void> {
    (await this.#lookup)?.close();
  }

  async #load(policy: string): Promise<LogLookup | undefined> {
    try {
      // The verifier of logs is loaded only here, because it is large, and few clients use it.
      const { LogLookup } = await import('./log_lookup.js');
      return new LogLookup(policy, this.#context);
    } catch (error) {
      const [{ url }] = this.#context.services as [RestService];
      this.#context.reportError(
        new ProtocolError(url, `log.policy cannot be used: ${(error as Error).message}`),
      );
      return undefined;
    }
  }
}
