import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'tap';
import { resultsMarkdown, rowMarkdown } from '../../bench/harness/markdown.js';
import { judge } from '../../bench/harness/outcome.js';
import { sumUpProfiles } from '../../bench/harness/profile.js';
import { withProfile } from '../../bench/harness/results.js';
import type { Measurement, Row } from '../../bench/harness/row.js';
import { median, percentile } from '../../scripts/load/statistics.js';

const row: Row = {
  name: 'sample',
  title: 'Sample',
  method: 'None.',
  rounds: 3,
  variants: {},
  lines: () => [
    {
      name: 'rate',
      unit: 'things/s',
      ours: { variant: 'ours', figure: 'rate' },
      bound: { atLeast: 10 },
      peers: [{ name: 'peer', source: { variant: 'peer', figure: 'rate' }, ratio: { atMost: 3 } }],
    },
  ],
};

test('a row is judged by the medians of its rounds', async (t) => {
  const outcome = judge(row, 'full', { ours: rates(11, 1_000, 12), peer: rates(4, 4, 0) });
  t.match(outcome.lines[0], { ours: 12, reached: true, peers: [{ value: 4, ratio: 3, reached: true }] });
  t.ok(outcome.reached);
});

test('one bound that does not hold is a row that misses', async (t) => {
  t.notOk(judge(row, 'full', { ours: rates(9), peer: rates(9) }).reached, 'the bound of ours');
  t.notOk(judge(row, 'full', { ours: rates(31), peer: rates(10) }).reached, 'the bound of the ratio');
});

test('two figures that must agree may differ by a share, to either side', async (t) => {
  const agreeing: Row = {
    ...row,
    lines: () => [
      {
        name: 'rate',
        unit: 'things/s',
        ours: { variant: 'ours', figure: 'rate' },
        peers: [{ name: 'peer', source: { variant: 'peer', figure: 'rate' }, ratio: { within: 0.1 } }],
      },
    ],
  };
  const reached = (ours: number) => judge(agreeing, 'full', { ours: rates(ours), peer: rates(100) }).reached;
  t.same([89, 91, 109, 111].map(reached), [false, true, true, false]);
  const outcome = judge(agreeing, 'full', { ours: rates(95), peer: rates(100) });
  t.match(rowMarkdown(outcome).join('\n'), '| rate | 95 things/s | peer: 100 | 0.95 | 0.9 to 1.1 | yes |');
  const machine = { cpu: 'a', cores: 2, memoryGiB: 1, os: 'b', node: 'v20', loadBefore: 0 };
  const measured = { ...outcome, machine, commit: 'c', measuredAt: '2026-01-01T00:00:00.000Z', seconds: 1 };
  const page = resultsMarkdown({ rows: [measured], profiles: [] });
  t.notMatch(page, '| [sample](#sample) | rate', 'the other one is no better');
});

test('a bound that the bare server misses in the same run becomes a share of the bare server', async (t) => {
  const bareRow: Row = {
    ...row,
    lines: () => [
      {
        name: 'rate',
        unit: 'things/s',
        ours: { variant: 'ours', figure: 'rate' },
        peers: [
          {
            name: 'peer',
            source: { variant: 'peer', figure: 'rate' },
            ratio: { atLeast: 3 },
            bare: { name: 'the bare one', source: { variant: 'bare', figure: 'rate' }, atLeast: 0.8 },
          },
        ],
      },
    ],
  };
  const judged = (ours: number, bare: number) =>
    judge(bareRow, 'full', { ours: rates(ours), peer: rates(10), bare: rates(bare) });
  t.same(
    [judged(29, 30), judged(30, 30), judged(23, 29), judged(24, 29)].map(({ reached }) => reached),
    [false, true, false, true],
  );
  const text =
    '| rate | 20 things/s | peer: 10 | 2 | ≥ 2: 0.8 of the bare one, which misses ≥ 3 itself with 2.5 | yes |';
  t.match(rowMarkdown(judged(20, 25)).join('\n'), text);
  t.match(judged(20, 25).lines[0]!.peers[0], {
    bound: { atLeast: 2 },
    replaced: { bound: { atLeast: 3 }, bareRatio: 2.5, share: 0.8 },
  });
  t.equal(judged(29, 30).lines[0]!.peers[0]!.replaced, undefined);
});

test('what keeps a row from more is said where it misses, and only there', async (t) => {
  const limited = { ...row, limit: 'Nature.' };
  t.equal(judge(limited, 'full', { ours: rates(9), peer: rates(9) }).limit, 'Nature.');
  t.equal(judge(limited, 'full', { ours: rates(12), peer: rates(4) }).limit, undefined);
});

test('a peer that this machine does not have is named, and not judged', async (t) => {
  const outcome = judge(row, 'full', {
    ours: rates(12),
    peer: [{ figures: {}, missing: 'it needs a compiler' }],
  });
  t.ok(outcome.reached);
  t.same(outcome.lines[0]!.peers, []);
  t.same(outcome.missing, ['peer: it needs a compiler']);
  t.match(rowMarkdown(outcome).join('\n'), 'Not on this machine: peer: it needs a compiler.');
  t.notOk(judge(row, 'full', { ours: rates(9), peer: rates(4) }).missing);
});

