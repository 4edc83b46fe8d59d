import { z } from 'zod';
import { parseDurationNs } from '../../config/quantity.js';
import type { TimeRange } from '../../log/past/entry_sequence.js';
import { intervalOf } from '../../log/past/last_of_each.js';
import { LostRange } from '../../log/past/lost_range.js';
import { priceOf } from '../../log/past/past_entry.js';
import type { PastReader } from '../../log/past/past_reader.js';
import { fitsDecimal } from '../../log/records/parquet_rows.js';
import { ROW_DETAILS, type RowDetail } from '../../log/records/row_columns.js';
import { ROW_FORMATS, type RowFormat } from '../../log/records/row_writer.js';
import type { SignatureType } from '../../model/asset.js';
import { NS_PER_MS } from '../../model/time.js';
import { listUnknown } from '../../wire/asset_id.js';
import { REST_PATHS } from '../../wire/paths.js';
import type { FindAsset } from '../rest/asked_assets.js';
import { assetParameter, signatureTypeParameter, unixNanoseconds } from '../rest/parameters.js';
import { type Route, type RouteError, tokenRoute } from '../rest/route.js';
import type { StreamedAnswer } from '../rest/route_result.js';
import { notGiven, type OlderPrices, type OlderRows } from './older_prices.js';
import type { PastAccess, PastAccessOptions, PastTurn } from './past_access.js';
import { rangePage } from './range_page.js';
import { rowParts } from './range_rows.js';
import { rangeWriter } from './range_writer.js';
import { type WantedName, wantedNames } from './wanted_names.js';

export interface RangeRouteOptions extends PastAccessOptions {
  readonly findAsset: FindAsset;
  readonly past: Pick<PastReader, 'blocks' | 'reaches' | 'keptFrom' | 'gapAt'>;
  /** `limits.range_rows` */
  readonly rangeRowsMax: number;
  /** The other nodes of the cluster; absent without a cluster. */
  readonly older?: OlderPrices | undefined;
}

/** The longest interval of `every`. */
const EVERY_NS_MAX = 366n * 86_400_000_000_000n;

function oneOf<const Values extends readonly [string, ...string[]]>(values: Values, title: string) {
  return z
    .enum(values, { error: `must be ${values.join(', ').replace(/, (?=[^,]*$)/, ' or ')}` })
    .meta({ title });
}

const parameters = {
  asset: assetParameter,
  from: {
    description: 'UNIX nanoseconds. The first row was signed at this time or later',
    required: true,
    schema: unixNanoseconds,
  },
  to: {
    description:
      'UNIX nanoseconds. All rows were signed before this time. If it lies in the future, the rows are those that are signed so far',
    required: true,
    schema: unixNanoseconds,
  },
  every: {
    description:
      'A duration such as `500ms`, `1s` or `1h`: only the last aggregate of each interval of this length since 1970. Default: all aggregates',
    required: false,
    schema: z
      .string()
      .transform((text, context) => {
        const everyNs = parseDurationNs(text);
        if (
          everyNs !== undefined &&
          everyNs >= NS_PER_MS &&
          everyNs <= EVERY_NS_MAX &&
          everyNs % NS_PER_MS === 0n
        )
          return everyNs;
        context.addIssue('is not a duration such as 500ms, 1s or 1h, from 1ms to 366d');
        return z.NEVER;
      })
      .meta({ title: 'Every', type: 'string', pattern: '^[0-9]+(?:ms|s|m|h|d)$' }),
  },
  detail: {
    description:
      'The form of a row. `price` has no signature, `signature` no `signed_prices`, and `whole` (the default) is the aggregate as `/v1/prices/latest` showed it',
    required: false,
    schema: oneOf(ROW_DETAILS, 'Detail'),
  },
  format: {
    description: 'The format of the answer. Default: `ndjson`',
    required: false,
    schema: oneOf(Object.keys(ROW_FORMATS) as [RowFormat, ...RowFormat[]], 'RangeFormat'),
  },
  signature_type: signatureTypeParameter,
} as const;

