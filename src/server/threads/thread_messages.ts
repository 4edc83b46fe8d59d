import type { ConnectionPath } from '../connections/connection.js';
import type { RestRequest, RestResponse } from '../http/messages.js';
import type { ListenOptions } from '../uws/app.js';

/** What a serving thread is started with. */
export interface ThreadStart {
  readonly listen: ListenOptions;
  readonly paths: readonly ConnectionPath[];
  /** The memory of the thread's {@link LivenessSignal}. */
  readonly liveness: SharedArrayBuffer;
  /** The memory of the frames that come from the main thread. */
  readonly ring: SharedArrayBuffer;
  /** The memory of what is on its way to the main thread: {@link OUTBOX_SENT}, {@link OUTBOX_HANDLED}. */
  readonly outbox: SharedArrayBuffer;
  /** For {@link loadWebSockets}. */
  readonly allowedSha256: string | undefined;
}

/** Places in the memory that an outbox shares with the main thread: `Int32`s, weights since the start, which wrap. */
export const OUTBOX_SENT = 0;
export const OUTBOX_HANDLED = 1;

/** The global function of the thread that ends all its connections and listeners; without them it can be ended safely. */
export const CLOSE_FUNCTION = 'ticksealCloseThread';

/** From the main thread: what a serving thread does, in this order. Requests are numbered by the serving thread, sockets by the main thread. */
export type ThreadCommand =
  | { readonly do: 'respond'; readonly request: number; readonly response: RestResponse }
  | { readonly do: 'accept'; readonly request: number; readonly socket: number }
  | { readonly do: 'send'; readonly socket: number; readonly text: string }
  | { readonly do: 'join'; readonly socket: number; readonly topic: number; readonly sequence: number }
  | { readonly do: 'leave'; readonly socket: number; readonly topic: number }
  | { readonly do: 'close'; readonly socket: number; readonly code: number; readonly reason: string }
  /** The main thread knows that the connection lags; every later command takes that into account. */
  | { readonly do: 'acknowledgeLag'; readonly socket: number }
  /** Publishes `count` frames of the ring. */
  | { readonly do: 'publish'; count: number }
  /** To be answered when everything before it is done. */
  | { readonly do: 'fence' }
  | { readonly do: 'setAccepting'; readonly accepting: boolean }
  | { readonly do: 'exit' };

/** What happened at a serving thread. */
export type ThreadEvent =
  | { readonly on: 'request'; readonly request: number; readonly content: RestRequest }
  | {
      readonly on: 'upgrade';
      readonly request: number;
      readonly path: string;
      readonly content: RestRequest;
    }
  | { readonly on: 'text'; readonly socket: number; readonly text: string }
  | { readonly on: 'oversize'; readonly socket: number; readonly messageBytes: number }
  | { readonly on: 'lagged'; readonly socket: number; readonly sequence: number }
  | { readonly on: 'drained'; readonly socket: number; readonly bufferedBytes: number }
  | { readonly on: 'dropped' | 'silent' | 'heard'; readonly socket: number }
  | { readonly on: 'closed'; readonly socket: number }
  | { readonly on: 'fence' }
  | { readonly on: 'listening' }
  | { readonly on: 'failed'; readonly error: string };

/** The events of one turn of a serving thread's event loop. */
export interface ThreadReport {
  readonly events: readonly ThreadEvent[];
  /** What they weigh on {@link OUTBOX_HANDLED}, in about bytes. */
  readonly weight: number;
}