test('a row that needs what this machine does not have has no lines, and is not judged', async (t) => {
  const outcome = judge(row, 'full', {
    ours: [{ figures: {}, missing: 'it needs a server' }],
    peer: rates(4),
  });
  t.same(outcome.lines, []);
  t.ok(outcome.reached);
  t.match(rowMarkdown(outcome).join('\n'), 'Not on this machine: ours: it needs a server.');
});

test('variants that made other bytes are a row that misses', async (t) => {
  const outcome = judge(row, 'full', { ours: rates(12, 12), peer: withHash(rates(12), 'other') });
  t.ok(outcome.reached, 'one hash alone is compared with nothing');
  const differing = judge(row, 'full', {
    ours: withHash(rates(12), 'one'),
    peer: withHash(rates(12), 'other'),
  });
  t.same(differing.differingHashes, ['frame']);
  t.notOk(differing.reached);
});

test('medians and percentiles', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 3, 2]), 2.5);
  t.equal(percentile([5, 1, 4, 2, 3], 50), 3);
  t.equal(percentile([1, 2, 3, 4], 99), 4);
  t.ok(Number.isNaN(percentile([], 50)));
});

test('a profile is summed up by function, without the start and the time in which nothing ran', async (t) => {
  const dir = t.testdir({
    'one.cpuprofile': JSON.stringify({
      nodes: [
        { id: 1, callFrame: { functionName: '(idle)', url: '', lineNumber: -1 } },
        { id: 2, callFrame: { functionName: 'sign', url: 'file:///x/dist/src/signer.js', lineNumber: 9 } },
        { id: 3, callFrame: { functionName: '', url: '', lineNumber: -1 } },
      ],
      samples: [3, 1, 2, 3, 2],
      timeDeltas: [1_400_000, 100_000, 100, 50, 50],
    }),
  });
  t.same(sumUpProfiles(dir), [
    { name: 'sign', place: 'src/signer.js:10', part: 0.75 },
    { name: '(anonymous)', place: '', part: 0.25 },
  ]);
});

test('a profile names the modules of a bundle', async (t) => {
  const bundle = ['// src/wire/a.ts', 'function sign() {', '}', '// src/wire/b.ts', 'function read() {', '}'];
  const dir = t.testdir({ dist: { src: { bundle: { 'start-X.js': bundle.join('\n') } } } });
  const url = pathToFileURL(join(dir, 'dist/src/bundle/start-X.js')).href;
  const callFrame = (functionName: string, lineNumber: number) => ({ functionName, url, lineNumber });
  writeFileSync(
    join(dir, 'one.cpuprofile'),
    JSON.stringify({
      nodes: [
        { id: 1, callFrame: callFrame('sign', 1) },
        { id: 2, callFrame: callFrame('read', 4) },
      ],
      samples: [1, 1, 2],
      timeDeltas: [1_600_000, 0, 800_000],
    }),
  );
  t.same(
    sumUpProfiles(dir).map(({ name, place }) => `${name} ${place}`),
    ['sign src/wire/a.ts', 'read src/wire/b.ts'],
  );
});

function rates(...values: number[]): Measurement[] {
  return values.map((rate) => ({ figures: { rate } }));
}

function withHash(measurements: readonly Measurement[], frame: string): Measurement[] {
  return measurements.map((measurement) => ({ ...measurement, hashes: { frame } }));
}

test('the page says where a peer does better, and only there', async (t) => {
  const page = (ours: number) => {
    const outcome = judge(row, 'full', { ours: rates(ours), peer: rates(10) });
    const machine = { cpu: 'a', cores: 2, memoryGiB: 1, os: 'b', node: 'v20', loadBefore: 0 };
    const measured = { ...outcome, machine, commit: 'c', measuredAt: '2026-01-01T00:00:00.000Z', seconds: 1 };
    return resultsMarkdown({ rows: [measured], profiles: [] });
  };
  // The bound is "at most 3", so a smaller value is better, and the bound allows the ratio 2.
  t.match(page(40), '| [sample](#sample) | rate, things/s | peer | 4 | ≤ 3 | no |');
  t.notMatch(page(20), '| [sample](#sample) | rate');
  t.match(page(20), 'One more comparison is within its bound');
  t.notMatch(page(5), '| [sample](#sample) | rate');
});

test('a new profile replaces the one of its load only', (t) => {
  const profileOf = (load: string, commit: string) => ({ load, commit, functions: [] });
  const results = { rows: [], profiles: [profileOf('rest', 'a'), profileOf('gone', 'a')] };
  const first = withProfile(results, profileOf('fan-out', 'b'), ['fan-out', 'rest']);
  t.same(first.profiles, [profileOf('fan-out', 'b'), profileOf('rest', 'a')]);
  const second = withProfile(first, profileOf('rest', 'b'), ['fan-out', 'rest']);
  t.same(second.profiles, [profileOf('fan-out', 'b'), profileOf('rest', 'b')]);
  t.end();
});
