import type { Down } from '../connect/reconnecting_socket.js';
import { Subscriber, type SubscriptionResult } from '../prices/subscriber.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import type { PacedRest } from './paced_rest.js';
import { pause } from './pause.js';
import type { Verifier } from './verifier.js';

export interface PriceStreamOptions {
  readonly api: PacedRest;
  readonly verifier: Verifier;
  /** Whose signatures count now, and what for. */
  readonly expected: () => { readonly signers: readonly string[]; readonly taxonomyId: number };
  /** Called in the order of the frames; `hex` is the payload. */
  readonly onReport: (report: PayloadReport<readonly string[]>, hex: string) => void;
  readonly onUp: () => void;
  /** The connection is lost or could not be made. */
  readonly onDown: (down: Down) => void;
  /** From the next frame on, streaming IDs may mean other assets. */
  readonly onTaxonomyChange: () => void;
  /** A frame cannot be verified at all: why. */
  readonly onUnverifiable: (reason: string) => void;
  /** The service refused what the page asked for: why. See {@link PageStream.refusal}. */
  readonly onRefused: (reason: string) => void;
}

/** How often frames come. */
const CHANNEL = '500ms';
/** The service allows ten control messages a second; a change of the wanted set takes two. */
const CHANGE_INTERVAL_MS = 400;
/** When it refused one, as where other pages of the token have used up its subscriptions. */
const RETRY_MS = 2_000;

/**
 * The stream of signed payloads of the assets that are wanted now, each one verified in the worker. Two frames a second are
 * as many as people read, and the service signs every frame for this page alone.
 */
export class PageStream {
  readonly #options: PriceStreamOptions;
  readonly #subscriber: Subscriber;
  #wanted: ReadonlySet<number> = new Set();
  #isChanging = false;
  #isVerifying = false;
  #waiting: string | undefined;
  #refusal: string | undefined;

  /** Connects at once. */
  constructor(options: PriceStreamOptions) {
    this.#options = options;
    const { api, onUp, onDown, onTaxonomyChange, onUnverifiable, onRefused } = options;
    this.#subscriber = new Subscriber({
      url: api.socketUrl,
      channel: CHANNEL,
      messageType: 'signed_ecdsa',
      addtlAttrs: ['ms'],
      login: api.openLogin(),
      onFrame: (frame) => {
        if (frame.type === 'signed_ecdsa') this.#verify(frame.payload);
        else onUnverifiable('a frame came without a signature');
      },
      onUp: () => {
        onUp();
        void this.#change();
      },
      onDown,
      onTaxonomyChange,
      onError: onRefused,
    });
  }

  /** How many assets the service sends. */
  get subscribed(): number {
    return this.#subscriber.assets.length;
  }

  /** Why the service does not send all that is wanted; the stream tries again and again. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Changes which assets are wanted. The service learns it within a second. */
  want(ids: ReadonlySet<number>): void {
    this.#wanted = ids;
    void this.#change();
  }

  close(): void {
    void this.#subscriber.close();
  }

  /** Subscribes and unsubscribes until the service sends what is wanted; one change at a time. */
  async #change(): Promise<void> {
    if (this.#isChanging) return;
    this.#isChanging = true;
    try {
      for (;;) {
        const now = new Set(this.#subscriber.assets);
        const more = [...this.#wanted].filter((id) => !now.has(id));
        const less = [...now].filter((id) => !this.#wanted.has(id));
        if (more.length === 0 && less.length === 0) {
          this.#refusal = undefined;
          return;
        }
        const results = [
          more.length > 0 && (await this.#subscriber.subscribe(more, true)),
          // Even where more was refused: this makes room for it.
          less.length > 0 && (await this.#subscriber.unsubscribe(less)),
        ];
        // Without a connection onUp comes back to it.
        if (!this.#subscriber.isOpen) return;
        this.#read(results);
        await pause(this.#refusal === undefined ? CHANGE_INTERVAL_MS : RETRY_MS);
      }
    } finally {
      this.#isChanging = false;
    }
  }

  #read(results: readonly (SubscriptionResult | false)[]): void {
    this.#refusal = undefined;
    for (const result of results) {
      if (!result) continue;
      if (!result.ok) {
        this.#refusal = result.error;
        this.#options.onRefused(result.error);
      } else if (result.invalid.length > 0)
        this.#wanted = new Set([...this.#wanted].filter((id) => !result.invalid.includes(id)));
    }
  }

  /** Every frame of a fixed channel holds all assets, so only the newest one that waits is worth its verification. */
  #verify(hex: string): void {
    this.#waiting = hex;
    if (!this.#isVerifying) void this.#verifyWaiting();
  }

  async #verifyWaiting(): Promise<void> {
    this.#isVerifying = true;
    try {
      while (this.#waiting !== undefined) {
        const hex = this.#waiting;
        this.#waiting = undefined;
        const { verifier, expected, onReport } = this.#options;
        onReport(await verifier.verify<'payload'>({ kind: 'payload', hex, ...expected() }), hex);
      }
    } catch (error) {
      this.#options.onUnverifiable((error as Error).message);
    } finally {
      this.#isVerifying = false;
    }
  }
}
