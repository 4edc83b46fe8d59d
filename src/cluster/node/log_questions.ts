import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { budgetWords, SharedBudget } from '../../model/budget.js';
import { NODE_MAX, type PublicLogFacts } from '../../model/node_list.js';
import { NS_PER_SECOND } from '../../model/time.js';
import type { FilePart, LedgerReader } from '../../publiclog/ledger/ledger_reader.js';
import { WAITING_RECORDS_MAX } from '../../publiclog/ledger/waiting_records.js';
import { RECORD_BYTES } from '../../tlog/price_record.js';
import type { Bus } from '../bus.js';
import { askerOf, questionTopic } from '../subjects.js';
import { readJson } from '../unreadable.js';
import type { OtherLogFiles } from './other_log_files.js';

export interface LogQuestionsOptions {
  readonly bus: Pick<Bus, 'ask' | 'answer'>;
  /** The number of this node. */
  readonly node: number;
  /** Returns the numbers of the present aggregators, without this node. */
  readonly aggregators: () => readonly number[];
  /** Returns the UNIX time in nanoseconds. */
  readonly nowNs: () => bigint;
}

/** The log of an answering node. */
export interface AnsweredLog {
  /** Returns a part of a public file; `undefined` without such a file. */
  readonly publicPart: LedgerReader['publicPart'];
  readonly facts: () => PublicLogFacts | undefined;
}

/** The path of a question about the facts of the log, which are in no file. */
const FACTS_PATH = 'facts';
const FACTS_BYTES_MAX = 256 * 1024;
const PATH_LENGTH_MAX = 256;
/** The largest part of a file in one answer. NATS servers accept messages of 1 MiB. */
const PAGE_BYTES_MAX = 512 * 1024;
/** The smallest part of a file that is not its end. Without this limit, a hostile node could send a file in millions of answers. */
const PAGE_BYTES_MIN = 64 * 1024;
/** The largest size of a file, which is a file with the records of a batch. */
const FILE_BYTES_MAX = WAITING_RECORDS_MAX * RECORD_BYTES;
const ANSWER_MS_MAX = 3_000;
const TURN_NS = 60n * NS_PER_SECOND;
/** The cost of an answer in addition to its bytes. */
const ANSWER_COST = 4_096;
/** The rate at which a node asks. */
const ASKED_BYTES_PER_SECOND = 8 * 1024 ** 2;
/** The budget of each asking node, which is more than a correct node uses. */
const ANSWERED = { perSecond: 2 * ASKED_BYTES_PER_SECOND, burst: 4 * ASKED_BYTES_PER_SECOND };
/** The largest number of files that are read at the same time for one asking node. An honest node asks one question at a time. */
const READS_MAX = 2;
const OFFSET_BYTES = 4;
const NO_FILE = new Uint8Array(0);

const text = z.string().max(FACTS_BYTES_MAX);
const logFacts = z.object({ origin: text, vkey: text, policy: text, maxDelayS: z.int().positive() });

/**
 * Asks the aggregators for files of the public log, and answers other nodes. A question has an offset and a path. An answer has the file's
 * size and its bytes from the offset on; for a missing file, it has no bytes.
 */
export class LogQuestions implements OtherLogFiles {
  readonly #options: LogQuestionsOptions;

  constructor(options: LogQuestionsOptions) {
    this.#options = options;
  }

  /** Starts to answer the questions of other nodes. */
  answer(log: AnsweredLog): void {
    const { bus, node, nowNs } = this.#options;
    const words = budgetWords(NODE_MAX + 1);
    const reads = new Map<number, number>();
    bus.answer(questionTopic('log', '*', node), async (question, topic) => {
      const asker = askerOf(topic);
      const budget = new SharedBudget(words, asker, ANSWERED, () => {});
      const { offset, path } = readQuestion(question);
      // The budget is checked before a file is read, so refused questions cost no reading.
      const readsOfAsker = reads.get(asker) ?? 0;
      if (readsOfAsker >= READS_MAX || !budget.take(ANSWER_COST, nowNs()))
        throw new Error(`node ${asker} asks too much`);
      reads.set(asker, readsOfAsker + 1);
      try {
        const part =
          path === FACTS_PATH ? factsPart(log.facts()) : await log.publicPart(path, offset, PAGE_BYTES_MAX);
        budget.owe(part?.bytes.length ?? 0, nowNs());
        return part === undefined ? NO_FILE : formatAnswer(part);
      } finally {
        reads.set(asker, reads.get(asker)! - 1);
      }
    });
  }

