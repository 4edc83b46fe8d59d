import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'tap';
import { verifyPayload } from '../../src/client/index.js';
import { claimPort } from '../../src/server/uws/port_claim.js';
import { ServeProcess, writeConfig } from './child.js';
import { Feed, units } from './feed.js';
import { get, TestSocket } from './harness.js';
import { latestWhen } from './publishing.js';

async function publish(socketUrl: string, count: number): Promise<TestSocket> {
  const feed = await Feed.open({ socketUrl }, { ack: 'durable' });
  await feed.accept({ symbol: 'BTCUSD', price: units(count) });
  return feed.socket;
}

/** Returns the `ts` of a signed frame. */
function timeOf(frame: string): bigint {
  const { p } = JSON.parse(frame) as { p: string };
  return verifyPayload(p, { signers: 'unchecked', taxonomyId: 1 }).payload!.timestampNs;
}

for (const threads of [1, 2])
  test(`${threads} threads: a service takes over from one that runs`, async (t) => {
    const [port, adminPort] = await Promise.all([1, 2].map(() => claimPort({ host: '127.0.0.1', port: 0 })));
    const listen = { port, threads };
    const file = writeConfig(t.testdir(), { listen, admin: { port: adminPort }, limits: { drain: '0s' } });
    const serve = (...args: string[]) => {
      const running = new ServeProcess(['--config', file, ...args]);
      t.teardown(() => running.kill());
      return running;
    };
    const first = serve();
    const { url, socketUrl, adminUrl } = await first.ready();
    const stream = await TestSocket.open(`${socketUrl}/ws?message_type=signed_ecdsa`);
    stream.send({ type: 'subscribe', assets: [1], id: 'x' });
    t.match(await stream.nextJson(), { type: 'subscribe' });
    const publisher = await publish(socketUrl, 1);
    const before = timeOf(await stream.next());

    // A client sends requests all the time. Each answer must be prices, or a 503 that tells the client to try again.
    const statuses = new Map<number | string, number>();
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        const status = await get(`${url}/v1/prices/assets`, { Connection: 'close' }).then(
          (response) => response.status,
          () => 'refused',
        );
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await sleep(2);
      }
    })();
    const second = serve('--take-over');
    t.equal((await stream.closed).code, 1001);
    // A client that returns finds the second service. While a thread of the first service still listens, the answer may be a
    // 503.
    const attempt = TestSocket.open(`${socketUrl}/ws?message_type=signed_ecdsa`);
    const again = threads === 1 ? await attempt : await attempt.catch(() => undefined);
    t.equal((await publisher.closed).code, 1001);
    t.same(await first.exited, { code: 0, signal: null });
    await second.ready();
    isOver = true;
    await asking;
    t.ok(statuses.get(200)! > 0);
    t.same(
      [...statuses.keys()].filter((status) => status !== 200 && status !== 503 && status !== 'refused'),
      [],
    );

    const latest = await latestWhen({ url }, 'BTCUSD');
    t.equal(latest.price, String(units(1)), 'what was accepted goes on');
    const back = again ?? (await TestSocket.open(`${socketUrl}/ws?message_type=signed_ecdsa`));
    back.send({ type: 'subscribe', assets: [1] });
    t.ok(timeOf(await back.next()) > before);
    t.match(await (await fetch(`${adminUrl}/readyz`)).json(), { data: 'ok', version: /^\d/ });
    await publish(socketUrl, 2);
    second.child.kill('SIGTERM');
    t.same(await second.exited, { code: 0, signal: null });
    t.equal(first.stderr + second.stderr, '');
  });
