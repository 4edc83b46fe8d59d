import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { publishMessage } from '../../../src/client/index.js';
import { natsServers, needsNatsServer, OPEN_ACCOUNTS } from '../../cluster/nats/servers.js';
import { publisherSigner, type TestService, TestSocket } from '../harness.js';
import { TestCluster, untilReady } from './nodes.js';

const DURABLE = '/evm/publish?ack=durable';

function message(price: bigint): string {
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  return publishMessage(`trace ${price}`, [
    publisherSigner(1).sign({ symbol: 'BTCUSD', price, timestampNs }),
  ]);
}

async function readinessOf({ adminUrl }: TestService): Promise<string> {
  return (await fetch(`${adminUrl}/readyz`)).text();
}

async function forgetfulOf({ adminUrl }: TestService): Promise<string | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return /^tickseal_cluster_forgetful_servers (\d+)$/m.exec(text)?.[1];
}

/** Publishes until the answer has the expected form, because the nodes query the servers only every few seconds. */
function untilAnswered(node: TestService, wanted: RegExp): Promise<string> {
  let price = 100n;
  return eventually(async () => {
    const socket = await TestSocket.open(node.socketUrl + DURABLE);
    socket.send(message(++price));
    const answer = await socket.next();
    await socket.close();
    return wanted.test(answer) && answer;
  });
}

test('durable is refused while a server may forget', needsNatsServer(), async (t) => {
  const synced = [true, false, true];
  const servers = await natsServers(t, 3, OPEN_ACCOUNTS, { syncAlways: (server) => synced[server]! });
  const cluster = new TestCluster(t, servers.urls);
  const leader = await cluster.node(1, 'aggregator', {}, { durable: 'disk' });
  await eventually(async () => /n2 may forget/.test(await readinessOf(leader)));
  const edge = await cluster.node(3, 'edge');
  await untilReady(edge);
  for (const node of [leader, edge]) {
    const answer = await untilAnswered(node, /n2/);
    t.match(JSON.parse(answer), {
      type: 'error',
      trace_id: /^trace/,
      error: /^ack=durable is refused: NATS server n2 may forget in a power cut: its sync_interval is 120 s/,
    });
  }
  t.equal(await forgetfulOf(leader), '1');
  t.equal(await forgetfulOf(edge), undefined);
  const other = await TestSocket.open(`${edge.socketUrl}/evm/publish?ack=true`);
  other.send(message(7n));
  t.match(await other.nextJson(), { type: 'ack', accepted: ['BTCUSD'] }, 'other answers promise no disk');

  synced[1] = true;
  await servers.configure();
  await servers.signal(1, 'SIGHUP');
  t.match(await untilAnswered(leader, /./), /n2 may forget/, 'a server takes no other interval in a reload');
  await servers.signal(1, 'SIGTERM');
  await servers.start(1);
  await untilReady(leader);
  const taken = JSON.parse(await untilAnswered(edge, /"ack"/));
  t.same([taken.accepted, taken.durable], [['BTCUSD'], undefined]);
  t.equal(await forgetfulOf(leader), '0');

  synced[2] = false;
  await servers.configure();
  await servers.signal(2, 'SIGTERM');
  await servers.start(2);
  await untilAnswered(edge, /ack=durable is refused: NATS server n3 may forget/);
  t.match(await readinessOf(leader), /ack=durable is refused: NATS server n3/);
});

test('an operator may accept that servers forget, and publishers read it', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1);
  const cluster = new TestCluster(t, urls);
  const refusing = await cluster.node(1, 'aggregator', {}, { durable: 'disk' });
  await eventually(async () => /n1 does not say whether it syncs/.test(await readinessOf(refusing)));
  await untilAnswered(refusing, /ack=durable is refused: NATS server n1 does not say/);
  await refusing.stop();
  const leader = await cluster.node(2, 'aggregator');
  await untilReady(leader);
  const edge = await cluster.node(3, 'edge');
  await untilReady(edge);
  for (const node of [leader, edge])
    t.match(JSON.parse(await untilAnswered(node, /"ack"/)), { accepted: ['BTCUSD'], durable: 'memory' });
  t.equal(await forgetfulOf(leader), undefined);
  const other = await TestSocket.open(`${leader.socketUrl}/evm/publish?ack=true`);
  other.send(message(8n));
  t.notOk('durable' in ((await other.nextJson()) as object));
});
