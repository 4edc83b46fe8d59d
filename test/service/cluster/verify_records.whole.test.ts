import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { publishMessage } from '../../../src/client/index.js';
import { decodeLogBatch } from '../../../src/cluster/log/log_batch.js';
import { chainedRecord } from '../../../src/cluster/log/record_chain.js';
import { encodeHolding } from '../../../src/log/records/holding.js';
import type { Price } from '../../../src/model/price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { natsBus, needsNatsServer } from '../../cluster/nats/servers.js';
import { sampleHolding } from '../../log/records/sample_line.js';
import { sampleAggregate, samplePublisher } from '../../log/store/sample.js';
import { sampleAsset } from '../../model/sample.js';
import { get, publisherSigner, type TestService, TestSocket } from '../harness.js';
import { TestCluster, untilReady } from './nodes.js';

/** The leader signs only prices that move, so the forged price stays until the next move. */
const SECTIONS = { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '24h', clock_period: '24h' }] };

test(
  'with the user of an aggregator a thief deceives only nodes that verify nothing',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const leader = await cluster.node(1, 'aggregator', SECTIONS, { verifyRecords: true });
    await untilReady(leader);
    const careful = await cluster.node(3, 'edge', SECTIONS, { verifyRecords: true });
    const believing = await cluster.node(4, 'edge', SECTIONS);
    await Promise.all([careful, believing].map(untilReady));
    const publisher = await TestSocket.open(`${leader.socketUrl}/evm/publish?ack=durable`);
    const publish = async (price: bigint) => {
      const timestampNs = BigInt(Date.now()) * 1_000_000n;
      publisher.send(
        publishMessage(`trace ${price}`, [publisherSigner(1).sign({ symbol: 'BTCUSD', price, timestampNs })]),
      );
      t.match(await publisher.nextJson(), { type: 'ack', accepted: ['BTCUSD'] });
    };
    await publish(5n);
    for (const node of [careful, believing]) await eventually(async () => (await priceOf(node)) === '5');

    const thief = await natsBus(t, cluster.servers);
    const symbol = 'BTCUSD';
    await eventually(async () => {
      const { last } = await thief.extent();
      const [record] = await thief.read(last.sequence - 1);
      const { epoch } = decodeLogBatch(record!.bytes);
      const timeNs = (BigInt(Date.now()) * 1_000_000n) as TimeNs;
      const aggregate = sampleAggregate(sampleAsset({ symbol }), [samplePublisher(0)], 666n as Price, timeNs);
      const bytes = encodeHolding(sampleHolding(aggregate));
      const entries = [{ symbol, signatureType: 'evm' as const, bytes }];
      const forged = chainedRecord({ epoch, sequence: last.sequence + 1, after: last.id, entries });
      return thief.append(last, forged.id, forged.bytes).catch(() => undefined);
    });
    await eventually(async () => (await skippedOf(careful)) === '1');
    t.equal(await priceOf(careful), '5');
    t.equal(await skippedOf(believing), '0');
    await eventually(async () => (await skippedOf(leader)) === '1');
    await eventually(async () => (await priceOf(believing)) === '666');
    await publish(7n);
    for (const node of [leader, careful, believing])
      await eventually(async () => (await priceOf(node)) === '7');
  },
);

async function priceOf({ url }: TestService): Promise<string | undefined> {
  const response = await get(`${url}/v1/prices/latest?assets=BTCUSD`);
  const body = (await response.json()) as { data?: { BTCUSD?: { price: string } } };
  return body.data?.BTCUSD?.price;
}

async function skippedOf({ adminUrl }: TestService): Promise<string | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return /^tickseal_cluster_skipped_records_total (\d+)$/m.exec(text)?.[1];
}
