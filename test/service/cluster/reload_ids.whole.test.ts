import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { addressOf } from '../../../src/cli/keygen_command.js';
import { IDS_FILE } from '../../../src/log/store/streaming_ids.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { get, type SERVICE_KEYS, type Sections } from '../harness.js';
import { readStatement, taxonomyOf } from '../read_statement.js';
import { STREAM_KEYS, TestCluster, untilReady } from './nodes.js';

const BEFORE: Sections = {
  assets: [
    { id: 1, symbol: 'A' },
    { id: 2, symbol: 'B' },
  ],
};

test(
  'a node whose IDs contradict those of the leader says nothing about IDs',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const leader = await cluster.node(1, 'aggregator', BEFORE);
    await untilReady(leader);
    t.ok(readStatement(await taxonomyOf(leader)).fits);
    const same = await cluster.node(2, 'edge', BEFORE);
    await untilReady(same);
    const read = readStatement(await taxonomyOf(same));
    t.match(read, { fits: true, signer: addressOf(STREAM_KEYS.stream as Buffer) });
    const other: Sections = {
      assets: [
        { id: 1, symbol: 'A' },
        { id: 2, symbol: 'X' },
      ],
    };
    const edge = await cluster.node(3, 'edge', other);
    const refusal =
      /streaming ID 2 means B \(evm\) on the leader, and has meant X \(evm\) on this node under taxonomy_id 1/;
    await eventually(async () => refusal.test(await (await fetch(`${edge.adminUrl}/readyz`)).text()));
    const answer = await eventually(async () => {
      const response = await get(`${edge.url}/v1/taxonomy`);
      const text = await response.text();
      return refusal.test(text) && { status: response.status };
    });
    t.equal(answer.status, 503);

    leader.reconfigure({ assets: [...(BEFORE['assets'] as object[]), { id: 7, symbol: 'C' }] });
    const wrong = { assets: [...(BEFORE['assets'] as object[]), { id: 7, symbol: 'D' }] };
    const learned = () => readFileSync(join(same.dir, 'store', IDS_FILE), 'utf8').includes('\n1 7 evm C\n');
    await eventually(learned);
    t.throws(
      () => same.reconfigure(wrong, STREAM_KEYS as typeof SERVICE_KEYS),
      /7 means D \(evm\) here, and has meant C/,
    );
  },
);