  async facts(): Promise<PublicLogFacts | undefined> {
    const bytes = await this.read(FACTS_PATH);
    return bytes && readJson(logFacts, bytes, FACTS_BYTES_MAX);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    let failure = new Error('no aggregator is present');
    let isMissing = false;
    for (const node of this.#inTurn()) {
      try {
        const file = await this.#readFrom(node, path);
        if (file !== undefined) return file;
        isMissing = true;
      } catch (error) {
        failure = error as Error;
      }
    }
    if (isMissing) return undefined;
    throw failure;
  }

  /** Returns the aggregators. The first aggregator changes every minute, so a node with false files delays a copy by a minute at most. */
  #inTurn(): readonly number[] {
    const { aggregators, nowNs } = this.#options;
    const nodes = aggregators();
    const first = Number((nowNs() / TURN_NS) % BigInt(Math.max(1, nodes.length)));
    return [...nodes.slice(first), ...nodes.slice(0, first)];
  }

  async #readFrom(node: number, path: string): Promise<Uint8Array | undefined> {
    const pages: Uint8Array[] = [];
    for (let offset = 0; ; ) {
      const { size, page } = readAnswer(await this.#ask(node, formatQuestion(offset, path)));
      if (size === undefined) return undefined;
      pages.push(page);
      offset += page.length;
      if (size > FILE_BYTES_MAX || offset > size || (page.length < PAGE_BYTES_MIN && offset < size))
        throw new Error(`node ${node} sent an invalid part of ${path}`);
      if (offset === size) return Buffer.concat(pages);
    }
  }

  async #ask(to: number, question: Uint8Array): Promise<Uint8Array> {
    const { bus, node } = this.#options;
    const answer = await bus.ask(questionTopic('log', node, to), question, ANSWER_MS_MAX);
    await wait(((answer.length + ANSWER_COST) * 1_000) / ASKED_BYTES_PER_SECOND);
    return answer;
  }
}

function formatQuestion(offset: number, path: string): Uint8Array {
  const question = Buffer.alloc(OFFSET_BYTES + path.length);
  question.writeUInt32BE(offset);
  question.write(path, OFFSET_BYTES, 'latin1');
  return question;
}

/** @throws RangeError for bytes that are not a question */
function readQuestion(bytes: Uint8Array): { readonly offset: number; readonly path: string } {
  if (bytes.length <= OFFSET_BYTES || bytes.length > OFFSET_BYTES + PATH_LENGTH_MAX)
    throw new RangeError('the message is not a question about the public log');
  const question = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { offset: question.readUInt32BE(), path: question.toString('latin1', OFFSET_BYTES) };
}

function readAnswer(bytes: Uint8Array): { readonly size: number | undefined; readonly page: Uint8Array } {
  if (bytes.length < OFFSET_BYTES) return { size: undefined, page: bytes };
  const size = Buffer.from(bytes.buffer, bytes.byteOffset, OFFSET_BYTES).readUInt32BE();
  return { size, page: bytes.subarray(OFFSET_BYTES) };
}

function formatAnswer({ size, bytes }: FilePart): Uint8Array {
  const answer = Buffer.alloc(OFFSET_BYTES + bytes.length);
  answer.writeUInt32BE(size);
  answer.set(bytes, OFFSET_BYTES);
  return answer;
}

function factsPart(facts: PublicLogFacts | undefined): FilePart | undefined {
  const bytes = facts && Buffer.from(JSON.stringify(facts));
  return bytes && { size: bytes.length, bytes };
}
