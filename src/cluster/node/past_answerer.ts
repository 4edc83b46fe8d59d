import { intervalOf, LastOfEach } from '../../log/past/last_of_each.js';
import { LostRange, RangeRemoved } from '../../log/past/lost_range.js';
import { AnswerLines, goneAnswer, shortAnswer } from '../../log/past/past_answer.js';
import type { LineEntry, PastEntry } from '../../log/past/past_entry.js';
import { decodeQuestion, type InstantQuestion, type RangeQuestion } from '../../log/past/past_question.js';
import type { PastReader } from '../../log/past/past_reader.js';
import type { AssetName } from '../../model/asset_map.js';
import { type Budget, budgetWords, SharedBudget } from '../../model/budget.js';
import { NODE_MAX } from '../../model/node_list.js';
import type { PacedTurns } from '../../model/paced_turns.js';
import type { Bus } from '../bus.js';
import { askerOf, questionTopic } from '../subjects.js';

export interface PastAnswererOptions {
  readonly bus: Pick<Bus, 'answer'>;
  /** The number of this node. */
  readonly node: number;
  readonly past: Pick<PastReader, 'keptFrom' | 'inForce' | 'gapAt' | 'blocks'>;
  /** The turns in which this thread may read the past. */
  readonly turns: PacedTurns;
  /** Waits until the disk has everything that was signed for an asset up to a time. @returns false after a timeout */
  readonly isOnDisk: (name: AssetName, atNs: bigint) => Promise<boolean>;
  readonly onDamage: (reason: string) => void;
  readonly nowNs: () => bigint;
  readonly nowMs: () => number;
}

/** The largest number of questions that are answered at the same time: of one node, and of all nodes. */
const NODE_QUESTIONS_MAX = 4;
const QUESTIONS_MAX = 16;
/** The size of entries at which an answer ends. */
const ENTRIES_BYTES = 512 * 1024;
/** The time after which an answer ends with the entries that it has. The asking node waits slightly longer. */
const ANSWER_MS = 700;
/** The number of entries that a node's questions may read per second. */
const ENTRIES_RATE = { perSecond: 50_000, burst: 50_000 };
/** The longest work in one turn. */
const TURN_MS = 2;

/**
 * Answers other nodes' questions about aggregates that are older than their own past. An answer uses only this node's own past, so no
 * question is passed on. Each asking node has a budget; all nodes share the turns.
 */
export class PastAnswerer {
  readonly #options: PastAnswererOptions;
  readonly #budgets = new Map<number, Budget>();
  readonly #words = budgetWords(NODE_MAX + 1);
  readonly #askedBy = new Map<number, number>();
  #asked = 0;
  readonly #end: () => void;

