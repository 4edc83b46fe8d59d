import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { DEMO_CATALOGUE } from '../../../src/cli/demo/demo_catalogue.js';
import { ensureDemoSecrets } from '../../../src/cli/demo/secrets.js';
import { startSimulation } from '../../../src/cli/demo/simulation.js';
import type { PriceUpdate } from '../../../src/client/sign/sign_price.js';
import { parseExactJson } from '../../../src/client/verify/exact_json.js';
import { verifySignedPrice } from '../../../src/client/verify/verify_signed_price.js';
import { startContractServer, TOKEN } from '../../client/contract_server.js';

/** The number of publishers. Each of them sends all its assets in its first message. */
const PUBLISHERS = 6;

test('simulated publishers sign for real, say that they are simulated, and end when told', async (t) => {
  const dataDir = t.testdir();
  const secrets = { ...ensureDemoSecrets(dataDir).secrets, publisherToken: TOKEN };
  writeFileSync(join(dataDir, 'demo-secrets.json'), JSON.stringify(secrets));

  const server = await startContractServer();
  t.teardown(() => server.close());
  let messages = 0;
  const published = new Promise<void>((resolve) => {
    server.onSocket = (socket) =>
      socket.once('message', () => {
        messages += 1;
        if (messages === PUBLISHERS) resolve();
      });
  });
  const simulation = startSimulation({
    dataDir,
    urls: [server.url],
    onExit: () => t.fail('it ended by itself'),
  });
  await published;
  await simulation.stop();
  t.equal(server.sockets.size, 0, 'every connection was closed');
  t.same([...new Set(server.paths)].sort(), ['/evm/publish', '/stark/publish']);

  const publishers = new Set<string>();
  const assets = new Set<string>();
  for (const text of server.received) {
    const { type, data } = parseExactJson(text) as { type: string; data: Record<string, PriceUpdate> };
    t.equal(type, 'signed_prices');
    for (const [symbol, { oracle_id, asset_id, signed_price }] of Object.entries(data)) {
      publishers.add(signed_price.publisher_key);
      assets.add(`${signed_price.signature_type} ${symbol}`);
      const { verdict } = verifySignedPrice(signed_price, {
        assetId: symbol,
        signers: [signed_price.publisher_key],
      });
      t.equal(verdict, 'verified', symbol);
      t.match(
        { oracle_id, asset_id, ...signed_price },
        { oracle_id: 'simul', asset_id: symbol, metadata: { simulation: true } },
      );
    }
  }
  t.equal(publishers.size, PUBLISHERS);
  t.same(assets, new Set(DEMO_CATALOGUE.map(({ symbol, signatureType }) => `${signatureType} ${symbol}`)));
});

test('a simulation that fails says so', async (t) => {
  const dataDir = t.testdir();
  const code = await new Promise<number | null>((resolve) => {
    startSimulation({ dataDir, urls: ['ws://127.0.0.1:1'], onExit: resolve });
  });
  t.equal(code, 1, 'there are no secrets');
});
