/** How one kind of job runs on the calling thread and in a worker. */
export interface Kind<Job, Result> {
  /** The function in `worker.ts`. */
  readonly name: string;
  /**
   * The time of one job with full tables, on two shared cores and Node 20; of secp256k1 with the machine's library. With the one in the npm
   * package it is a third more, which changes little of how work is divided.
   */
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
  /** Why threads did not answer, once for each that tried. */
  readonly faults: unknown[] = [];
  /** Of all jobs, in their order. */
  readonly result: Promise<Result[]>;
  readonly #jobs: readonly Job[];
  readonly #results: Result[] = [];
  #done = 0;
  #settle!: { resolve(results: Result[]): void; reject(error: unknown): void };

  constructor(kind: Kind<Job, Result>, jobs: readonly Job[], rank: number) {
    this.kind = kind;
    this.#jobs = jobs;
    this.rank = rank;
    this.result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  /** The jobs that are not done. */
  get left(): readonly Job[] {
    return this.#jobs.slice(this.#done);
  }

  /** How long they take. */
  get micros(): number {
    return (this.#jobs.length - this.#done) * this.kind.jobMicros;
  }

  get isOver(): boolean {
    return this.#done === this.#jobs.length;
  }

  /** Does the next job on this thread, and more of them while it may go on. */
  doSome(mayGoOn: () => boolean): void {
    try {
      do this.add(this.kind.inline([this.#jobs[this.#done]!]));
      while (!this.isOver && mayGoOn());
    } catch (error) {
      this.fail(error);
    }
  }

  /** Takes the results of the next jobs. */
  add(results: readonly Result[]): void {
    for (const result of results) this.#results.push(result);
    this.#done += results.length;
    if (this.isOver) this.#settle.resolve(this.#results);
  }

  fail(error: unknown): void {
    this.#done = this.#jobs.length;
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
  doSome(mayGoOn: () => boolean): void {
    const at = this.#pieces.findIndex(isUntried);
    const piece = this.#pieces[at];
    if (piece === undefined) return;
    piece.doSome(mayGoOn);
    if (piece.isOver) this.#pieces.splice(at, 1);
  }

  takeAll(): Piece[] {
    return this.#pieces.splice(0);
  }
}

function isUntried({ faults }: Piece): boolean {
  return faults.length === 0;
}
