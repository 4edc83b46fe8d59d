import { parseAddCheckpoint } from '../../tlog/add_checkpoint.js';
import { openSubmitted, refusalOf } from '../../tlog/cosign_request.js';
import { type Ed25519Key, verifyByNode } from '../../tlog/ed25519_key.js';
import { formatNote, type NoteSignature, signatureLine } from '../../tlog/signed_note.js';
import { TlogError } from '../../tlog/tlog_error.js';
import type { VerifierKey } from '../../tlog/verifier_key.js';
import { RequestQuota } from './request_quota.js';
import { type KeptCheckpoint, originHash, type WitnessFolder } from './witness_folder.js';

/** A log that the witness watches. */
export interface WatchedLog {
  readonly origin: string;
  readonly keys: readonly VerifierKey[];
  /** The largest number of requests a day. */
  readonly requestsPerDay: number;
}

export interface WitnessOptions {
  readonly name: string;
  readonly key: Ed25519Key;
  readonly logs: readonly WatchedLog[];
  readonly folder: WitnessFolder;
  /** Returns UNIX milliseconds. */
  readonly nowMs: () => number;
  /** Returns the milliseconds of a monotonic clock. */
  readonly steadyMs: () => number;
  /** Receives each refusal, and each fault of the disk. */
  readonly onRefused?: (refused: RefusedRequest) => void;
}

/** A request that the witness answered without a cosignature. */
export interface RefusedRequest {
  readonly status: number;
  readonly reason: string;
  /** The origin, if one of the origin's keys signed the checkpoint. */
  readonly origin: string | undefined;
}

/** The number of answers with this status. Without a signature of the log the origin is empty, because any sender could name any origin. */
export interface AnswerCount {
  readonly origin: string;
  readonly status: number;
  count: number;
}

/** The answer to `add-checkpoint`. */
export interface CosignAnswer {
  readonly status: 200 | 400 | 403 | 404 | 409 | 422 | 429 | 500 | 503;
  /** The cosignature lines, the last cosigned size, or the reason for a refusal; always with a newline. */
  readonly body: string;
  readonly isSize?: boolean;
}

const DAY_MS = 86_400_000;
/** The largest number of requests of one log that wait for the disk. */
const WAITING_MAX = 16;

/** A witness. The witness cosigns a checkpoint only when the checkpoint continues the last cosigned tree. */
export class LogWitness {
  readonly #options: WitnessOptions;
  readonly #logs: ReadonlyMap<string, LogState>;
  readonly #byHash: ReadonlyMap<string, LogState>;
  /** The reason why the newest checkpoint was not saved; `undefined` after a successful save. */
  #fault: string | undefined;
  readonly #counts = new Map<string, AnswerCount>();

  /** @param kept the checkpoints of the folder */
  constructor(options: WitnessOptions, kept: ReadonlyMap<string, KeptCheckpoint>) {
    this.#options = options;
    this.#logs = new Map(
      options.logs.map((log) => [log.origin, new LogState(log, kept.get(log.origin), options.steadyMs())]),
    );
    this.#byHash = new Map([...this.#logs].map(([origin, state]) => [originHash(origin), state]));
  }

  /** The newest cosigned checkpoint of each log. */
  latest(): [origin: string, KeptCheckpoint | undefined][] {
    return [...this.#logs].map(([origin, { kept }]) => [origin, kept]);
  }

  /** Returns the newest cosigned checkpoint of the log with this hash. */
  noteOf(hash: string): string | undefined {
    return this.#byHash.get(hash)?.kept?.note;
  }

  /** The reason why the newest checkpoint could not be written to disk; `undefined` while the disk works. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** The answers to `add-checkpoint`. */
  get counts(): readonly AnswerCount[] {
    return [...this.#counts.values()];
  }

  /** Answers `add-checkpoint`. Never throws. */
  async addCheckpoint(body: Uint8Array): Promise<CosignAnswer> {
    let origin: string | undefined;
    const refuse = (status: Exclude<CosignAnswer['status'], 200>, reason: string): CosignAnswer => {
      this.#count(origin, status);
      this.#options.onRefused?.({ status, reason, origin });
      return { status, body: `${reason}\n` };
    };
    try {
      const request = parseAddCheckpoint(body);
      const keysOf = (name: string) => this.#logs.get(name)?.log.keys;
      const submitted = await openSubmitted(request, keysOf, verifyByNode);
      if ('status' in submitted) return refuse(submitted.status, submitted.reason);
      const { checkpoint, signed } = submitted;
      origin = checkpoint.origin;
      const state = this.#logs.get(origin)!;
      if (!state.quota.take(this.#options.steadyMs()))
        return refuse(429, `${origin} has used up its ${state.log.requestsPerDay} requests of a day`);
      if (state.waiting >= WAITING_MAX)
        return refuse(503, `too many requests of ${origin} wait for the disk`);
      return await state.inTurn(async () => {
        const refusal = refusalOf(request, checkpoint, state.kept?.checkpoint);
        if (refusal !== undefined) {
          const answer = refuse(refusal.status, refusal.reason);
          return refusal.size === undefined ? answer : { ...answer, body: `${refusal.size}\n`, isSize: true };
        }
        const { name, key, nowMs, folder } = this.#options;
        const timeS = BigInt(Math.floor(nowMs() / 1_000));
        const own: NoteSignature = key.cosign(name, signed.text, timeS);
        // The witness keeps one line of each key of the log. Anybody can add unverified lines, or repeat a line until the note has too many.
        const logLines = state.log.keys.flatMap(
          (one) =>
            signed.signatures.find(({ name, keyId }) => one.name === name && one.keyId === keyId) ?? [],
        );
        const note = formatNote({ text: signed.text, signatures: [...logLines, own] });
        await folder.write(checkpoint.origin, note);
        this.#fault = undefined;
        state.kept = { note, checkpoint, timeS: Number(timeS) };
        this.#count(origin, 200);
        return { status: 200, body: signatureLine(own) };
      });
    } catch (error) {
      if (error instanceof TlogError) return refuse(400, error.message);
      // The disk may or may not contain the checkpoint. Both cases are safe, because the witness has not cosigned the checkpoint.
      this.#fault = `the checkpoint could not be kept: ${(error as Error).message}`;
      return { ...refuse(500, this.#fault), body: 'the checkpoint could not be kept\n' };
    }
  }

  #count(origin: string | undefined, status: number): void {
    const name = `${origin ?? ''}\n${status}`;
    const counted = this.#counts.get(name) ?? { origin: origin ?? '', status, count: 0 };
    this.#counts.set(name, counted);
    counted.count += 1;
  }
}

/** A log and its last cosigned checkpoint. The witness handles the log's requests one after another. */
class LogState {
  readonly log: WatchedLog;
  readonly quota: RequestQuota;
  kept: KeptCheckpoint | undefined;
  waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(log: WatchedLog, kept: KeptCheckpoint | undefined, nowMs: number) {
    this.log = log;
    this.kept = kept;
    this.quota = new RequestQuota(log.requestsPerDay, DAY_MS, nowMs);
  }

  inTurn<T>(run: () => Promise<T>): Promise<T> {
    this.waiting += 1;
    const turn = this.#last.then(run).finally(() => {
      this.waiting -= 1;
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
