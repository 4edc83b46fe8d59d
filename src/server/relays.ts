import { claimPort, type ListenOptions } from './app.js';
import { ringBytesFor } from './frame_ring.js';
import { type Front, type FrontHost, mostWaiting, type Waiting } from './front.js';
import { Relay, type RelayCounters } from './relay.js';

export interface RelaysOptions {
  /** How many threads. */
  readonly threads: number;
  /** A port other than 0 has been claimed. */
  readonly listen: ListenOptions;
  readonly host: FrontHost;
  /** What the ring that takes frames to a thread holds: `relayRingBytes`. */
  readonly ringBytes: number;
  /** For `loadWebSockets` in the threads. */
  readonly allowedSha256: string | undefined;
  readonly counters: RelaysCounters;
  /** Told of a thread that ended unasked or hangs, and is being replaced. */
  readonly onFailure: (error: Error) => void;
  /** The module that runs in the threads, where it is not `relay_worker.js`. */
  readonly workerFile?: URL;
  /** After how long a thread counts as hung, where it is not the default of `Relay`. */
  readonly silenceMsMax?: number;
}

/** Counts since the start. */
export interface RelaysCounters extends RelayCounters {
  /** Threads that ended unasked or hung; each was replaced. */
  relayFailures: number;
}

/** So that a thread that cannot start does not take a core with its attempts. */
const REPLACEMENT_DELAY_MS = 100;

/**
 * Serves sockets on threads of their own, which share the port: what each connection costs is one write to the kernel per
 * frame, and this spreads it over the cores. Frames are made once, here, and so is every decision.
 * @throws Error when the address is in use or TLS cannot start.
 */
export async function openRelays(options: RelaysOptions): Promise<Front> {
  // Threads share the port, and one that uWebSockets.js picks is never shared.
  const front = new RelayFront(options, options.listen.port || (await claimPort(options.listen)));
  try {
    await front.start();
  } catch (error) {
    await front.close();
    throw error;
  }
  return front;
}

/** The least that a thread may fall behind before frames pass it by: some 10,000 frames of 10 assets. */
const RING_BYTES_MIN = 4 * 1024 * 1024;
const RING_FRAMES_MIN = 4;

/** @param frameBytesMax the longest frame there can be */
export function relayRingBytes(frameBytesMax: number): number {
  return Math.max(RING_BYTES_MIN, ringBytesFor(RING_FRAMES_MIN, frameBytesMax));
}

class RelayFront implements Front {
  readonly #options: RelaysOptions;
  readonly #relays = new Set<Relay>();
  readonly #replacements = new Set<NodeJS.Timeout>();
  #isAccepting = true;
  #stopping = false;

  constructor(
    options: RelaysOptions,
    readonly port: number,
  ) {
    this.#options = options;
  }

  get threads(): number {
    return [...this.#relays].filter(({ isListening }) => isListening).length;
  }

  get sockets(): number {
    return [...this.#relays].reduce((sum, { sockets }) => sum + sockets, 0);
  }

  get waiting(): Waiting {
    return mostWaiting([...this.#relays].map(({ waiting }) => waiting));
  }

  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.threads }, () => this.#open().listening));
  }

  publish(topic: number, frame: Uint8Array, sequence: number): void {
    for (const relay of this.#relays) relay.publish(topic, frame, sequence);
  }

  setAccepting(accepting: boolean): void {
    this.#isAccepting = accepting;
    for (const relay of this.#relays) relay.setAccepting(accepting);
  }

  async close(): Promise<void> {
    this.#stopping = true;
    for (const replacement of this.#replacements) clearTimeout(replacement);
    await Promise.all([...this.#relays].map((relay) => relay.exit()));
  }

  #open(): Relay {
    const { host, ringBytes, allowedSha256, workerFile, silenceMsMax, counters, onFailure } = this.#options;
    const relay = new Relay({
      listen: { ...this.#options.listen, port: this.port },
      host,
      ringBytes,
      allowedSha256,
      workerFile,
      silenceMsMax,
      counters,
      onFailure: (error) => {
        counters.relayFailures++;
        onFailure(error);
      },
      onExit: () => {
        this.#relays.delete(relay);
        if (!this.#stopping) this.#replaceLater();
      },
    });
    this.#relays.add(relay);
    return relay;
  }

  #replaceLater(): void {
    const replacement = setTimeout(() => {
      this.#replacements.delete(replacement);
      const relay = this.#open();
      relay.listening.then(
        () => relay.setAccepting(this.#isAccepting),
        // When it cannot listen it ends, and that is heard of.
        () => {},
      );
    }, REPLACEMENT_DELAY_MS);
    this.#replacements.add(replacement);
  }
}
