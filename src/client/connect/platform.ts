import type { AggregateLine } from '../../wire/aggregate_line.js';
import type { PriceCurves } from '../sign/price_curves.js';
import type { PricedInput } from '../verify/aggregate_price.js';
import type { RecoverAddress } from '../verify/evm_signatures.js';
import type { Schedule } from './liveness.js';
import type { OpenConnection, SocketLike } from './socket_like.js';

/** The functions that the client takes from its platform. No other part of the client uses a clock, a timer, a socket or a worker. */
export interface Platform {
  /** Returns UNIX milliseconds. */
  readonly nowMs: () => number;
  /** Returns the milliseconds of a monotonic clock. */
  readonly steadyMs: () => number;
  readonly schedule: Schedule;
  /**
   * Runs a function after the client has read all data that already arrived. The client can then drop outdated frames of a
   * backlog before it verifies them. Browsers run the function immediately, because a worker verifies large amounts there.
   */
  readonly afterReceiving: (run: () => void) => void;
  readonly fetch: Fetch;
  /** Returns whether {@link fetch} sends `Accept-Encoding`. In browsers a request cannot choose the encoding of its answer. */
  readonly choosesEncoding: () => boolean;
  readonly openSocket: OpenConnection;
  /** True when {@link openSocket} sends request headers. Otherwise the client logs in with tickets. */
  readonly sendsHeaders: boolean;
  /**
   * Starts a worker with the module that verifies payloads. The module is at the given address, or is `verify_worker.js` beside
   * this file. Absent on platforms without workers.
   */
  readonly openWorker?: ((url: string | undefined) => WorkerLike) | undefined;
  /** Signing functions that are faster than plain JavaScript. */
  readonly curves?: Partial<PriceCurves> | undefined;
  /** Recovers the signers of aggregates. Default: plain JavaScript. */
  readonly recoverAddress?: RecoverAddress | undefined;
  /**
   * Verifies lines of a range together. The client itself verifies lines that this function cannot verify, and all lines on a
   * platform without this function.
   */
  readonly verifyLines?: VerifyLines | undefined;
}

/** Returns the aggregates of the lines; `undefined` for a line that could not be verified. */
export type VerifyLines = (lines: readonly string[]) => readonly (SignedLine | undefined)[];

/** An EVM aggregate whose hashes, Merkle root and signatures are correct. The hashes and signatures of the inputs are correct too. */
export interface SignedLine {
  readonly texts: AggregateLine;
  readonly price: bigint;
  readonly timestampNs: bigint;
  readonly signedAtNs: bigint;
  /** The inputs; `undefined` when the service has removed the inputs. */
  readonly inputs:
    | readonly (PricedInput & { readonly timestampNs: bigint; readonly externalAssetId: string })[]
    | undefined;
}

/** The part of `fetch` that is used. */
export type Fetch = (
  url: string,
  init: {
    readonly headers: Readonly<Record<string, string>>;
    /** Always `omit`, because with credentials a browser answers a 401 with a dialog for a name and a password. */
    readonly credentials: 'omit';
    /** Always `manual` in a client: an answer of another place than the one that was asked is an error. */
    readonly redirect: 'manual';
    /** Only `POST`; absent for a GET. */
    readonly method?: 'POST';
    readonly body?: string | Uint8Array;
    readonly signal: never;
  },
) => Promise<FetchResponse>;

/** The part of a `fetch` response that is used. */
export interface FetchResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The headers of the response. */
  readonly headers: { get(name: string): string | null };
  /** `true` when the function has followed a redirect. The client then refuses the answer. */
  readonly redirected?: boolean;
  /** Reads the whole body as text. */
  text(): Promise<string>;
  /** Reads the whole body as bytes. Default: the bytes of {@link text}. */
  arrayBuffer?(): Promise<ArrayBuffer>;
  /** The body as a stream. If the body is absent, the client reads each answer as a whole, and bounds it afterwards. */
  readonly body?:
    | { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array }>; cancel(): Promise<void> } }
    | null
    | undefined;
}

/** The part of an `AbortSignal` that is used. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The part of a Web Worker that is used. */
export interface WorkerLike {
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  postMessage(message: unknown): void;
  terminate(): unknown;
}

/** The header by which a request asks for an answer that is not compressed. Browsers ignore it. */
export const NOT_COMPRESSED = { 'Accept-Encoding': 'identity' } as const;

/** The default {@link Schedule}. */
export const scheduleTimeout: Schedule = (run, delayMs) => {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
};

interface BrowserGlobals {
  readonly fetch: Fetch;
  readonly WebSocket?: new (url: string, protocols: readonly string[]) => SocketLike;
}

declare const performance: { now(): number };

declare const Request: new (
  url: string,
  init: { readonly headers: Readonly<Record<string, string>> },
) => { readonly headers: { has(name: string): boolean } };

declare const Worker: new (url: object | string, options: { readonly type: 'module' }) => WorkerLike;

/** Opens the global `WebSocket` of browsers. @throws TypeError for headers, because this socket cannot send headers. */
export const openGlobalSocket: OpenConnection = (url, headers, protocols = []) => {
  const { WebSocket } = globalThis as unknown as BrowserGlobals;
  if (WebSocket === undefined) throw new TypeError('openSocket is required: there is no global WebSocket');
  if (Object.keys(headers).length > 0) throw new TypeError('openSocket is required to send a token');
  return new WebSocket(url, protocols);
};

/** The platform of browsers. Each function looks up its globals when it is called. */
export const BROWSER: Platform = {
  nowMs: () => Date.now(),
  steadyMs: () => performance.now(),
  schedule: scheduleTimeout,
  afterReceiving: (run) => run(),
  fetch: (url, init) => (globalThis as unknown as BrowserGlobals).fetch(url, init),
  choosesEncoding: () =>
    new Request('http://localhost', { headers: NOT_COMPRESSED }).headers.has('Accept-Encoding'),
  openSocket: openGlobalSocket,
  sendsHeaders: false,
  openWorker(url) {
    if (url !== undefined) return new Worker(url, { type: 'module' });
    // Bundlers search for exactly this expression to make a file for the worker.
    return new Worker(new URL('../verify/verify_worker.js', import.meta.url), { type: 'module' });
  },
};
