import { setImmediate as endOfTurn } from 'node:timers/promises';
import { test } from 'tap';
import { Term } from '../../../src/cluster/leading/term.js';
import { IdMapping } from '../../../src/cluster/ticks/id_mapping.js';
import { DEFAULT_TIMING } from '../../../src/cluster/timing.js';
import { livePrice } from '../../model/sample.js';

test('the prices of a turn leave before its record of the log, which readers do not wait for', async (t) => {
  const sent: string[] = [];
  const asset = { id: 1, symbol: 'BTCUSD', signatureType: 'evm' } as const;
  const taxonomy = new IdMapping([asset]);
  const term = new Term({
    epoch: 1,
    bus: {
      append: () => {
        sent.push('record');
        return new Promise(() => {});
      },
      send: () => sent.push('prices'),
      answer: () => () => {},
      waitingBytes: 0,
    },
    follower: {
      position: { sequence: 1, id: 'claim' },
      lastId: 'claim',
      offer: () => {},
      catchUp: async () => {},
    },
    shown: { show: () => {}, keep: () => {} },
    timing: { ...DEFAULT_TIMING, leaseMs: 1_000, tickLeaseMs: 12_000, feedTimeoutMs: 10_000 },
    claimedMs: 0,
    taxonomy: () => taxonomy,
    nowMs: () => 0,
    defer: setImmediate,
    failed: () => t.fail('a write failed'),
    overflowed: () => t.fail('too much waits'),
  });
  term.startTicks();
  sent.length = 0;
  term.append({ symbol: 'BTCUSD', signatureType: 'evm', bytes: new Uint8Array(8) });
  term.priced(asset, livePrice(1n));
  for (let turn = 0; turn < 3; turn++) await endOfTurn();
  t.same(sent, ['prices', 'record']);
});
