import {
  type ChainList,
  type ChainPlace,
  type ChainTrust,
  followChain,
  keysAt,
} from '../../model/announcement_chain.js';
import { AGGREGATE_KINDS } from '../../wire/announcement.js';
import { REST_PATHS } from '../../wire/paths.js';
import { isRateLimited } from '../connect/errors.js';
import { BROWSER, type Fetch, scheduleTimeout } from '../connect/platform.js';
import { RestService } from '../connect/rest_service.js';
import { TokenSource } from '../connect/token_source.js';
import { CHAIN_CRYPTO } from '../verify/chain_crypto.js';

/** The options of {@link followSigners}: the services, and the pinned root or keys at the start of the chain. */
export interface FollowOptions {
  /** Base addresses, `https://`, of services that sign with the same keys; at most 8. The newest chain of all services counts. */
  readonly urls: string | readonly string[];
  /** The address of the operator's root key. Default: none, so that `pinned` is needed. */
  readonly root?: string | undefined;
  /**
   * For an operator without a root: the keys that signed at the time of pinning. Keys that the pinned keys announce count after a
   * waiting time of 7 days. Default: none, so that `root` is needed.
   */
  readonly pinned?: readonly string[] | undefined;
  /** The newest announcement that this reader has accepted, for example in the program's last run. Default: none. */
  readonly known?: ChainPlace | undefined;
  /**
   * Milliseconds, at least 1000, between two readings of the chain. Default: 30000. A revocation counts at the latest after this time.
   */
  readonly refreshMs?: number | undefined;
  /** A function that sends the requests. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** The clock, in UNIX milliseconds. Default: the clock of this machine. */
  readonly nowMs?: (() => number) | undefined;
  /** Called with each new list when the list begins to apply. */
  readonly onList?: ((list: ChainList) => void) | undefined;
  /** Called with the reason when a chain was rejected or unreadable. The last list stays valid until the list expires. */
  readonly onRefused?: ((reason: string) => void) | undefined;
}

const URLS_MAX = 8;
const REFRESH_MS_DEFAULT = 30_000;
const REFRESH_MS_MIN = 1_000;
/** The largest total of the waits between the attempts of one reading. */
const WAITS_MS_MAX = 10_000;
/**
 * The number of attempts in one reading while the service limits the rate, and the wait before a further attempt if the service sent no
 * `Retry-After`.
 */
const ATTEMPTS_MAX = 4;
const ATTEMPT_DELAY_MS = 1_000;
/** The largest number of announcements whose first reading is remembered. */
const SEEN_MAX = 256;
const NS_PER_S = 1_000_000_000n;

/**
 * The announced keys of a service. The keys follow a chain from a pinned root or key. Pass {@link source} as `signers` to a client or
 * to a verification.
 */
export class AnnouncedSigners {
  readonly #options: FollowOptions;
  readonly #urls: readonly string[];
  readonly #nowMs: () => number;
  /**
   * The UNIX seconds at which announcements were first read; 0 for announcements of the first reading, because their own times count.
   */
  readonly #firstSeenS = new Map<string, number>();
  #list: ChainList | undefined;
  #known: ChainPlace | undefined;
  #hasRead = false;
  #cancel: (() => void) | undefined;
  #isClosed = false;

  /** @internal */
  constructor(options: FollowOptions) {
    const { root, pinned, refreshMs = REFRESH_MS_DEFAULT } = options;
    const urls = typeof options.urls === 'string' ? [options.urls] : options.urls;
    if (urls.length === 0 || urls.length > URLS_MAX)
      throw new RangeError(`urls must name 1 to ${URLS_MAX} services`);
    if ((root === undefined) === (pinned === undefined))
      throw new TypeError('either root or pinned is needed');
    for (const key of root === undefined ? pinned! : [root])
      if (!/^0x[0-9a-fA-F]{40,64}$/.test(key)) throw new RangeError(`"${key}" is no key`);
    if (!(refreshMs >= REFRESH_MS_MIN)) throw new RangeError(`refreshMs must be at least ${REFRESH_MS_MIN}`);
    this.#options = options;
    this.#urls = urls;
    this.#nowMs = options.nowMs ?? BROWSER.nowMs;
    this.#known = options.known;
  }

  /** The current list of keys. */
  get list(): ChainList {
    return this.#list!;
  }

  /**
   * The newest accepted announcement. A program passes this value as `known` in the next run, so nobody can show an older list then.
   */
  get place(): ChainPlace {
    return this.#known!;
  }

