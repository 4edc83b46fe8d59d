import assert from 'node:assert/strict';
import { parseExactJson, writeExactJson } from '../../src/client/index.js';
import { REST_PATHS } from '../../src/wire/paths.js';
import { TOKEN } from '../load/config.js';
import { fetchOnce } from '../load/fetch_body.js';
import { eventually } from '../load/wait.js';
import { count, type Finding, NONE, SOME } from './check.js';
import type { ServedAggregate, ShownAggregate } from './signed_values.js';

/**
 * Compares the aggregates that readers were shown before a kill with the past of the service after it. The service shows an aggregate
 * before it is durable, so a kill may cost the newest ones. Their times must then be a hole: `/v1/prices/range` and `/v1/prices/at`
 * answer 410 with borders, and never with another aggregate.
 */
export class KeptPrices {
  /** The texts of the aggregates by symbol and time. */
  readonly #shown = new Map<string, Map<bigint, string>>();
  /** The compared aggregates by symbol and time, with the worst result. */
  readonly #results = new Map<string, Result>();

  /** Records aggregates that a reader received. */
  show(aggregates: readonly ShownAggregate[]): void {
    for (const { symbol, timeNs, text } of aggregates) {
      const shown = this.#shown.get(symbol) ?? new Map<bigint, string>();
      this.#shown.set(symbol, shown);
      if (!shown.has(timeNs)) shown.set(timeNs, text);
    }
  }

  /** The newest shown time. */
  get newestNs(): bigint {
    let newestNs = 0n;
    for (const shown of this.#shown.values())
      for (const timeNs of shown.keys()) if (timeNs > newestNs) newestNs = timeNs;
    return newestNs;
  }

  /** Compares all shown aggregates with a time from `fromNs` to before `toNs`. @throws Error for answers that no service may give */
  async compare(port: number, fromNs: bigint, toNs: bigint): Promise<void> {
    const symbols = this.#shown.keys();
    const compareNext = async () => {
      for (const symbol of symbols) await this.#compareAsset(port, symbol, fromNs, toNs);
    };
    await Promise.all(Array.from({ length: ASSETS_AT_ONCE }, compareNext));
  }

  async #compareAsset(port: number, symbol: string, fromNs: bigint, toNs: bigint): Promise<void> {
    const shown = this.#shown.get(symbol)!;
    const timesNs = [...shown.keys()].filter((timeNs) => timeNs >= fromNs && timeNs < toNs).sort(ascending);
    if (timesNs.length === 0) return;
    const newestNs = timesNs.at(-1)!;
    const range = await readRange(port, symbol, timesNs[0]!, newestNs + 1n);
    for (const timeNs of timesNs) {
      const text = shown.get(timeNs)!;
      let result = resultOf(timeNs, text, range);
      if (result !== 'kept' || timeNs === newestNs) {
        const instant = await readInstant(port, symbol, timeNs);
        result = worse(result, resultOf(timeNs, text, instant));
      }
      const name = `${symbol} ${timeNs}`;
      if (result === 'changed' || result === 'unmarked')
        process.stderr.write(`${name} is ${result}: ${text}; holes: ${writeExactJson(range.holes)}\n`);
      this.#results.set(name, worse(result, this.#results.get(name) ?? result));
    }
  }

