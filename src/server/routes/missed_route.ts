import type { TimeRange } from '../../log/past/entry_sequence.js';
import { LostRange } from '../../log/past/lost_range.js';
import type { LineEntry } from '../../log/past/past_entry.js';
import type { PastReader } from '../../log/past/past_reader.js';
import { RowLines } from '../../log/records/row_writer.js';
import type { Asset } from '../../model/asset.js';
import type { AssetName } from '../../model/asset_map.js';
import { EVENTS_PATH } from '../../wire/paths.js';
import { EVENT_STREAM_ROUTE } from '../documents/event_stream_route.js';
import { unixNanoseconds } from '../rest/parameters.js';
import type { Route, RouteError } from '../rest/route.js';
import type { StreamedAnswer } from '../rest/route_result.js';
import type { PastAccess, PastTurn } from './past_access.js';
import { countedParts, type RangeRouteOptions } from './range_route.js';
import { type BlockEntries, rowParts } from './range_rows.js';

export interface MissedRouteOptions extends RangeRouteOptions {
  readonly listed: readonly Asset[];
}

/** The number of rows that a stream reads at once. */
const ROWS_MAX = 2_048;

/**
 * Makes the part of `/v1/stream` that a client missed: the aggregates since its last event, until now. The listener sends this part
 * before the frames, and passes the indexes of the stream's assets and the ID of the last event, a line each, in place of a body.
 */
export function missedRoutes(options: MissedRouteOptions, access: PastAccess): [string, Route][] {
  const { past, clock, listed } = options;

  async function read(
    caller: string,
    assets: readonly Asset[],
    afterNs: bigint,
    turn: PastTurn,
  ): Promise<StreamedAnswer | RouteError> {
    const range = { fromNs: afterNs + 1n, toNs: clock.nowNs() };
    await access.settled(range.toNs);
    const gone = await access.gone('Last-Event-ID', afterNs);
    if (gone !== undefined) return gone;
    for (const name of assets) {
      if (!(await access.isOnDisk(name, range.toNs)))
        return { status: 503, error: `the past of ${name.symbol} is not on disk yet` };
      if ((await turn(() => past.gapAt(name, range.fromNs))) !== undefined)
        throw new LostRange({ firstNs: range.fromNs, lastNs: range.toNs - 1n });
    }
    const rounds = rowsInOrder(past, assets, range);
    // The first rows are read before the head of the answer, so that a fault in them is an error.
    const first = await turn(() => rounds.next());
    async function* blocks() {
      if (!first.done) yield first.value;
      yield* rounds;
    }
    const source = { blocks: blocks(), everyNs: undefined, turn };
    const events = () => new RowLines<LineEntry>(({ line }) => line);
    return {
      contentType: 'text/event-stream',
      isText: false,
      headers: [],
      open: (pay) => countedParts(access, caller, () => rowParts({ ...source, pay }, events())),
    };
  }

  const handle: Route['handle'] = (_query, caller, body = '') => {
    const [indexes = '', lastEventId] = body.split('\n');
    const after = unixNanoseconds.safeParse(lastEventId);
    if (!after.success) return { status: 400, error: `Last-Event-ID ${after.error.issues[0]!.message}` };
    const named = new Set(indexes.split(',').map(Number));
    const assets = listed.filter(({ index }) => named.has(index));
    return access.request(caller!.name, (turn) => read(caller!.name, assets, after.data, turn));
  };
  return [[EVENTS_PATH, { ...EVENT_STREAM_ROUTE, handle }]];
}

/**
 * Reads rows of several assets in the order of their times, and writes each as an event. The ID of an event is the time at which its
 * aggregate was signed; of several rows with the same time only the last has the ID, so that a client which continues misses none.
 */
export async function* rowsInOrder(
  past: Pick<PastReader, 'blocks'>,
  names: readonly AssetName[],
  { fromNs, toNs }: TimeRange,
  rowsMax = ROWS_MAX,
): AsyncGenerator<{ entries(): LineEntry[] }, undefined> {
  const share = Math.ceil(rowsMax / names.length);
  for (let startNs = fromNs; startNs < toNs; ) {
    let endNs = toNs;
    const read: LineEntry[] = [];
    for (const name of names)
      endNs = await addRows(read, past.blocks(name, { fromNs: startNs, toNs: endNs }, false), share, endNs);
    const rows = read.filter(({ timeNs }) => timeNs < endNs).sort((a, b) => (a.timeNs < b.timeNs ? -1 : 1));
    yield { entries: () => rows.map((row, i) => ({ ...row, line: eventOf(row, rows[i + 1]) })) };
    startNs = endNs;
  }
}

/** Adds at most `share` rows of an asset. @returns the time of the next row, or `endNs` @throws LostRange */
async function addRows(
  rows: LineEntry[],
  blocks: AsyncIterable<BlockEntries>,
  share: number,
  endNs: bigint,
): Promise<bigint> {
  const full = rows.length + share;
  for await (const block of blocks)
    for (const entry of block.entries()) {
      if (entry.kind === 'gap') throw new LostRange({ firstNs: entry.timeNs, lastNs: endNs - 1n });
      if (entry.kind !== 'priced') continue;
      if (rows.length === full) return entry.timeNs;
      rows.push(entry);
    }
  return endNs;
}

function eventOf({ timeNs, line }: LineEntry, next: LineEntry | undefined): string {
  return `event: backfilled\n${timeNs === next?.timeNs ? '' : `id: ${timeNs}\n`}data: ${line}\n`;
}
