import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Feed, units } from './feed.js';
import { ask, namedToken, publisherSigner, startTestService, TestSocket } from './harness.js';

// Tests that changed tokens and rights take effect on open sockets.

async function closeCode(socket: TestSocket): Promise<number> {
  return (await socket.closed).code;
}

test('a revoked token closes its sockets, and those of no other', async (t) => {
  const service = await startTestService(t, {
    tokens: [namedToken('gone'), namedToken('stays'), namedToken('renamed')],
  });
  const open = (name: string) =>
    Promise.all([
      TestSocket.open(`${service.socketUrl}/ws`, name),
      TestSocket.open(`${service.socketUrl}/evm/publish`, name),
      TestSocket.open(`${service.socketUrl}/evm/subscribe`, name),
    ]);
  const [gone, stays, renamed] = await Promise.all([open('gone'), open('stays'), open('renamed')]);
  for (const [socket] of [stays, renamed]) {
    socket.send({ type: 'subscribe', assets: [1], id: 1 });
    await socket.next();
  }
  service.reconfigure({
    tokens: [namedToken('stays'), namedToken('new'), namedToken('renamed', { name: 'other name' })],
  });
  t.same(await Promise.all(gone.map(closeCode)), [4401, 4401, 4401]);
  t.equal((await ask(service, '/v1/taxonomy', 'gone')).status, 401);
  await t.rejects(TestSocket.open(`${service.socketUrl}/ws`, 'gone'), /^401/);
  t.equal((await ask(service, '/v1/taxonomy', 'new')).status, 200);
  const feed = await Feed.open(service, { token: 'new' });
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  for (const [socket] of [stays, renamed]) t.ok(await socket.next(), 'still served');
});

test('what a token may see, publish and ask changes under its open sockets', async (t) => {
  const assets = [1, 2].map((id) => ({ id, symbol: `A${id}` }));
  const service = await startTestService(t, { assets, tokens: [namedToken('all'), namedToken('a')] });
  const all = await Feed.open(service, { token: 'all' });
  const stream = await TestSocket.open(`${service.socketUrl}/ws`, 'a');
  stream.send({ type: 'subscribe', assets: [1, 2], id: 1 });
  await stream.next();
  const feed = await Feed.open(service, { token: 'a' });
  await feed.accept({ symbol: 'A1', price: units(1) });
  t.match(await stream.nextJson(), { a: [{ id: 1 }] });

  const key = publisherSigner(2).publicKey;
  const rights = { assets: ['A2'], publisher_keys: [key.toLowerCase()] };
  service.reconfigure({ assets, tokens: [namedToken('all'), namedToken('a', rights)] });
  t.same(await stream.nextJson(), { type: 'taxonomy', ended: [1] }, 'as if the asset had ended');
  await all.accept({ symbol: 'A1', price: units(2) }, { symbol: 'A2', price: units(3) });
  t.same((await stream.nextJson())['a'], [{ id: 2, v: String(units(3)) }], 'no more of A1');
  stream.send({ type: 'subscribe', assets: [1], id: 2 });
  t.match(await stream.nextJson(), { type: 'error', id: 2, error: /1$/ });
  t.match(await feed.publish({ symbol: 'A2', price: units(4) }), { accepted: [], rejected: { A2: /token/ } });
  await feed.accept({ symbol: 'A2', price: units(4), publisher: 2 });
  t.equal((await ask(service, '/v1/prices/latest?assets=A1', 'a')).status, 403);

  service.reconfigure({ assets, tokens: [namedToken('all'), namedToken('a')] });
  await eventually(async () => JSON.stringify((await stream.nextJson())['returned']) === '[1]');
  t.match(await stream.nextJson(), { a: [{ id: 1, v: String(units(2)) }] }, 'it comes at once');
});
