import { parseForeignJson } from '../verify/foreign_json.js';
import type { NodesAnswer } from './node_log.js';

// Readers of the service's JSON answers. For an answer of another shape they throw an error that names the answer.

/** Five columns of equal length, with times in UNIX seconds. */
export interface CandleAnswer {
  readonly t: readonly number[];
  readonly o: readonly number[];
  readonly h: readonly number[];
  readonly l: readonly number[];
  readonly c: readonly number[];
}

const COLUMNS = ['t', 'o', 'h', 'l', 'c'] as const;
const NO_CANDLES: CandleAnswer = { t: [], o: [], h: [], l: [], c: [] };

type AnswerFields = Readonly<Record<string, unknown>>;

/** Reads the candles of `/udf/history`. @throws Error with the service's own reason after a refusal. */
export function readCandles(text: string): CandleAnswer {
  const fields = objectOf(parseForeignJson(text), 'history');
  if (fields['s'] === 'no_data') return NO_CANDLES;
  if (fields['s'] !== 'ok') throw new Error(String(fields['errmsg'] ?? 'the history has no status'));
  return columnsOf(fields);
}

/** Reads the candles of `/v1/candles` by symbol. */
export function readCandlesBySymbol(text: string): ReadonlyMap<string, CandleAnswer> {
  const data = objectOf(objectOf(parseForeignJson(text), 'candles')['data'], 'candles');
  return new Map(
    Object.entries(data).map(([symbol, columns]) => [symbol, columnsOf(objectOf(columns, 'candles'))]),
  );
}

function columnsOf(fields: AnswerFields): CandleAnswer {
  const [length, ...others] = COLUMNS.map((name) => (fields[name] as unknown[] | undefined)?.length);
  if (length === undefined || others.some((other) => other !== length))
    throw new Error('the columns of the history differ in length');
  return fields as unknown as CandleAnswer;
}

/** The prices of a symbol in `/udf/quotes`, which are not signed. */
export interface DayPrices {
  /** The price from which the symbol's change counts. */
  readonly base: number;
  /** The last price when the service answered. */
  readonly last: number | undefined;
}

/** Reads from `/udf/quotes` the price from which each symbol's change counts, and its last price. */
export function readBasePrices(text: string): ReadonlyMap<string, DayPrices> {
  const { d } = objectOf(parseForeignJson(text), 'quotes');
  const bases = new Map<string, DayPrices>();
  for (const { n, s, v } of listOf(d, 'quotes')) {
    const { prev_close_price: base, lp: last } = (s === 'ok' ? v : {}) as AnswerFields;
    if (typeof base !== 'number' || base === 0) continue;
    bases.set(String(n), { base, last: typeof last === 'number' ? last : undefined });
  }
  return bases;
}

/** Reads the definition of each algorithm. */
export function readAlgorithms(text: string): ReadonlyMap<string, string> {
  const { data } = objectOf(parseForeignJson(text), 'algorithms');
  return new Map(
    listOf(data, 'algorithms').map(({ type, definition }) => [String(type), String(definition)]),
  );
}

/** Reads the nodes from `/v1/nodes`. */
export function readNodes(text: string): NodesAnswer {
  const { self, nodes } = objectOf(objectOf(parseForeignJson(text), 'nodes')['data'], 'nodes');
  return {
    self: Number(self),
    nodes: listOf(nodes, 'nodes').map(({ node, name, role }) => ({
      node: Number(node),
      name: String(name),
      role: String(role),
    })),
  };
}

function objectOf(value: unknown, name: string): AnswerFields {
  if (typeof value !== 'object' || value === null) throw new Error(`the ${name} is not an object`);
  return value as AnswerFields;
}

function listOf(value: unknown, name: string): readonly AnswerFields[] {
  if (!Array.isArray(value)) throw new Error(`the ${name} is not a list`);
  return value.map((entry) => objectOf(entry, `entry of the ${name}`));
}