/** A request with its values. */
interface RangeRequest extends WantedName {
  readonly fromNs: bigint;
  readonly toNs: bigint;
  readonly everyNs: bigint | undefined;
  readonly detail: RowDetail;
  readonly format: RowFormat;
  readonly signatureType: SignatureType | undefined;
}

/** @param access the conditions for requests that read the past */
export function rangeRoutes(options: RangeRouteOptions, access: PastAccess): [string, Route][] {
  return [
    [
      REST_PATHS.range,
      tokenRoute({
        summary:
          'The aggregated signed prices of an asset that were signed in a time range, ascending, one in each line; also of an asset that is no longer configured',
        parameters,
        response: z
          .string()
          .describe(
            'Rows as `detail` and `format` say. By default each line is a `KeptSignedPrice`. The header `Link` with `rel="next"` has the address of the next rows',
          ),
        raw: ROW_FORMATS.ndjson,
        errors: [410, 500, 503],
        handle({ asset: symbol, from: fromNs, to: toNs, signature_type: signatureType, ...form }, token) {
          if (toNs < fromNs) return { status: 400, error: 'to lies before from; swap them' };
          const wanted = wantedNames({ symbols: [symbol], signatureType }, token, options.findAsset, 1);
          if ('error' in wanted) return wanted;
          const { every: everyNs, detail = 'whole', format = 'ndjson' } = form;
          const request = { ...wanted[0]!, fromNs, toNs, everyNs, detail, format, signatureType };
          return access.request(token.name, (turn) =>
            rangeAnswer(request, token.name, options, access, turn),
          );
        },
      }),
    ],
  ];
}

async function rangeAnswer(
  request: RangeRequest,
  caller: string,
  options: RangeRouteOptions,
  access: PastAccess,
  turn: PastTurn,
): Promise<StreamedAnswer | RouteError> {
  const { past, clock } = options;
  const nowNs = clock.nowNs();
  const range = { fromNs: request.fromNs, toNs: request.toNs < nowNs ? request.toNs : nowNs };
  if (range.fromNs < range.toNs) await access.settled(range.toNs);
  const before = await access.gone('from', range.fromNs);
  if (before !== undefined)
    return olderRange(request, range, caller, options, access, {
      error: before,
      endNs: before.keptFromNs ?? range.toNs,
    });
  const { everyNs, format, detail } = request;
  const withInputs = detail === 'whole';
  const wanted = { range, everyNs, rowsMax: options.rangeRowsMax, withInputs, isTyped: format === 'parquet' };
  if (request.isListed && !(await access.isOnDisk(request.names[0]!, range.toNs)))
    return { status: 503, error: `the past of ${request.symbol} is not on disk yet` };
  for (const name of request.names) {
    const page = await rangePage(past, { name, ...wanted }, turn);
    const next = page.nextNs === undefined ? [] : [['Link', linkTo(request, page.nextNs)] as const];
    if (page.lost !== undefined) {
      const keptFromNs = page.nextNs === undefined ? undefined : page.lost.lastNs + 1n;
      const error = { ...access.lost(request.symbol, page.lost), keptFromNs, headers: next };
      const missed = { error, endNs: page.lost.lastNs + 1n };
      return options.older === undefined
        ? error
        : olderRange(request, range, caller, options, access, missed);
    }
    // For an asset that is not configured, the answer uses the first name with rows in the past.
    if (page.rows === 0 && page.nextNs === undefined && !request.isListed) continue;
    // The service may have removed files since the beginning of this request.
    const gone = await access.gone('from', range.fromNs);
    if (gone !== undefined) return gone;
    const pageRange = { fromNs: range.fromNs, toNs: page.toNs };
    return {
      contentType: ROW_FORMATS[format],
      isText: format !== 'parquet',
      headers: next,
      open: (pay) =>
        countedParts(access, caller, () => {
          const blocks = past.blocks(name, pageRange, withInputs);
          return rowParts({ blocks, everyNs, turn, pay }, rangeWriter(format, detail, page.prices));
        }),
    };
  }
  return unknownAsset(request);
}