  findings(): Finding[] {
    const results = [...this.#results.values()];
    const numberOf = (result: Result) => results.filter((one) => one === result).length;
    return [
      count('aggregates shown to a reader and compared with the past', results.length, SOME),
      count('  with another value', numberOf('changed'), NONE),
      count('  missing without a hole', numberOf('unmarked'), NONE),
      count('  in a hole of the past', numberOf('lost')),
    ];
  }
}

/** The comparison of an aggregate with an answer. `lost`: the time is in a hole. `unmarked`: the answer has neither the aggregate nor a hole. */
type Result = (typeof RESULTS)[number];

/** The results from the best to the worst. */
const RESULTS = ['kept', 'lost', 'unmarked', 'changed'] as const;

/** The answers of a service about the past of an asset. */
interface Kept {
  /** The aggregates by time. */
  readonly texts: Map<bigint, string>;
  /** The time ranges that the service has lost. Both times are included. */
  readonly holes: { readonly from: bigint; readonly to: bigint }[];
}

function resultOf(timeNs: bigint, text: string, { texts, holes }: Kept): Result {
  const kept = texts.get(timeNs);
  if (kept !== undefined) return kept === text ? 'kept' : 'changed';
  return holes.some(({ from, to }) => from <= timeNs && timeNs <= to) ? 'lost' : 'unmarked';
}

/** Joins the results of two answers about an aggregate. One that is lost for one answer must be lost for both. */
function worse(one: Result, other: Result): Result {
  if (one !== other && [one, other].includes('lost') && [one, other].includes('kept')) return 'unmarked';
  return RESULTS.indexOf(one) > RESULTS.indexOf(other) ? one : other;
}

/** The number of assets whose past is read at the same time. The service limits the requests of a token. */
const ASSETS_AT_ONCE = 8;
const ANSWERS_MAX = 10_000;

async function readRange(port: number, symbol: string, fromNs: bigint, toNs: bigint): Promise<Kept> {
  const kept: Kept = { texts: new Map(), holes: [] };
  let path: string | undefined = rangePath(symbol, fromNs, toNs);
  for (let answers = 0; path !== undefined; answers++) {
    assert(answers < ANSWERS_MAX, `the range of ${symbol} does not end`);
    const { status, body, link }: Answer = await ask(port, path);
    if (status === 200) for (const line of body.split('\n').filter(Boolean)) keep(kept, parseExactJson(line));
    const keptFrom: bigint | undefined = status === 200 ? undefined : keepHole(kept, path, status, body);
    const next: string | undefined = keptFrom === undefined ? undefined : rangePath(symbol, keptFrom, toNs);
    path = /^<(.+)>; rel="next"$/.exec(link ?? '')?.[1] ?? next;
  }
  return kept;
}

function rangePath(symbol: string, fromNs: bigint, toNs: bigint): string {
  return `${REST_PATHS.range}?asset=${symbol}&from=${fromNs}&to=${toNs}`;
}

async function readInstant(port: number, symbol: string, atNs: bigint): Promise<Kept> {
  const kept: Kept = { texts: new Map(), holes: [] };
  const path = `${REST_PATHS.at}?assets=${symbol}&timestamp=${atNs}`;
  const { status, body } = await ask(port, path);
  if (status === 200) keep(kept, (parseExactJson(body) as { data: Record<string, unknown> }).data[symbol]);
  else keepHole(kept, path, status, body);
  return kept;
}

function keep({ texts }: Kept, value: unknown): void {
  const aggregate = value as ServedAggregate;
  texts.set(aggregate.service_signed_price.timestamped_signature.timestamp, writeExactJson(aggregate));
}

/**
 * Keeps what an answer says of lost times. A process that was killed before its first commit has lost everything before the past begins.
 * @returns the beginning of the past, if the answer lies before it
 */
function keepHole({ holes }: Kept, path: string, status: number, body: string): bigint | undefined {
  assert([404, 410].includes(status), `${path}: ${status} ${body}`);
  const answer = parseExactJson(body) as { damaged?: Kept['holes'][number]; kept_from?: bigint };
  if (answer.damaged !== undefined) holes.push(answer.damaged);
  else if (answer.kept_from !== undefined) {
    holes.push({ from: 0n, to: answer.kept_from - 1n });
    return answer.kept_from;
  }
  return undefined;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly link: string | null;
}

/** Asks again while the past is not on disk. */
function ask(port: number, path: string): Promise<Answer> {
  return eventually(
    async () => {
      const response = await fetchOnce(`http://127.0.0.1:${port}${path}`, {
        Authorization: `Basic ${TOKEN}`,
      });
      const body = await response.text();
      return response.status !== 503 && { status: response.status, body, link: response.headers.get('link') };
    },
    { what: path },
  );
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}
