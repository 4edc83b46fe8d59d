import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { test } from 'tap';
import { WIRE_VERSION } from '../../src/cluster/log/log_batch.js';
import { decodeNodeReport, encodeNodeReport } from '../../src/cluster/node_report.js';
import { UnreadableMessage } from '../../src/cluster/unreadable.js';
import { holds } from '../holds.js';
import { damaged } from './damaged.js';

const report = {
  node: 3,
  name: 'edge-3',
  run: 'a1b2',
  role: 'standby',
  applied: 12_345,
  configHash: new Uint8Array([1, 2, 3]),
  signers: [
    {
      address: '0x00000000000000000000000000000000000000Aa',
      signatureType: 'evm',
      role: 'aggregate',
      sinceS: 1_700_000_000,
    },
    { address: '0x0b', signatureType: 'stark', role: 'aggregate', sinceS: 1 },
    { address: '0x0c', signatureType: 'evm', role: 'stream', sinceS: 2 },
  ],
  isFit: true,
} as const;

test('a report is read as it was written', async (t) => {
  t.same(decodeNodeReport(encodeNodeReport(report)), { ...report, wireVersion: WIRE_VERSION });
  for (const role of ['edge', 'leader'] as const)
    t.match(decodeNodeReport(encodeNodeReport({ ...report, role, signers: [], isFit: false })), {
      role,
      signers: [],
      isFit: false,
    });
});

test('a damaged report is refused or read, and never does harm', async (t) => {
  holds(
    t,
    fc.property(damaged(encodeNodeReport(report)), (hostile) => {
      try {
        assert.ok(decodeNodeReport(hostile).configHash.length <= hostile.length);
      } catch (error) {
        assert.ok(error instanceof UnreadableMessage);
      }
    }),
    { numRuns: 2_000 },
  );
});
