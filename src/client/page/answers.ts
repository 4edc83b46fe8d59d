import { parseExactJson } from '../index.js';
import type { NodesAnswer } from './node_log.js';

// Readers of the service's JSON answers. For an answer of another shape they throw an error that names the answer.

/** The prices of an interval, as doubles. Doubles are exact enough to draw. */
export interface ChartCandle {
  /** UNIX seconds at the start of the interval. */
  readonly time: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
}

const COLUMNS = ['t', 'o', 'h', 'l', 'c'] as const;

type AnswerFields = Readonly<Record<string, unknown>>;

/** Reads the candles of `/udf/history`. @throws Error with the service's own reason after a refusal. */
export function readCandles(text: string): readonly ChartCandle[] {
  const fields = objectOf(parseExactJson(text), 'history');
  if (fields['s'] === 'no_data') return [];
  if (fields['s'] !== 'ok') throw new Error(String(fields['errmsg'] ?? 'the history has no status'));
  return candlesOf(fields);
}

/** Reads the candles of `/v1/candles` by symbol. */
export function readCandlesBySymbol(text: string): ReadonlyMap<string, readonly ChartCandle[]> {
  const data = objectOf(objectOf(parseExactJson(text), 'candles')['data'], 'candles');
  return new Map(
    Object.entries(data).map(([symbol, columns]) => [symbol, candlesOf(objectOf(columns, 'candles'))]),
  );
}

function candlesOf(fields: AnswerFields): readonly ChartCandle[] {
  const [t, o, h, l, c] = COLUMNS.map((name) => fields[name] as readonly unknown[] | undefined);
  if (t === undefined || [o, h, l, c].some((column) => column?.length !== t.length))
    throw new Error('the columns of the history differ in length');
  return t.map((time, i) => {
    const [open, high, low, close] = [o, h, l, c].map((column) => Number(column![i]));
    return { time: Number(time), open: open!, high: high!, low: low!, close: close! };
  });
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
  const { d } = objectOf(parseExactJson(text), 'quotes');
  const bases = new Map<string, DayPrices>();
  for (const { n, s, v } of listOf(d, 'quotes')) {
    const { prev_close_price: base, lp: last } = (s === 'ok' ? v : {}) as AnswerFields;
    if (base === undefined || Number(base) === 0) continue;
    bases.set(String(n), { base: Number(base), last: last === undefined ? undefined : Number(last) });
  }
  return bases;
}

/** Reads the definition of each algorithm. */
export function readAlgorithms(text: string): ReadonlyMap<string, string> {
  const { data } = objectOf(parseExactJson(text), 'algorithms');
  return new Map(
    listOf(data, 'algorithms').map(({ type, definition }) => [String(type), String(definition)]),
  );
}

/** Reads the nodes from `/v1/nodes`. */
export function readNodes(text: string): NodesAnswer {
  const { self, nodes } = objectOf(objectOf(parseExactJson(text), 'nodes')['data'], 'nodes');
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
