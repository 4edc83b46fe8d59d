/** How one kind of job runs on the calling thread and in a worker. */
export interface Kind<Job, Result> {
  /** The function in `worker.ts`. */
  readonly name: string;
  /** The time of one job with full tables, on two shared cores and Node 20. */
  readonly jobMicros: number;
  inline(jobs: readonly Job[]): Result[];
  encode(jobs: readonly Job[]): Uint8Array;
  decode(answer: Uint8Array): Result[];
}

/** A batch, or a part of a large one: its jobs are done from the first to the last, by whom has time for them. */
export class Piece<Job = unknown, Result = unknown> {
  readonly kind: Kind<Job, Result>;
  /** Of the pieces that wait the one with the lowest is next, and of equal ones the first. */
  readonly rank: number;
  /** The jobs that are not done. */
  left: readonly Job[];
  /** Why threads did not answer, once for each that tried. */
  readonly faults: unknown[] = [];
  /** Of all jobs, in their order. */
  readonly result: Promise<Result[]>;
  readonly #results: Result[] = [];
  #settle!: { resolve(results: Result[]): void; reject(error: unknown): void };

  constructor(kind: Kind<Job, Result>, jobs: readonly Job[], rank: number) {
    this.kind = kind;
    this.left = jobs;
    this.rank = rank;
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  get micros(): number {
    return this.left.length * this.kind.jobMicros;
  }

  /** Does that many jobs on this thread. */
  doSome(count: number): void {
    try {
      this.add(this.kind.inline(this.left.slice(0, count)));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Takes the results of the next jobs. */
  add(results: readonly Result[]): void {
    for (const result of results) this.#results.push(result);
    this.left = this.left.slice(results.length);
    if (this.left.length === 0) this.#settle.resolve(this.#results);
  }

  fail(error: unknown): void {
    this.left = [];
    this.#settle.reject(error);
  }
}

/** The pieces that wait for a thread, by rank. */
export class PieceQueue {
  readonly #pieces: Piece[] = [];

  get size(): number {
    return this.#pieces.length;
  }

  /** The time of all that waits. */
  get micros(): number {
    return this.#pieces.reduce((sum, piece) => sum + piece.micros, 0);
  }

  /** Whether a piece waits with which no thread failed. */
  get hasUntried(): boolean {
    return this.#pieces.some(isUntried);
  }

  add(piece: Piece): void {
    const later = this.#pieces.findIndex(({ rank }) => rank > piece.rank);
    if (later < 0) this.#pieces.push(piece);
    else this.#pieces.splice(later, 0, piece);
  }

  /**
   * Takes the next piece, and those of its kind that follow it as long as all are no more than `microsMax`. One with which
   * a thread failed goes alone.
   */
  takeTogether(microsMax: number): Piece[] {
    const first = this.#pieces.shift()!;
    const taken = [first];
    if (!isUntried(first)) return taken;
    let { micros } = first;
    for (;;) {
      const next = this.#pieces[0];
      if (next?.kind !== first.kind || !isUntried(next) || micros + next.micros > microsMax) return taken;
      taken.push(next);
      micros += next.micros;
      this.#pieces.shift();
    }
  }

  /** Does some of the next piece on this thread, unless a thread failed with it: this one could hang too. */
  doSome(microsMax: number): void {
    const at = this.#pieces.findIndex(isUntried);
    const piece = this.#pieces[at];
    if (piece === undefined) return;
    piece.doSome(Math.max(1, Math.floor(microsMax / piece.kind.jobMicros)));
    if (piece.left.length === 0) this.#pieces.splice(at, 1);
  }

  takeAll(): Piece[] {
    return this.#pieces.splice(0);
  }
}

function isUntried({ faults }: Piece): boolean {
  return faults.length === 0;
}
