import { RefusedError } from '../errors.js';
import { fetchTaxonomy, type Taxonomy } from '../taxonomy.js';
import type { PacedRest } from './paced_rest.js';

/** How often the taxonomy is read again, and how soon after the last time at the earliest. */
const INTERVAL_MS = 60_000;
const INTERVAL_MS_MIN = 5_000;
const RETRY_MS = 3_000;

export interface CurrentTaxonomyOptions {
  readonly api: PacedRest;
  /** It was read, the first time and every other. */
  readonly onRead: (taxonomy: Taxonomy) => void;
  /** It could not be read, and will be tried again: why. */
  readonly onProblem: (reason: string) => void;
}

/** What the service says of its assets and keys, kept current. */
export class CurrentTaxonomy {
  readonly #options: CurrentTaxonomyOptions;
  #value!: Taxonomy;
  #readMs = 0;
  /** How many reads must end before the streaming IDs are known to be right. */
  #renewals = 0;

  constructor(options: CurrentTaxonomyOptions) {
    this.#options = options;
  }

  /** Reads it, however long the service cannot be reached. @throws RefusedError when the service refuses the token. */
  async start(): Promise<void> {
    await this.#readUntilItWorks();
    setInterval(() => this.refresh(), INTERVAL_MS);
  }

  get value(): Taxonomy {
    return this.#value;
  }

  /** Whether streaming IDs mean what it says. */
  get isCurrent(): boolean {
    return this.#renewals === 0;
  }

  /** The key that signs streaming payloads, as the service says. */
  get streamSigner(): string {
    return streamSignerOf(this.#value)!;
  }

  /** Whether the key of streams signs aggregates too, as the service says. */
  signsAggregates(key: string): boolean {
    return this.#value.signers.some(({ role, address }) => role === 'aggregate' && address === key);
  }

  /** Reads it again, unless that was a moment ago; without an answer the known one stays. */
  refresh(): void {
    if (Date.now() - this.#readMs >= INTERVAL_MS_MIN) this.#read().catch(() => undefined);
  }

  /** Streaming IDs may mean other assets now: it is read again, and not current until then. */
  renew(): void {
    this.#renewals += 1;
    this.#readUntilItWorks()
      // The token was refused; the connection says so as well.
      .catch(() => undefined)
      .finally(() => {
        this.#renewals -= 1;
      });
  }

  async #readUntilItWorks(): Promise<void> {
    for (;;) {
      try {
        await this.#read();
        return;
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        this.#options.onProblem((error as Error).message);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #read(): Promise<void> {
    this.#readMs = Date.now();
    const taxonomy = await fetchTaxonomy(this.#options.api);
    if (streamSignerOf(taxonomy) === undefined) throw new Error('it names no key that signs streams');
    this.#value = taxonomy;
    this.#options.onRead(taxonomy);
  }
}

function streamSignerOf({ signers }: Taxonomy): string | undefined {
  return signers.find(({ role }) => role === 'stream')?.address;
}
