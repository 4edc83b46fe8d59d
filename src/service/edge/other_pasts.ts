import { setTimeout as wait } from 'node:timers/promises';
import { intervalOf } from '../../log/past/last_of_each.js';
import {
  decodeAnswer,
  type NamedEntry,
  type PastAnswer,
  type ReceivedLine,
} from '../../log/past/past_answer.js';
import {
  encodeQuestion,
  type PastQuestion,
  QUESTION_NAMES_MAX,
  type RangeQuestion,
} from '../../log/past/past_question.js';
import type { AssetName } from '../../model/asset_map.js';
import type { OlderAnswer, OlderPrices, OlderRows } from '../../server/routes/older_prices.js';
import { type KeptVerifierOptions, NotVerified, verifyKept } from './kept_verifier.js';

/**
 * Asks another node of the cluster that is not in `tried`. Resolves with `busy` while too many questions are open, and with `undefined`
 * when no node is left. The bytes are `undefined` if the node did not answer. The bytes are not verified.
 */
export type AskPast = (
  question: Uint8Array,
  tried: readonly number[],
) => Promise<{ readonly node: number; readonly bytes: Uint8Array | undefined } | 'busy' | undefined>;

export interface OtherPastsOptions extends Omit<KeptVerifierOptions, 'turn'> {
  readonly ask: AskPast;
  /** Does work in turn with the other requests of this thread. */
  readonly inTurn: <T>(caller: string, work: () => Promise<T>) => Promise<T>;
  readonly nowMs: () => number;
  /** Called for each answer that is not authentic. */
  readonly onRefused: (reason: string) => void;
}

/** The time after which a request asks no further node. The last question may take longer. */
const ASKING_MS_MAX = 3_000;
const BUSY_POLL_MS = 100;

/** The state of the questions for a request. */
interface Asking {
  readonly endMs: number;
  /** The numbers of the nodes that must not be asked again. */
  readonly tried: number[];
}

type KeptAnswer = Extract<PastAnswer, { state: 'kept' }>;

/** Finds prices that are older than the past of this node at other nodes, and verifies them. */
export class OtherPasts implements OlderPrices {
  readonly #options: OtherPastsOptions;

  constructor(options: OtherPastsOptions) {
    this.#options = options;
  }

  async at(
    caller: string,
    names: readonly AssetName[],
    atNs: bigint,
  ): Promise<OlderAnswer<ReadonlyMap<AssetName, ReceivedLine>>> {
    const asking: Asking = { endMs: this.#options.nowMs() + ASKING_MS_MAX, tried: [] };
    const found = new Map<AssetName, ReceivedLine>();
    let left = names;
    /** The assets without an entry in the past of a node. That past may begin after their last signatures. */
    let unseen: AssetName[] = [];
    let hasGiven = false;
    while (left.length > 0) {
      const asked = left.slice(0, QUESTION_NAMES_MAX);
      const question = { about: 'instant', names: asked, atNs } as const;
      const answer = await this.#ask(question, asking, async (kept, node) => {
        const answered = asked.slice(0, readCount(kept.reached, asked.length));
        const entryOf = entriesByName(kept.entries, atNs);
        const entries = answered.map(entryOf);
        await this.#verify(caller, entries.filter(isPriced));
        return { node, answered, entries };
      });
      if (answer.given === undefined) return hasGiven && !answer.isBusy ? { given: found } : answer;
      hasGiven = true;
      const { node, answered, entries } = answer.given;
      for (const [i, name] of answered.entries()) {
        const entry = entries[i];
        if (entry === undefined) unseen.push(name);
        else if (isPriced(entry)) found.set(name, entry);
      }
      left = left.slice(answered.length);
      if (left.length > 0) continue;
      asking.tried.push(node);
      [left, unseen] = [unseen, []];
    }
    return { given: found };
  }

  range(caller: string, question: RangeQuestion): Promise<OlderAnswer<OlderRows>> {
    const asking: Asking = { endMs: this.#options.nowMs() + ASKING_MS_MAX, tried: [] };
    return this.#ask(question, asking, async ({ entries, reached: endNs }) => {
      const rows: ReceivedLine[] = [];
      // Verification takes many turns. Each turn decodes only the rows that it verifies.
      await this.#verify(caller, fittingRows(entries, question, endNs, rows));
      return { rows, endNs };
    });
  }

  /** Asks one node after another until a node gives an authentic answer. */
  async #ask<T>(
    question: PastQuestion,
    { endMs, tried }: Asking,
    read: (kept: KeptAnswer, node: number) => Promise<T>,
  ): Promise<OlderAnswer<T>> {
    const { ask, nowMs, onRefused } = this.#options;
    const bytes = encodeQuestion(question);
    let isBusy = false;
    let keptFromNs: bigint | undefined;
    while (nowMs() < endMs) {
      const given = await ask(bytes, tried);
      if (given === undefined) break;
      isBusy = given === 'busy';
      if (given !== 'busy') {
        try {
          const answer = given.bytes && decodeAnswer(given.bytes);
          isBusy = answer?.state === 'busy';
          if (answer?.state === 'kept') return { given: await read(answer, given.node) };
          if (answer?.state === 'gone') keptFromNs = earlierOf(keptFromNs, answer.keptFromNs, question);
        } catch (error) {
          // The decoders throw for bytes that no honest node sends.
          const { message } = error as Error;
          onRefused(`node ${given.node} answered with a past that is not authentic: ${message}`);
        }
        if (!isBusy) tried.push(given.node);
      }
      if (isBusy) await wait(BUSY_POLL_MS);
    }
    return { isBusy, keptFromNs };
  }

  #verify(caller: string, entries: Iterable<ReceivedLine>): Promise<void> {
    const { inTurn } = this.#options;
    return verifyKept(entries, { ...this.#options, turn: (work) => inTurn(caller, work) });
  }
}

