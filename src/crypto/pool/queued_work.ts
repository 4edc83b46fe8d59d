/** The operations on a list: count its items, take a part, and join lists. */
export interface ListForm<List> {
  count(list: List): number;
  part(list: List, start: number, end: number): List;
  join(lists: readonly List[]): List;
}

export function arrayForm<Item>(): ListForm<Item[]> {
  return {
    count: (list) => list.length,
    part: (list, start, end) => (start === 0 && end === list.length ? list : list.slice(start, end)),
    join: (lists) => (lists.length === 1 ? lists[0]! : (lists.flat() as Item[])),
  };
}

/** Treats bytes as a list of items of `size` bytes each. */
export function bytesForm(size: number): ListForm<Uint8Array> {
  return {
    count: (list) => list.length / size,
    part: (list, start, end) => list.subarray(start * size, end * size),
    join: (lists) => (lists.length === 1 ? lists[0]! : Buffer.concat(lists)),
  };
}

/** A kind of job. The kind defines how its jobs run on the calling thread and in a worker. */
export interface Kind<Jobs, Results> {
  /** The name of the function in `worker.ts`. */
  readonly name: string;
  /**
   * The time of one job, in µs, on two shared cores with Node 20. Jobs that can use the machine's libsecp256k1 were measured with
   * it.
   */
  readonly jobMicros: number;
  /** The number of jobs to do together while other work waits. Together, jobs may take less time than one by one. */
  readonly atOnce: number;
  readonly jobs: ListForm<Jobs>;
  readonly results: ListForm<Results>;
  inline(jobs: Jobs): Results;
  encode(jobs: Jobs): Uint8Array;
  decode(answer: Uint8Array): Results;
}

/** A batch, or a part of a large batch. Any free thread does the jobs of a piece, in order. */
export class QueuedWork<Jobs = unknown, Results = unknown> {
  readonly kind: Kind<Jobs, Results>;
  /** The rank. The waiting piece with the lowest rank is next. Pieces with equal ranks keep their order. */
  readonly rank: number;
  /** The errors of threads that failed on this piece, one for each thread. */
  readonly faults: unknown[] = [];
  /** The results of all jobs, in their order. */
  readonly result: Promise<Results>;
  readonly #jobs: Jobs;
  readonly #count: number;
  readonly #results: Results[] = [];
  #done = 0;
  #isSettled = false;
  readonly #onSettled: (count: number) => void;
  #resolve!: (results: Results) => void;
  #reject!: (error: unknown) => void;

  /** @param onSettled called with the number of the piece's jobs, before `result` settles */
  constructor(
    kind: Kind<Jobs, Results>,
    jobs: Jobs,
    rank: number,
    onSettled: (count: number) => void = () => {},
  ) {
    this.kind = kind;
    this.#jobs = jobs;
    this.#count = kind.jobs.count(jobs);
    this.rank = rank;
    this.#onSettled = onSettled;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** The jobs that are not done yet. */
  get left(): Jobs {
    return this.kind.jobs.part(this.#jobs, this.#done, this.#count);
  }

  /** The number of jobs that are not done yet. */
  get leftCount(): number {
    return this.#count - this.#done;
  }

  /** The time, in µs, that the remaining jobs take. */
  get micros(): number {
    return this.leftCount * this.kind.jobMicros;
  }

  get isOver(): boolean {
    return this.#done === this.#count;
  }

  /** Does the next jobs on this thread, and continues while `mayGoOn` returns true. */
  doSome(mayGoOn: () => boolean): void {
    const { kind } = this;
    try {
      do {
        const end = Math.min(this.#done + kind.atOnce, this.#count);
        this.add(kind.inline(kind.jobs.part(this.#jobs, this.#done, end)));
      } while (!this.isOver && mayGoOn());
    } catch (error) {
      this.fail(error);
    }
  }

  /** Adds the results of the next jobs. */
  add(results: Results): void {
    const { kind } = this;
    this.#results.push(results);
    const done = this.#done + kind.results.count(results);
    const all = done === this.#count ? kind.results.join(this.#results) : undefined;
    this.#done = done;
    if (all === undefined) return;
    this.#isSettled = true;
    this.#onSettled(done);
    this.#resolve(all);
  }

  fail(error: unknown): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#done = this.#count;
    this.#onSettled(this.#count);
    this.#reject(error);
  }
}

/** Joins the remaining jobs of several pieces of one kind. */
export function joinedJobs(pieces: readonly QueuedWork[]): unknown {
  return pieces[0]!.kind.jobs.join(pieces.map(({ left }) => left));
}

/** Gives each piece its part of the results of the jobs that {@link joinedJobs} joined. */
export function giveOut(pieces: readonly QueuedWork[], results: unknown): void {
  let at = 0;
  for (const piece of pieces) {
    const end = at + piece.leftCount;
    piece.add(piece.kind.results.part(results, at, end));
    at = end;
  }
}

/** Does all remaining jobs of several pieces of one kind on this thread. */
export function doTogether(pieces: readonly QueuedWork[]): void {
  try {
    giveOut(pieces, pieces[0]!.kind.inline(joinedJobs(pieces)));
  } catch (error) {
    for (const piece of pieces) piece.fail(error);
  }
}

/** The pieces that wait for a thread, by rank. */
export class WorkQueue {
  readonly #pieces: QueuedWork[] = [];

  get size(): number {
    return this.#pieces.length;
  }

  /** The time, in µs, that all waiting work takes. */
  get micros(): number {
    return this.#pieces.reduce((sum, piece) => sum + piece.micros, 0);
  }

  /** True while at least one waiting piece has not failed on any thread. */
  get hasUntried(): boolean {
    return this.#pieces.some(isUntried);
  }

  add(piece: QueuedWork): void {
    const later = this.#pieces.findIndex(({ rank }) => rank > piece.rank);
    if (later < 0) this.#pieces.push(piece);
    else this.#pieces.splice(later, 0, piece);
  }

  /**
   * Takes the next piece, and the following pieces of its kind while their total work is at most `microsMax`. Never combines a
   * piece that failed on a thread with other pieces.
   */
  takeTogether(microsMax: number): QueuedWork[] {
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

  /**
   * Does some jobs of the next piece on this thread. Skips a piece that failed on a thread, because this thread could hang too.
   */
  doSome(mayGoOn: () => boolean): void {
    const at = this.#pieces.findIndex(isUntried);
    const piece = this.#pieces[at];
    if (piece === undefined) return;
    piece.doSome(mayGoOn);
    if (piece.isOver) this.#pieces.splice(at, 1);
  }

  takeAll(): QueuedWork[] {
    return this.#pieces.splice(0);
  }
}

function isUntried({ faults }: QueuedWork): boolean {
  return faults.length === 0;
}
