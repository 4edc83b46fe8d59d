import type { VerifyEd25519 } from './ed25519.js';
import type { LogPolicy, Witness } from './log_policy.js';
import { formatNote, type NoteSignature, parseNote } from './signed_note.js';
import {
  type PostToWitness,
  type ProveConsistency,
  WitnessLine,
  type WitnessResult,
} from './witness_line.js';

// The log's side of witnessing. A log makes one submitter, and gives it each new checkpoint:
//
//   const submitter = new WitnessSubmitter({ policy, post, prove, verify, nowMs, sleep, random });
//   const { note, isQuorum } = await submitter.submit(signedNote, signal, (note, isQuorum) => { … });
//
// `submit` asks all witnesses at once. It calls back with the note after every cosignature, and resolves when each witness has
// cosigned or refused, or when the signal aborts: at the end of the log's grace, or with its next checkpoint.

export interface SubmitterOptions {
  /** The policy of the log. The submitter sends requests only to witnesses with an address. */
  readonly policy: LogPolicy;
  readonly post: PostToWitness;
  readonly prove: ProveConsistency;
  readonly verify: VerifyEd25519;
  /** Returns the milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  /** Waits, at most until the signal aborts. Never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  /** Receives each result that is not a cosignature. */
  readonly onFault?: (witness: Witness, fault: WitnessFault) => void;
}

export type WitnessFault = Exclude<WitnessResult, { readonly kind: 'cosigned' }>;

/** A checkpoint with its current cosignatures. */
export interface Cosigned {
  /** The note: the log's signature, then the cosignatures in the order of the policy. */
  readonly note: string;
  /** True when the cosignatures satisfy the policy. */
  readonly isQuorum: boolean;
}

/** The current state of a witness. */
export interface WitnessState {
  readonly name: string;
  readonly url: string;
  /** The size of the last tree that the witness cosigned, according to its answers; `undefined` before the first answer. */
  readonly size: bigint | undefined;
  /** The time of the witness's newest cosignature, in UNIX seconds. */
  readonly timeS: bigint | undefined;
  /** The newest result, if this result is not a cosignature. */
  readonly fault: WitnessFault | undefined;
}

/** The shortest and the longest pause before another request to a witness without a usable answer. */
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 60_000;

/** Sends the checkpoints of a log to the witnesses of its policy. */
export class WitnessSubmitter {
  readonly #options: SubmitterOptions;
  readonly #lines: readonly PolicyWitness[];

  constructor(options: SubmitterOptions) {
    this.#options = options;
    const { post, prove, verify, policy } = options;
    this.#lines = policy.witnesses.flatMap((witness) =>
      witness.url === undefined
        ? []
        : [new PolicyWitness(new WitnessLine({ ...witness, url: witness.url }, post, prove, verify))],
    );
  }

  /** The witnesses that receive requests. */
  get witnesses(): readonly WitnessState[] {
    return this.#lines.map(({ state }) => state);
  }

  /**
   * Asks all witnesses to cosign a checkpoint. Only one call may run at a time.
   * @param onCosigned receives the note after each cosignature
   * @returns the final note. A fault of a witness does not reject the promise
   * @throws TlogError when the note is malformed
   */
  async submit(
    note: string,
    signal: AbortSignal,
    onCosigned: (cosigned: Cosigned) => void = () => {},
  ): Promise<Cosigned> {
    const { text, signatures } = parseNote(note);
    const cosignatures = new Map<string, NoteSignature>();
    const cosigned = (): Cosigned => {
      const lines = this.#lines.flatMap(({ name }) => cosignatures.get(name) ?? []);
      const isQuorum = this.#options.policy.isQuorum(new Set(cosignatures.keys()));
      return { note: formatNote({ text, signatures: [...signatures, ...lines] }), isQuorum };
    };
    await Promise.all(
      this.#lines.map(async (one) => {
        const signature = await this.#askUntilAnswered(one, note, signal);
        if (signature === undefined) return;
        cosignatures.set(one.name, signature);
        onCosigned(cosigned());
      }),
    );
    return cosigned();
  }

  /** Asks a witness until it cosigns or refuses. Pauses between the attempts, longer each time. */
  async #askUntilAnswered(
    one: PolicyWitness,
    note: string,
    signal: AbortSignal,
  ): Promise<NoteSignature | undefined> {
    const { nowMs, sleep, random, onFault } = this.#options;
    while (!signal.aborted) {
      // A pause continues in the next submission. A new checkpoint does not shorten the pause.
      await sleep(Math.max(0, one.askAtMs - nowMs()), signal);
      if (signal.aborted) break;
      const result = await one.ask(note, signal, (shareMs) => nowMs() + shareMs * (0.5 + random() / 2));
      if (result.kind === 'cosigned') return result.signature;
      // A request that the log itself aborted is not a fault of the witness.
      if (signal.aborted) break;
      onFault?.(one.line.witness, result);
      if (result.kind !== 'unavailable') break;
    }
    return undefined;
  }
}

/** A witness and the time of its next request. */
class PolicyWitness {
  readonly line: WitnessLine;
  /** The time of the earliest next request to this witness. */
  askAtMs = 0;
  #failures = 0;
  #timeS: bigint | undefined;
  #fault: WitnessFault | undefined;

  constructor(line: WitnessLine) {
    this.line = line;
  }

  get name(): string {
    return this.line.witness.name;
  }

  get state(): WitnessState {
    const { name, url } = this.line.witness;
    return { name, url, size: this.line.size, timeS: this.#timeS, fault: this.#fault };
  }

  /** @param after returns the time at the end of a pause of about this length */
  async ask(note: string, signal: AbortSignal, after: (ms: number) => number): Promise<WitnessResult> {
    const result = await this.line.ask(note, signal);
    if (result.kind === 'unavailable') {
      if (signal.aborted) return result;
      this.#failures += 1;
      const doubled = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** Math.min(this.#failures - 1, 16));
      const asked = Math.min(PAUSE_MS_MAX, 1_000 * (result.retryAfterS ?? 0));
      this.askAtMs = after(Math.max(2 * asked, doubled));
    } else this.#failures = 0;
    if (result.kind === 'cosigned') {
      this.#timeS = result.timeS;
      this.#fault = undefined;
    } else this.#fault = result;
    return result;
  }
}
