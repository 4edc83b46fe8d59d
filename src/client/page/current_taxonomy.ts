import { isRateLimited, RefusedError } from '../connect/errors.js';
import type { RestService } from '../connect/rest_service.js';
import { fetchTaxonomy, type Taxonomy, type TaxonomyAsset } from '../prices/taxonomy.js';
import { assetKey, keysById } from './board.js';
import { pause } from './pause.js';

/** How often the taxonomy is read again, and how soon after the last time at the earliest. */
const INTERVAL_MS = 60_000;
const INTERVAL_MS_MIN = 5_000;
/** How soon after a failure; at the rate limit twice as long after each. */
const RETRY_MS = 3_000;

export interface CurrentTaxonomyOptions {
  readonly api: RestService;
  /** The assets whose frames come. */
  readonly inUse: () => readonly TaxonomyAsset[];
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
  /** The last read told of IDs in use that have moved, before the connection did. */
  #isLeftAside = false;

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
    if (Date.now() - this.#readMs >= INTERVAL_MS_MIN) this.#read(false).catch(() => undefined);
  }

  /** Streaming IDs may mean other assets now: it is read again, and not current until then. */
  renew(): void {
    this.#renewals += 1;
    this.#readUntilItWorks().then(
      () => {
        this.#renewals -= 1;
      },
      // The token was refused; the connection says so as well.
      () => undefined,
    );
  }

  async #readUntilItWorks(): Promise<void> {
    for (let delayMs = RETRY_MS; ; ) {
      try {
        await this.#read(true);
        return;
      } catch (error) {
        const isBusy = isRateLimited(error);
        if (error instanceof RefusedError && !isBusy) throw error;
        this.#options.onProblem((error as Error).message);
        await pause(delayMs);
        if (isBusy) delayMs = Math.min(2 * delayMs, INTERVAL_MS);
      }
    }
  }

  /** @param mayMove without it, IDs in use that have moved are left aside once: frames of the IDs before may still come. */
  async #read(mayMove: boolean): Promise<void> {
    this.#readMs = Date.now();
    const taxonomy = await fetchTaxonomy(this.#options.api);
    if (streamSignerOf(taxonomy) === undefined) throw new Error('it names no key that signs streams');
    this.#isLeftAside = !mayMove && !this.#isLeftAside && this.#moves(taxonomy);
    if (this.#isLeftAside) return;
    this.#value = taxonomy;
    this.#options.onRead(taxonomy);
  }

  /** Whether the ID of an asset in use stands for another one now. */
  #moves({ assets }: Taxonomy): boolean {
    const keys = keysById(assets);
    return this.#options.inUse().some((asset) => (keys.get(asset.id) ?? assetKey(asset)) !== assetKey(asset));
  }
}

function streamSignerOf({ signers }: Taxonomy): string | undefined {
  return signers.find(({ role }) => role === 'stream')?.address;
}