/** Returns the earlier of two beginnings of a past. Ignores beginnings before the question, because no correct node reports one. */
function earlierOf(
  known: bigint | undefined,
  next: bigint | undefined,
  question: PastQuestion,
): bigint | undefined {
  const askedNs = question.about === 'instant' ? question.atNs : question.fromNs;
  if (next === undefined || next <= askedNs) return known;
  return known === undefined || next < known ? next : known;
}

function readCount(reached: bigint, countMax: number): number {
  if (reached < 1n || reached > BigInt(countMax)) throw new NotVerified('the number of assets is wrong');
  return Number(reached);
}

/** Returns a function that finds the entry of an asset; it returns `undefined` if the answer has no entry of the asset. */
function entriesByName(entries: Iterable<NamedEntry>, atNs: bigint) {
  const byName = new Map<string, NamedEntry[1]>();
  for (const [name, entry] of entries) {
    if (entry.timeNs > atNs || byName.has(keyOf(name)))
      throw new NotVerified(`an entry of ${name.symbol} does not fit the question`);
    byName.set(keyOf(name), entry);
  }
  return (name: AssetName) => byName.get(keyOf(name));
}

function keyOf({ symbol, signatureType }: AssetName): string {
  return `${signatureType} ${symbol}`;
}

function isPriced(entry: NamedEntry[1] | undefined): entry is ReceivedLine {
  return entry?.kind === 'priced';
}

/** Checks the times of a range's rows one by one, and adds the rows to `rows`. */
function* fittingRows(
  entries: Iterable<NamedEntry>,
  { name, fromNs, toNs, everyNs, rowsMax }: RangeQuestion,
  endNs: bigint,
  rows: ReceivedLine[],
): Iterable<ReceivedLine> {
  if (endNs > toNs || (endNs <= fromNs && endNs !== toNs))
    throw new NotVerified('the end of the range is wrong');
  let lastNs = -1n;
  for (const [of, entry] of entries) {
    const intervalNs = intervalOf(entry.timeNs, everyNs);
    const isIn = entry.timeNs >= fromNs && entry.timeNs < endNs && intervalNs > lastNs;
    if (keyOf(of) !== keyOf(name) || entry.kind !== 'priced' || !isIn || rows.length >= rowsMax)
      throw new NotVerified('a row does not fit the question');
    lastNs = intervalNs;
    rows.push(entry);
    yield entry;
  }
}
