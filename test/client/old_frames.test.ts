import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { createStreamClient, type Tick, UnverifiedError } from '../../src/client/node_index.js';
import { type ContractServer, startContractServer, TOKEN } from './contract_server.js';
import { bodyOf, SIGNER, signed } from './signed_payload.js';

// Attacks by a man in the middle, who delays frames or replays recorded frames. Their signatures are valid.

const BTCUSD = 1;

function sendFrame(server: ContractServer, madeMs: number, price: number): void {
  const timestampNs = BigInt(madeMs) * 1_000_000n;
  const body = bodyOf({ taxonomyId: 1, timestampNs, assets: [[BTCUSD, BigInt(price), 1]] }, false);
  server.broadcast(JSON.stringify({ type: 'signed_ecdsa', p: signed(body) }));
}

test('frames above maxAgeMs are errors and no ticks', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const client = createStreamClient({ urls: server.url, token: TOKEN, signers: [SIGNER] });
  t.teardown(() => client.close());
  const errors: Error[] = [];
  client.on('error', (error) => errors.push(error));
  const ticks: Tick[] = [];
  const open = async (options: { channel: '1s' | 'real_time'; maxAgeMs?: number }) => {
    const requests = server.received.length;
    const stream = client.stream(['BTCUSD'], options);
    const done = (async () => {
      for await (const tick of stream) ticks.push(tick);
    })();
    await eventually(() => server.received.length > requests);
    return async () => {
      await stream.close();
      await done;
    };
  };
  const closeDefault = await open({ channel: '1s' });
  sendFrame(server, Date.now() - 15_001, 1);
  await eventually(() => errors.length > 0);
  t.match(errors.splice(0), [UnverifiedError]);
  sendFrame(server, Date.now() - 10_000, 2);
  await eventually(() => ticks.length > 0);
  t.match(ticks.splice(0), [{ price: 2n }]);
  await closeDefault();
  const close = await open({ channel: 'real_time', maxAgeMs: 400 });
  sendFrame(server, Date.now() - 401, 1);
  await eventually(() => errors.length > 0);
  t.match(errors, [{ symbols: ['BTCUSD'], message: /age: the payload is \d+ ms old.*maxAgeMs is 400/ }]);
  t.match(errors[0], { checks: [{ name: 'form', status: 'ok' }] });
  await close();
  t.same(ticks, []);
});
