import type { SignerPlace } from '../../../clock/signed_times.js';
import { fromClone } from '../../../config/clone.js';
import type { SentSnapshot } from '../../../log/feed/sent_snapshot.js';
import type { SignatureType, Simulated } from '../../../model/asset.js';
import type { Counters } from '../../../model/counters.js';
import type { TimeNs } from '../../../model/time.js';
import type { CallerName } from '../../../prices/caller_name.js';
import type { PackedMessage } from '../../../prices/message.js';
import type { SharedAccess } from '../../../server/access/shared_access.js';
import type { ListenOptions } from '../../../server/uws/app.js';
import type { ServingReport } from '../../metrics/metrics.js';
import type { EdgeCommand, EdgeSettings } from '../edge_command.js';

/** The data for the start of an edge's thread. */
export interface ThreadStart {
  readonly settings: EdgeSettings;
  readonly at: ListenOptions;
  readonly place: SignerPlace;
  /** The number and the time of each mark of the thread's times. */
  readonly marks: readonly (readonly [number: number, timeNs: TimeNs])[];
  readonly access: SharedAccess;
  readonly simulation: Simulated;
  /** The memory of the {@link SharedClock}. */
  readonly clock: SharedArrayBuffer;
  /** The memory of the ring with the thread's feed. */
  readonly ring: SharedArrayBuffer;
}

/** The data for loading the thread, before its start. */
export interface ThreadData {
  /** The memory of the thread's {@link LivenessSignal}. */
  readonly liveness: SharedArrayBuffer;
  /** The allowed hash for {@link loadWebSockets}. */
  readonly allowedSha256: string | undefined;
  /** True if the thread fills the tables for Stark prices while it loads, so that its start does not wait for them. */
  readonly fillsStark: boolean;
}

/**
 * The name of the thread's global function that closes the thread's listeners and connections. The main thread calls this function before
 * it ends the thread. The function returns the number of sockets that only turns of the thread's event loop can close. After these turns,
 * the thread ends without further calls.
 */
export const CLOSE_FUNCTION = 'ticksealCloseThread';

/** A command from the main thread to an edge's thread. The thread executes commands in the order in which they were sent. */
export type ThreadCommand =
  /** The first command. */
  | { readonly do: 'start'; readonly start: ThreadStart }
  /** Makes the thread read `count` messages of the ring. */
  | { readonly do: 'feed'; count: number }
  | { readonly do: 'begin'; readonly snapshot: SentSnapshot }
  /** Tells the thread that the disk has all data from before the last `begin`. */
  | { readonly do: 'load' }
  | Exclude<EdgeCommand, { do: 'storeChanged' }>
  | { readonly do: 'report'; readonly ask: number }
  | { readonly do: 'drain'; readonly ask: number }
  | ({ readonly do: 'answer' } & ThreadAnswer)
  | { readonly do: 'exit' };

/** An event from an edge's thread. */
export type ThreadEvent =
  /** Reports that the thread is ready for its start. */
  | { readonly on: 'loaded' }
  | { readonly on: 'listening' }
  | { readonly on: 'failed'; readonly error: string }
  | { readonly on: 'log'; readonly level: LogLevel; readonly about: unknown; readonly text: string }
  /** Reports that the problems with the thread's times have changed. */
  | { readonly on: 'troubles'; readonly troubles: readonly string[] }
  /** Hands over the hashes of signed payloads, without gaps. */
  | { readonly on: 'signed'; readonly hashes: Uint8Array }
  /** Reports damage on the disk. */
  | { readonly on: 'damage'; readonly of: 'store' | 'past'; readonly reason: string }
  /** Asks other nodes about their past, as {@link AskPast} does. */
  | {
      readonly on: 'askPast';
      readonly ask: number;
      readonly question: Uint8Array;
      readonly tried: readonly number[];
    }
  | { readonly on: 'mark'; readonly ask: number; readonly number: number; readonly timeNs: TimeNs }
  | {
      readonly on: 'publisher';
      readonly session: number;
      readonly type: SignatureType;
      readonly isDurable: boolean;
      readonly caller: CallerName;
    }
  | {
      readonly on: 'publish';
      readonly ask: number;
      readonly session: number;
      readonly message: PackedMessage;
    }
  | { readonly on: 'publisherClosed'; readonly session: number }
  | ({ readonly on: 'answer' } & ThreadAnswer);

export type LogLevel = 'info' | 'warn' | 'error';

/** The answer to a question of the other thread. `ask` is the number of the question. */
export interface ThreadAnswer {
  readonly ask: number;
  readonly value?: unknown;
  /** The reason for an answer without a value. */
  readonly error?: string;
}

/** The answer to `report`. */
export interface ThreadReport {
  readonly counters: Counters;
  readonly serving: ServingReport;
  /** The largest delay of the thread's ticks since its last report. */
  readonly lateNsMax: bigint;
}

/** Restores the buffers in settings or in a command, because structured cloning changes them to plain arrays. */
export function withBuffers<Sent extends Pick<EdgeSettings, 'config' | 'identity'>>(sent: Sent): Sent {
  const { streamKeys } = sent.identity;
  return {
    ...sent,
    config: fromClone(sent.config),
    identity: { streamKeys: streamKeys.map((timed) => ({ ...timed, key: Buffer.from(timed.key) })) },
  };
}
