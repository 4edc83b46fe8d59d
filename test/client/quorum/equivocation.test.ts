import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { createClient, EquivocationError, type QuorumTick } from '../../../src/client/node_index.js';
import { parseEvidence } from '../../../src/client/verify/evidence_file.js';
import { checksumAddress, evmAddress } from '../../../src/client/verify/evm_signatures.js';
import { verifyEvidence } from '../../../src/client/verify/log_evidence.js';
import { signedPrice } from '../../publiclog/witness/audited_log.js';
import { startOperator, type TestOperator } from './operators.js';

const HONEST = 100_000n;
/** A second value within the spread, so that the spread alone does not exclude the operator. */
const OTHER = 100_200n;

/** Opens a quorum of three operators, of which the last has a second service with the same key. */
async function open(t: Test) {
  const operators = await Promise.all([0, 1, 2].map((n) => startOperator(n)));
  const [a, b, c] = operators as [TestOperator, TestOperator, TestOperator];
  const second = await c.startSecond();
  for (const server of [second, ...operators.map((one) => one.server)]) t.teardown(() => server.close());
  const named = operators.map(({ options }) => options);
  const twoUrls = { ...c.options, urls: [c.server.url, second.url] };
  const client = createClient({ quorum: { operators: [named[0]!, named[1]!, twoUrls] } });
  t.teardown(() => client.close());
  const errors: { operator: string; error: Error }[] = [];
  client.on('error', (event) => errors.push(event));
  const ticks: QuorumTick[] = [];
  const stream = client.stream(['BTCUSD', 'ETHUSD']);
  void (async () => {
    for await (const tick of stream) ticks.push(tick);
  })();
  await eventually(
    () => [a, b, c].every(({ server }) => server.received.length > 0) && second.received.length > 0,
  );
  const send = (madeMs: number) => {
    for (const one of [a, b]) one.send('BTCUSD', HONEST, madeMs);
  };
  return { a, b, c, second, client, ticks, errors, send };
}

for (const [name, deceive] of [
  [
    'at two addresses',
    ({ c, second }, one, other) =>
      void [c.server, second].map((server, i) => server.broadcast([one, other][i]!)),
  ],
] satisfies [string, (on: Awaited<ReturnType<typeof open>>, one: string, other: string) => void][])
  test(`two values for one time are noticed when they come ${name}`, async (t) => {
    const opened = await open(t);
    const { c, ticks, errors, send } = opened;
    await eventually(() => {
      send(Date.now());
      c.send('BTCUSD', HONEST);
      return ticks.some(({ verdict }) => verdict === 'verified 3 of 3');
    });
    const madeMs = Date.now() + 1;
    const [one, other] = [HONEST, OTHER].map((price) => c.frame('BTCUSD', price, madeMs));
    deceive(opened, one!, other!);
    await eventually(() => errors.some(({ error }) => error instanceof EquivocationError));
    const found = errors.filter(({ error }) => error instanceof EquivocationError);
    t.match(found, [{ operator: 'c', error: { symbol: 'BTCUSD', message: /signed two values of BTCUSD/ } }]);
    const evidence = parseEvidence((found[0]!.error as EquivocationError).evidence);
    t.match(await verifyEvidence(evidence, { signers: c.options.signers }), { verdict: 'verified' });
    const from = ticks.length;
    await eventually(() => {
      send(Date.now());
      c.send('BTCUSD', HONEST);
      return ticks.length > from + 1;
    });
    t.match(ticks.at(-1), { verdict: 'verified 2 of 3', operators: [{}, {}, { verdict: 'equivocates' }] });
  });

test('two aggregates with one time are noticed, also when they come one after the other', async (t) => {
  const timeNs = 1_000_000_000n;
  const keys = [0, 1, 2].map((n) => new Uint8Array(32).fill(n + 1));
  const operators = keys.map((key, i) => ({
    name: 'abc'[i]!,
    urls: `http://${'abc'[i]}.example.com`,
    signers: [checksumAddress(evmAddress(key))],
  }));
  const prices = [HONEST, HONEST, HONEST];
  const client = createClient({
    quorum: { operators },
    fetch: async (url) => {
      const n = 'abc'.indexOf(new URL(url).host[0]!);
      const aggregate = JSON.parse(signedPrice(timeNs, prices[n]!, 'BTCUSD', keys[n]!));
      // A service keeps old aggregates without their inputs.
      delete aggregate.signed_prices;
      return new Response(JSON.stringify({ data: { BTCUSD: aggregate } })) as never;
    },
  });
  t.teardown(() => client.close());
  const errors: { operator: string; error: Error }[] = [];
  client.on('error', (event) => errors.push(event));
  const ask = async () => (await client.at(['BTCUSD'], timeNs))['BTCUSD']!;
  t.match(await ask(), { verdict: 'verified 3 of 3' });
  t.match(await ask(), { verdict: 'verified 3 of 3' }, 'a repetition is not a second value');
  prices[2] = OTHER;
  t.match(await ask(), { verdict: 'verified 2 of 3', operators: [{}, {}, { verdict: 'equivocates' }] });
  t.match(errors, [
    { operator: 'c', error: { symbol: 'BTCUSD', message: /c.example.com: 0x\w+ signed two values/ } },
  ]);
  const { evidence } = errors[0]!.error as EquivocationError;
  t.match(await verifyEvidence(parseEvidence(evidence), { signers: operators[2]!.signers }), {
    verdict: 'verified',
    statement: /signed two values of BTCUSD for 1000000000 ns/,
  });
  prices[2] = HONEST;
  t.match(await ask(), { verdict: 'verified 2 of 3' }, 'it never counts again');
});