  constructor(options: PastAnswererOptions) {
    this.#options = options;
    const { bus, node } = options;
    this.#end = bus.answer(questionTopic('past', '*', node), (bytes, topic) =>
      this.answer(askerOf(topic), bytes),
    );
  }

  close(): void {
    this.#end();
  }

  /** @param asker the number of the asking node, as verified by the NATS servers */
  async answer(asker: number, bytes: Uint8Array): Promise<Buffer> {
    const { nowNs } = this.#options;
    const askedBy = this.#askedBy.get(asker) ?? 0;
    const budget = this.#budgetOf(asker);
    if (budget === undefined) return shortAnswer('failed');
    if (askedBy >= NODE_QUESTIONS_MAX || this.#asked >= QUESTIONS_MAX || !budget.has(1, nowNs()))
      return shortAnswer('busy');
    this.#countQuestions(asker, 1);
    try {
      const question = decodeQuestion(bytes);
      const work = new AnswerWork(this.#options, asker, (entries) => budget.owe(entries, nowNs()));
      return await (question.about === 'instant' ? work.instant(question) : work.range(question));
    } catch (error) {
      if (error instanceof RangeRemoved) return goneAnswer(await this.#options.past.keptFrom());
      if (error instanceof LostRange && error.damage !== undefined) this.#options.onDamage(error.damage);
      return shortAnswer('failed');
    } finally {
      this.#countQuestions(asker, -1);
    }
  }

  #budgetOf(asker: number): Budget | undefined {
    if (!(Number.isInteger(asker) && asker >= 1 && asker <= NODE_MAX)) return undefined;
    let budget = this.#budgets.get(asker);
    if (budget === undefined) {
      budget = new SharedBudget(this.#words, asker, ENTRIES_RATE, () => {});
      this.#budgets.set(asker, budget);
    }
    return budget;
  }

  #countQuestions(asker: number, more: number): void {
    this.#asked += more;
    this.#askedBy.set(asker, (this.#askedBy.get(asker) ?? 0) + more);
  }
}

/** The work for one answer. */
class AnswerWork {
  readonly #options: PastAnswererOptions;
  readonly #asker: string;
  readonly #spend: (entries: number) => void;
  readonly #lines = new AnswerLines();
  readonly #endMs: number;

  constructor(options: PastAnswererOptions, asker: number, spend: (entries: number) => void) {
    this.#options = options;
    this.#asker = `node ${asker}`;
    this.#spend = spend;
    this.#endMs = options.nowMs() + ANSWER_MS;
  }

  async instant({ names, atNs }: InstantQuestion): Promise<Buffer> {
    const { past, isOnDisk } = this.#options;
    const keptFromNs = await past.keptFrom();
    if (keptFromNs === undefined || keptFromNs > atNs) return goneAnswer(keptFromNs);
    let answered = 0;
    for (const name of names) {
      if (answered > 0 && this.#isFull) break;
      if (!(await isOnDisk(name, atNs))) return shortAnswer('failed');
      const entry = await this.#inTurn(() => past.inForce(name, atNs));
      if (entry !== undefined) this.#lines.add(name, entry);
      this.#spend(1);
      answered++;
    }
    return this.#lines.take(BigInt(answered));
  }

  async range(question: RangeQuestion): Promise<Buffer> {
    const { past, isOnDisk } = this.#options;
    const { name, fromNs, toNs } = question;
    const keptFromNs = await past.keptFrom();
    if (keptFromNs === undefined || keptFromNs > fromNs) return goneAnswer(keptFromNs);
    if (!(await isOnDisk(name, toNs))) return shortAnswer('failed');
    if ((await this.#inTurn(() => past.gapAt(name, fromNs))) !== undefined) return shortAnswer('failed');
    const endNs = await this.#rows(question);
    // Without progress, the asking node would repeat the same question.
    return endNs > fromNs || endNs === toNs ? this.#lines.take(endNs) : shortAnswer('failed');
  }

  /** Adds the rows of a range. @returns the end of the answered part of the range */
  async #rows({ name, fromNs, toNs, everyNs, withInputs, rowsMax }: RangeQuestion): Promise<bigint> {
    const last = new LastOfEach(everyNs);
    const rows = this.#entries(name, { fromNs, toNs }, withInputs);
    /** The number of intervals with rows or, without intervals, the number of rows. */
    let intervals = 0;
    let intervalNs: bigint | undefined;
    let endNs: bigint | undefined;
    const take = (entry: LineEntry): void => {
      const nextNs = intervalOf(entry.timeNs, everyNs);
      const isNew = nextNs !== intervalNs;
      const mayEnd = isNew ? intervals > 0 : intervals > 1;
      if (mayEnd && (this.#isFull || (isNew && intervals >= rowsMax))) endNs = nextNs;
      else if (this.#isOver) endNs = fromNs;
      if (endNs !== undefined) return;
      if (isNew) intervals++;
      intervalNs = nextNs;
      const chosen = last.add(entry);
      if (chosen !== undefined) this.#lines.add(name, chosen, withInputs);
    };
    /** Adds rows during one turn. @returns false at the end */
    const fill = async (): Promise<boolean> => {
      const turnEndMs = this.#options.nowMs() + TURN_MS;
      let read = 0;
      while (endNs === undefined && this.#options.nowMs() < turnEndMs) {
        const { value: entry } = await rows.next();
        if (entry === undefined) break;
        read++;
        if (entry.kind === 'gap') endNs = intervalOf(entry.timeNs, everyNs);
        else if (entry.kind === 'priced') take(entry);
      }
      this.#spend(read);
      return read > 0 && endNs === undefined;
    };
    try {
      while (await this.#inTurn(fill));
    } catch (error) {
      if (!(error instanceof LostRange)) throw error;
      if (error.damage !== undefined) this.#options.onDamage(error.damage);
      endNs = intervalOf(error.firstNs, everyNs);
    }
    const held = last.end();
    if (held !== undefined && (endNs === undefined || held.timeNs < endNs))
      this.#lines.add(name, held, withInputs);
    return endNs ?? toNs;
  }

  async *#entries(
    name: AssetName,
    range: Pick<RangeQuestion, 'fromNs' | 'toNs'>,
    withInputs: boolean,
  ): AsyncGenerator<PastEntry, undefined> {
    for await (const block of this.#options.past.blocks(name, range, withInputs)) yield* block.entries();
    return undefined;
  }

  /** True when the answer must end at the next possible row. */
  get #isFull(): boolean {
    return this.#lines.bytes >= ENTRIES_BYTES || this.#options.nowMs() >= this.#endMs;
  }

  /** True when the answer must end even in the middle of an interval. */
  get #isOver(): boolean {
    return this.#options.nowMs() >= this.#endMs + ANSWER_MS;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.turns.run(this.#asker, work);
  }
}