  /**
   * Returns the accepted keys: the current keys of streams, or the keys of aggregates at the time of an aggregate.
   * @throws Error when the list has expired
   */
  readonly source = (signedNs?: bigint): readonly string[] => {
    const list = this.list;
    const nowS = this.#nowMs() / 1000;
    if (list.expiresS <= nowS) throw new Error(`announcement ${list.version} of keys has expired`);
    const keys =
      signedNs === undefined
        ? keysAt(list, ['stream'], nowS)
        : keysAt(list, AGGREGATE_KINDS, Number(signedNs / NS_PER_S));
    if (keys.length === 0) throw new Error(`announcement ${list.version} names no key for this time`);
    return keys;
  };

  /**
   * Reads the chain again now.
   * @throws Error when no service has a valid chain; the message names the invalid announcement
   */
  async refresh(): Promise<void> {
    const answers = await Promise.allSettled(this.#urls.map((url) => this.#read(url)));
    const reasons: string[] = [];
    let hasList = false;
    for (const answer of answers) {
      if (answer.status === 'rejected') reasons.push((answer.reason as Error).message);
      else {
        const reason = this.#takeChain(answer.value);
        if (reason === undefined) hasList = true;
        else reasons.push(reason);
      }
    }
    this.#hasRead = true;
    for (const reason of reasons) this.#options.onRefused?.(reason);
    if (!hasList) throw new Error(reasons.join('; '));
  }

  /** Ends the readings of the chain. The list stays valid until the list expires. */
  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  /** @internal */
  repeat(): void {
    if (this.#isClosed) return;
    this.#cancel = scheduleTimeout(() => {
      this.refresh()
        .catch(() => undefined)
        .finally(() => this.repeat());
    }, this.#options.refreshMs ?? REFRESH_MS_DEFAULT);
  }

  /** Follows a chain. @returns the reason why the chain is rejected; `undefined` for a valid chain */
  #takeChain(texts: readonly string[]): string | undefined {
    const { root, pinned } = this.#options;
    const nowS = Math.floor(this.#nowMs() / 1000);
    const trust: ChainTrust = {
      root,
      keys: pinned,
      nowS,
      known: this.#known,
      firstSeenS: (digest) => this.#seen(digest, nowS),
    };
    const chain = followChain(texts, trust, CHAIN_CRYPTO);
    if (!chain.ok) return chain.reason;
    const { list } = chain;
    if (list.version === this.#list?.version) return undefined;
    this.#list = list;
    if (list.version > 0 && chain.waitingUntilS === undefined)
      this.#known = { version: list.version, digest: list.digest };
    this.#options.onList?.(list);
    return undefined;
  }

  #seen(digest: string, nowS: number): number {
    const isFirst = !this.#hasRead || this.#list === undefined;
    const seenS = this.#firstSeenS.get(digest) ?? (isFirst ? 0 : nowS);
    if (this.#firstSeenS.size < SEEN_MAX) this.#firstSeenS.set(digest, seenS);
    return seenS;
  }

  /** Requests the announcements, and again after the service's `Retry-After` while the service limits the rate. */
  async #read(url: string): Promise<readonly string[]> {
    const platform = { ...BROWSER, fetch: this.#options.fetch ?? BROWSER.fetch };
    const service = new RestService(url, platform, new TokenSource(undefined, undefined));
    for (let attempt = 1, spentMs = 0; ; attempt++) {
      try {
        return await service.getForm(REST_PATHS.signers, (answer) => answer.texts('announcements'));
      } catch (error) {
        if (!isRateLimited(error) || attempt === ATTEMPTS_MAX) throw error;
        const delayMs = error.retryAfterMs || ATTEMPT_DELAY_MS;
        spentMs += delayMs;
        if (!(spentMs < WAITS_MS_MAX)) throw error;
        await new Promise<void>((resolve) => scheduleTimeout(resolve, delayMs));
      }
    }
  }
}

/**
 * Reads the announcements of a service, and follows them from a pinned root or key until `close`.
 * @throws Error when no service has a valid chain; the message names the invalid announcement
 * @throws TypeError or RangeError for wrong options
 */
export async function followSigners(options: FollowOptions): Promise<AnnouncedSigners> {
  const signers = new AnnouncedSigners(options);
  await signers.refresh();
  signers.repeat();
  return signers;
}
