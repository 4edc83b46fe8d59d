import { publisherKeys } from '../../scripts/load/keys.js';
import { InputVerifier } from '../../src/aggregator/input_verifier.js';
import type { LogEntry } from '../../src/cluster/log/log_batch.js';
import { createCryptoJobs } from '../../src/crypto/pool/jobs.js';
import type { PublisherIndex } from '../../src/model/asset.js';
import { Catalogue } from '../../src/model/catalogue.js';
import type { TimeNs } from '../../src/model/time.js';
import { recordFault } from '../../src/node/record_check.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { AggregateEntries, INPUTS } from '../workloads/log_records.js';
import { STAGE_TIME_NS } from '../workloads/stream_stage.js';

const AGGREGATES: Readonly<Record<Scale, number>> = { full: 2_000, smoke: 20 };
const IN_RECORD = 20;
const VARIANT = 'verify_records';

export const clusterVerify: Row = {
  name: 'cluster-verify',
  title: "Verifying the records of a cluster's log (`cluster.verify_records`)",
  method:
    'The check that a node makes before it applies a record: aggregates of five inputs, 20 in a record, on one thread. First each ' +
    'input is new, so five signatures of an aggregate are verified; then the same aggregates again, whose inputs are known. 1,000 assets at 2 Hz are 2,000 aggregates a second.',
  rounds: 3,
  variants: { [VARIANT]: async (scale) => measure(scale) },
  lines: () => [
    {
      name: 'five new inputs',
      unit: 'aggregates/s',
      ours: { variant: VARIANT, figure: 'new: aggregates/s' },
      bound: { atLeast: 1_000 },
      peers: [],
      shown: [
        { name: 'CPU time, an aggregate', unit: 'µs', source: { variant: VARIANT, figure: 'new: µs' } },
      ],
    },
    {
      name: 'known inputs',
      unit: 'aggregates/s',
      ours: { variant: VARIANT, figure: 'known: aggregates/s' },
      bound: { atLeast: 5_000 },
      peers: [],
      shown: [
        { name: 'CPU time, an aggregate', unit: 'µs', source: { variant: VARIANT, figure: 'known: µs' } },
      ],
    },
  ],
};

function measure(scale: Scale): Measurement {
  const count = AGGREGATES[scale];
  const entries = new AggregateEntries(count);
  const records: LogEntry[][] = [];
  for (let i = 0; i < count; i++) {
    if (i % IN_RECORD === 0) records.push([]);
    records.at(-1)!.push(entries.next(STAGE_TIME_NS as TimeNs));
  }
  const publishers = Array.from({ length: INPUTS }, (_, index) => ({
    index: index as PublisherIndex,
    signatureType: 'evm' as const,
    key: publisherKeys('evm', index).key,
    oracleId: undefined,
    assets: new Set(['*']),
    weight: 1_000_000n,
  }));
  const catalogue = new Catalogue({ assets: [], publishers });
  const verifier = new InputVerifier(createCryptoJobs(), () => catalogue);
  const pass = (): { readonly seconds: number; readonly micros: number } => {
    const before = process.cpuUsage();
    const startMs = performance.now();
    for (const [i, these] of records.entries()) {
      const fault = recordFault({ epoch: 1, sequence: i + 2, after: '', entries: these }, verifier);
      if (fault !== undefined) throw new Error(fault);
    }
    const { user, system } = process.cpuUsage(before);
    return { seconds: (performance.now() - startMs) / 1000, micros: (user + system) / count };
  };
  const [fresh, known] = [pass(), pass()];
  return {
    figures: {
      'new: aggregates/s': count / fresh.seconds,
      'new: µs': fresh.micros,
      'known: aggregates/s': count / known.seconds,
      'known: µs': known.micros,
    },
  };
}
