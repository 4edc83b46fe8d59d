import type { Row } from '../harness/row.js';
import { busyLatency } from './busy_latency.js';
import { clusterCatchUp } from './cluster_catch_up.js';
import { clusterEdge } from './cluster_edge.js';
import { clusterLatency } from './cluster_latency.js';
import { distinctSets } from './distinct_sets.js';
import { evmIngest } from './evm_ingest.js';
import { fanOut } from './fan_out.js';
import { growth } from './growth.js';
import { latency } from './latency.js';
import { memory } from './memory.js';
import { past } from './past.js';
import { publicLog } from './public_log.js';
import { rest } from './rest.js';
import { signedFrames } from './signed_frames.js';
import { sources } from './sources.js';
import { starkIngest } from './stark_ingest.js';
import { start } from './start.js';
import { threads } from './threads.js';
import { ticks } from './ticks.js';
import { unsignedFrames } from './unsigned_frames.js';

/** All rows, in the order in which the bench runs and shows the rows. */
export const ROWS: readonly Row[] = [
  evmIngest,
  starkIngest,
  signedFrames,
  unsignedFrames,
  fanOut,
  latency,
  busyLatency,
  ticks,
  distinctSets,
  rest,
  past,
  publicLog,
  threads,
  memory,
  start,
  sources,
  growth,
  clusterLatency,
  clusterEdge,
  clusterCatchUp,
];

/** @throws RangeError when no row has this name. */
export function rowByName(name: string): Row {
  const row = ROWS.find((one) => one.name === name);
  if (row === undefined)
    throw new RangeError(`no row "${name}": there are ${ROWS.map((one) => one.name).join(', ')}`);
  return row;
}