function unknownAsset(request: RangeRequest): RouteError {
  return {
    status: 400,
    error: `asset names an asset that is not configured and had no price in the range: ${listUnknown([request])}`,
  };
}

/**
 * Answers a range that begins before the past of this node, or in a part that this node missed, with the rows of one answer of another node. All rows are in memory and
 * verified before the service sends the header. The last answer of this kind ends where the past of this node begins or continues.
 * @param missed the error if no other node answers, and the time from which this node has the rows
 */
async function olderRange(
  request: RangeRequest,
  { fromNs, toNs }: TimeRange,
  caller: string,
  { older, pastTurns, rangeRowsMax: rowsMax }: RangeRouteOptions,
  access: PastAccess,
  missed: { readonly error: RouteError; readonly endNs: bigint },
): Promise<StreamedAnswer | RouteError> {
  const { everyNs, detail, format } = request;
  const ownNs = endOfInterval(missed.endNs, everyNs);
  const olderNs = ownNs < toNs ? ownNs : toNs;
  if (older === undefined) return missed.error;
  let answered: OlderRows = { rows: [], endNs: olderNs };
  for (const name of request.names) {
    const withInputs = detail === 'whole';
    const question = { about: 'range', name, fromNs, toNs: olderNs, everyNs, withInputs, rowsMax } as const;
    const answer = await older.range(caller, question);
    if (answer.given === undefined) return notGiven(missed.error, answer);
    answered = answer.given;
    // For an asset that is not configured, the answer uses the first name with rows in the past.
    if (answered.rows.length > 0) break;
  }
  const { rows, endNs } = answered;
  const hasMore = endNs < toNs;
  if (rows.length === 0 && !hasMore && !request.isListed) return unknownAsset(request);
  const blocks = asyncValues({ entries: () => rows });
  const turn = <T>(work: () => Promise<T>) => pastTurns.run(caller, work);
  const prices = rows.every(({ line }) => fitsDecimal(priceOf(line))) ? 'decimal' : 'text';
  return {
    contentType: ROW_FORMATS[format],
    isText: format !== 'parquet',
    headers: hasMore ? [['Link', linkTo(request, endNs)]] : [],
    open: (pay) =>
      countedParts(access, caller, () =>
        rowParts({ blocks, everyNs: undefined, turn, pay }, rangeWriter(format, detail, prices)),
      ),
  };
}

/** Returns the end of the interval that contains a time, or the time itself if it is the beginning of an interval. */
function endOfInterval(timeNs: bigint, everyNs: bigint | undefined): bigint {
  const startNs = intervalOf(timeNs, everyNs);
  return everyNs === undefined || startNs === timeNs ? timeNs : startNs + everyNs;
}

async function* asyncValues<T>(...values: readonly T[]): AsyncIterable<T> {
  yield* values;
}

/** Counts an answer as a request of its caller until the client has read the answer. */
export async function* countedParts(
  access: PastAccess,
  caller: string,
  parts: () => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  access.count(caller, 1);
  try {
    yield* parts();
  } catch (error) {
    if (error instanceof LostRange) access.lost('a range', error);
    throw error;
  } finally {
    access.count(caller, -1);
  }
}

/** Returns the header for the next rows. */
function linkTo(
  { symbol, toNs, everyNs, detail, format, signatureType }: RangeRequest,
  nextNs: bigint,
): string {
  const query = new URLSearchParams({ asset: symbol, from: String(nextNs), to: String(toNs) });
  if (everyNs !== undefined) query.set('every', `${everyNs / NS_PER_MS}ms`);
  query.set('detail', detail);
  query.set('format', format);
  if (signatureType !== undefined) query.set('signature_type', signatureType);
  return `<${REST_PATHS.range}?${query}>; rel="next"`;
}
