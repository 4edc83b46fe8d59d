import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { ROOT, section } from '../pages.js';

interface Results {
  readonly rows: readonly {
    readonly name: string;
    readonly lines: readonly { readonly name: string; readonly ours: number }[];
  }[];
}

const { rows } = JSON.parse(readFileSync(join(ROOT, 'bench/results.json'), 'utf8')) as Results;

/** Returns a figure of the bench with two digits, in the format of the page. */
function figure(row: string, line: string): string {
  const { ours } = rows.find(({ name }) => name === row)!.lines.find(({ name }) => name === line)!;
  return Number(ours.toPrecision(2)).toLocaleString('en');
}

test('the sizing table has the figures of bench/results.json', async (t) => {
  const page = section('scripts/deploy/README.md', 'Sizing');
  for (const [work, rate] of [
    [
      'verify EVM updates of publishers',
      `${figure('evm-ingest', '50 per message')} a second; ${figure('evm-ingest', '1 per message')} in messages of their own`,
    ],
    ['verify Stark updates', `${figure('stark-ingest', 'over a socket')} a second`],
    [
      'sign frames and aggregates, up to 100 assets each',
      `${figure('signed-frames', '100 assets')} a second with a current libsecp256k1; [Debian 12's](#the-machine) is slower`,
    ],
    [
      'deliver frames to readers',
      `${figure('fan-out', '1,000 clients')} a second; ${figure('fan-out', '100 clients')} with only a hundred readers`,
    ],
    [
      'answer REST requests for a price',
      `${figure('rest', 'latest of 1 asset')} a second; ${figure('rest', 'history of 10,080 candles')} a second for a week of minute candles`,
    ],
  ] as const)
    t.match(page, `\n| ${work} | ${rate} |\n`);
  t.match(page, `**Memory.** ${figure('memory', 'whole new process with 10,000')} MiB with 10,000 readers`);
});

test('the table of clusters has the figures of bench/results.json', async (t) => {
  const page = section('scripts/deploy/CLUSTER.md', 'Capacity');
  for (const [work, start] of [
    [
      'publish at the leader, reader of an edge',
      `${figure('cluster-latency', 'publisher at the leader, above one process')} ms above one process`,
    ],
    [
      'publish at an edge, reader of the edge',
      `${figure('cluster-latency', 'publisher at the edge, above one process')} ms above one process`,
    ],
    [
      'an edge with 1,000 readers at 10 Hz',
      `${figure('cluster-edge', 'CPU time, a second')} ms of CPU time a second`,
    ],
  ] as const)
    t.match(page, `\n| ${work} | ${start}`);
  for (const node of ['aggregator', 'edge'])
    t.match(page, new RegExp(`an ${node} in \\d+ s, ${figure('cluster-catch-up', node)} times`));
});
