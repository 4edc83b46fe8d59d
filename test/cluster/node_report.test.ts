import { test } from 'tap';
import { WIRE_VERSION } from '../../src/cluster/log/log_batch.js';
import { decodeNodeReport, encodeNodeReport } from '../../src/cluster/node_report.js';

const report = {
  name: 'edge-3',
  run: 'a1b2',
  role: 'standby',
  applied: 12_345,
  configHash: new Uint8Array([1, 2, 3]),
  signers: [
    { address: '0x0a', signatureType: 'evm', role: 'aggregate', sinceS: 1_700_000_000 },
    { address: '0x0b', signatureType: 'stark', role: 'aggregate', sinceS: 1 },
    { address: '0x0c', signatureType: 'evm', role: 'stream', sinceS: 2 },
  ],
  streamLog: { origin: 'prices.example.com/tlog/node-3', vkey: 'prices.example.com/tlog/node-3+1+2' },
  isFit: true,
} as const;

const EDGE = { node: 3, role: 'edge' } as const;
const read = (bytes: Uint8Array) => decodeNodeReport({ node: 3, role: 'aggregator' }, bytes);

test('a report is read as it was written', async (t) => {
  t.same(read(encodeNodeReport(report)), { ...report, node: 3, wireVersion: WIRE_VERSION });
  const { streamLog, ...rest } = report;
  t.same(read(encodeNodeReport(rest)), { ...rest, node: 3, wireVersion: WIRE_VERSION });
  const long = { origin: 'x'.repeat(401), vkey: streamLog.vkey };
  t.notOk('streamLog' in read(encodeNodeReport({ ...rest, streamLog: long }))!, 'too long a name');
});

test('an edge is believed only what an edge can be', async (t) => {
  const edge = { ...report, role: 'edge', signers: [], isFit: false } as const;
  const asEdge = (change: object) => decodeNodeReport(EDGE, encodeNodeReport({ ...edge, ...change }));
  t.match(asEdge({ signers: [report.signers[2]] }), { node: 3 }, 'with a key for streams');
  for (const change of [
    { role: 'standby' },
    { role: 'leader' },
    { isFit: true },
    { signers: report.signers },
  ])
    t.equal(asEdge(change), undefined, JSON.stringify(change));
  t.equal(read(encodeNodeReport(edge)), undefined, 'and an aggregator is no edge');
});

test('hostile JSON does no harm', async (t) => {
  const text = Buffer.from(encodeNodeReport(report)).toString();
  const hostile = [
    '['.repeat(16_000),
    text.replace('{', '{"__proto__":{"isFit":true},').replace(',"isFit":true', ''),
    text.replace('12345', '1e999'),
    `${text}${' '.repeat(16 * 1024)}`,
    'null',
    '',
  ];
  for (const one of hostile) t.equal(read(Buffer.from(one)), undefined, one.slice(0, 40));
  t.equal(read(Buffer.from([0xff, ...Buffer.from(text)])), undefined, 'not UTF-8');
});
