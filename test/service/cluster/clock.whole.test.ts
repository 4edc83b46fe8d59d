import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { systemClock } from '../../../src/clock/clock.js';
import type { Clock, TimeNs } from '../../../src/model/time.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { get, publisherSigner } from '../harness.js';
import { openPublisher, refusalOf, UNIT } from '../publishing.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

test('a node with a wrong clock leads until another one can', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  const clock = systemClock();
  const ahead: Clock = { nowNs: () => (clock.nowNs() + 5_000_000_000n) as TimeNs };
  const wrong = await cluster.node(1, 'aggregator', {}, { clock: ahead });
  const reasons = async () => await (await fetch(`${wrong.adminUrl}/readyz`)).text();
  await eventually(async () => /the clock is 5\.\d s ahead of the NATS servers/.test(await reasons()));
  await eventually(async () => (await nodesOf(wrong)).some(({ role }) => role === 'leader'));
  const right = await cluster.node(2, 'aggregator');
  await untilReady(right);
  await eventually(async () =>
    (await nodesOf(right)).some(({ node, role }) => node === 2 && role === 'leader'),
  );
  await right.stop();
  t.ok(
    await eventually(async () =>
      (await nodesOf(wrong)).some(({ node, role }) => node === 1 && role === 'leader'),
    ),
    'nobody else is there',
  );
});

test('an edge with a wrong clock says so', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  await untilReady(await cluster.node(1, 'aggregator'));
  const clock = systemClock();
  let aheadNs = 5_000_000_000n;
  const edgeClock: Clock = { nowNs: () => (clock.nowNs() + aheadNs) as TimeNs };
  const edge = await cluster.node(3, 'edge', {}, { clock: edgeClock });
  const reasons = async () => await (await fetch(`${edge.adminUrl}/readyz`)).text();
  t.ok(await eventually(async () => /the clock is 5\.\d s ahead of the NATS servers/.test(await reasons())));
  aheadNs = 0n;
  // A node whose clock was wrong asks the servers every 10 s.
  t.ok(await eventually(async () => (await reasons()).startsWith('{"data":"ok"')));
});

test('a leader does not believe a jump that the NATS servers do not see', needsNatsServer(), async (t) => {
  const cluster = await TestCluster.start(t);
  let aheadMs = 0;
  const monotonicNs = () => process.hrtime.bigint();
  const clock = systemClock({ wallMs: () => Date.now() + aheadMs, monotonicNs });
  const leader = await cluster.node(1, 'aggregator', {}, { clock });
  await untilReady(leader);
  const publisher = await openPublisher(leader);
  aheadMs = 3_600_000;
  const jumpedNs = monotonicNs();
  let signedNs = 0n;
  let price = 0n;
  // The clock accepts a jump after 10 s. From then on, the node asks the servers every 10 s.
  while (monotonicNs() - jumpedNs < 12_000_000_000n) {
    const timestampNs = BigInt(Date.now()) * 1_000_000n;
    const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price: ++price * UNIT, timestampNs });
    t.equal(await refusalOf(publisher, update), undefined);
    await eventually(async () => {
      const latest = await (await get(`${leader.url}/v1/prices/latest?assets=BTCUSD`)).text();
      const [, signed = '0'] =
        /"v":"0x1[bc]"},"timestamp":(\d+),"msg_hash":"0x\w+"},"publisher_merkle/.exec(latest) ?? [];
      const isNew = BigInt(signed) > signedNs;
      if (isNew) signedNs = BigInt(signed);
      return isNew;
    });
    if (signedNs > BigInt(Date.now() + 1_000) * 1_000_000n) t.fail('signed ahead of the servers');
  }
  t.match(await (await fetch(`${leader.adminUrl}/readyz`)).text(), /the wall clock jumped by 3600\.\d s/);
  t.match(await (await fetch(`${leader.adminUrl}/metrics`)).text(), /^tickseal_clock_jumps_total 1$/m);
});
