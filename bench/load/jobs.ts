import type { ServerAddress } from '../../scripts/load/frame_socket.js';
import type { SignatureType } from '../../src/wire/signatures.js';

/** The settings that each load process needs. */
export interface Target {
  readonly address: ServerAddress;
  readonly token: string;
  /** True if the service runs on this machine, so that both use one clock. */
  readonly isSameClock: boolean;
}

export interface ReadersJob {
  readonly kind: 'readers';
  readonly target: Target;
  readonly connections: number;
  readonly connectionsPerSecond: number;
  /** The query of `/ws`. */
  readonly query: string;
  readonly intervalMs: number;
  readonly assetIds: readonly number[];
}

export interface PublisherJob {
  readonly kind: 'publisher';
  readonly target: Target;
  readonly signatureType: SignatureType;
  readonly key: string;
  readonly oracleId: string;
  readonly assets: readonly { readonly id: number; readonly symbol: string }[];
  readonly updatesPerSecond: number;
}

export interface RequestsJob {
  readonly kind: 'requests';
  readonly target: Target;
  readonly path: string;
  readonly requestsPerSecond: number;
}

export type LoadJob = ReadersJob | PublisherJob | RequestsJob;

/** The counts of a report without any event. */
export const NO_COUNTS = {
  frames: 0,
  bytes: 0,
  /** Ticks of a fixed channel that a connection did not receive. */
  gaps: 0,
  /** Connections that the service ended. */
  closed: 0,
  /** Sent updates or requests. */
  sent: 0,
  /** Updates whose price, or a later price of the same asset, a reader received; or requests with status 200. */
  done: 0,
  /** Refused updates, and answers with another status. */
  refused: 0,
  /** Updates that no reader received, and requests without an answer, within 10 s. */
  lost: 0,
};

export type Counts = typeof NO_COUNTS;

/** A process's counts over about a second. */
export interface JobReport extends Readonly<Counts> {
  /** The delays of frames, own updates or answers, from {@link Delays.take}. */
  readonly delays: string;
  /** The CPU time of the process since its last report. */
  readonly cpuSeconds: number;
  /** The real time since the last report. */
  readonly seconds: number;
}

/** A load with open connections. */
export interface RunningJob {
  /** Begins the counts. Only ended connections of the time before count. */
  begin(): void;
  /** Returns the counts since the last call. */
  take(): Omit<JobReport, 'cpuSeconds' | 'seconds'>;
  /** Ends the load, and resolves when the work in progress has arrived or counts as lost. */
  finish(): Promise<void>;
}

/**
 * The messages to a load process, after its job. `measure` begins the counts, and has no answer. The answer to `report` is the
 * counts since the last answer. `finish` ends the load, and its answer is the counts of the work that was in progress.
 */
export type ToJob = 'measure' | 'report' | 'finish';

/** The messages of a load process. */
export type FromJob =
  | { readonly is: 'ready' }
  | { readonly is: 'report'; readonly report: JobReport }
  /** The service's message when it first refuses an update. */
  | { readonly is: 'refused'; readonly message: string }
  | { readonly is: 'failed'; readonly reason: string };
