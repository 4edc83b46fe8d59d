import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Client } from '../../src/client/client.js';
import { NODE } from '../../src/client/connect/node_platform.js';
import {
  EquivocationError,
  type SignerSource,
  type Tick,
  type TicksealError,
  UnsignedMappingError,
} from '../../src/client/node_index.js';
import { type ContractServer, startContractServer, TOKEN } from './contract_server.js';
import { bodyOf, SECRET_KEY, SIGNER, signed } from './signed_payload.js';
import { type ListedTaxonomy, withStatement } from './signed_statement.js';

// Attacks by whoever answers `/v1/taxonomy`. The payloads and their signatures are valid.

const NEXT_KEY = new Uint8Array(32).fill(8);
const [CHEAP, DEAR] = [100n, 5_000n];
/** The speed-up of the client's timers. */
const SPEED = 5;
const FAST = { ...NODE, schedule: (run: () => void, delayMs: number) => NODE.schedule(run, delayMs / SPEED) };

function listOf(symbols: readonly string[], taxonomyId = 1): ListedTaxonomy {
  const assets = symbols.map((name, i) => ({ asset_id: i + 1, name, signature_type: 'evm' }));
  return { taxonomy_id: taxonomyId, assets };
}

const HONEST = withStatement(listOf(['A1', 'A2']));
const SWAPPED = { ...HONEST, assets: listOf(['A2', 'A1']).assets };

/** Sends the prices of IDs 1 and 2. */
function send(
  server: ContractServer,
  prices: readonly [bigint, bigint],
  { taxonomyId = 1, secretKey = SECRET_KEY } = {},
): void {
  const timestampNs = process.hrtime.bigint() + startNs;
  const assets = prices.map((price, i) => [i + 1, price, 1] as const);
  const body = bodyOf({ taxonomyId, timestampNs, assets }, false);
  server.broadcast(JSON.stringify({ type: 'signed_ecdsa', p: signed(body, secretKey) }));
}

const startNs = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();

async function serve(t: Test, taxonomy: ContractServer['taxonomy'] = HONEST): Promise<ContractServer> {
  const server = await startContractServer(HONEST);
  server.taxonomy = taxonomy;
  t.teardown(() => server.close());
  return server;
}

function open(t: Test, servers: readonly ContractServer[], signers: SignerSource = [SIGNER]) {
  const client = new Client({ urls: servers.map(({ url }) => url), token: TOKEN, signers }, FAST);
  t.teardown(() => client.close());
  const errors: TicksealError[] = [];
  const states: string[] = [];
  const ticks: Tick[] = [];
  client.on('error', (error) => errors.push(error));
  client.on('state', ({ state }) => states.push(state));
  const stream = client.stream(['A1', 'A2'], { channel: '100ms' });
  const ended = (async () => {
    for await (const tick of stream) ticks.push(tick);
  })().catch((error: TicksealError) => error);
  const pairs = () => ticks.map(({ symbol, price }) => `${symbol} ${price}`);
  return {
    client,
    errors,
    states,
    ticks,
    pairs,
    ended,
    saw: (pair: string) => eventually(() => pairs().includes(pair)),
  };
}

const repeat = (t: Test, run: () => void) => {
  const timer = setInterval(run, 50);
  t.teardown(() => clearInterval(timer));
};

test('without a signed mapping nothing is verified, and the stream ends', async (t) => {
  const answers: readonly [ContractServer['taxonomy'], RegExp][] = [
    [SWAPPED, /of another list or taxonomy/],
    [{ ...HONEST, statement: undefined }, /serves no statement/],
    [{ ...SWAPPED, statement: withStatement(listOf(['A1', 'A2', 'A3'])).statement }, /of another list/],
    [withStatement(SWAPPED, NEXT_KEY), /signer: signed by/],
  ];
  await Promise.all(
    answers.map(async ([taxonomy, reason]) => {
      const server = await serve(t, taxonomy);
      const { client, errors, states, ticks, ended } = open(t, [server]);
      repeat(t, () => send(server, [CHEAP, DEAR]));
      const error = await ended;
      t.type(error, UnsignedMappingError);
      t.match(error, {
        name: 'UnsignedMappingError',
        url: server.url.replace('ws', 'http'),
        message: reason,
      });
      t.match(errors[0], { message: (error as Error).message }, 'the first read tells it already');
      t.equal(states.at(-1), 'ended');
      t.same(ticks, []);
      await t.rejects(client.taxonomy(), UnsignedMappingError);
    }),
  );
});

test('a mapping that was verified stays, whatever is served later', async (t) => {
  const server = await serve(t);
  const { errors, pairs, saw } = open(t, [server]);
  await eventually(() => server.received.length > 0);
  send(server, [CHEAP, DEAR]);
  await saw('A2 5000');
  server.taxonomy = SWAPPED;
  server.broadcast('{"type":"taxonomy"}');
  await eventually(() => errors.length > 0);
  t.match(errors, [UnsignedMappingError]);
  send(server, [CHEAP + 1n, DEAR + 1n]);
  await saw('A2 5001');
  t.same(pairs(), ['A1 100', 'A2 5000', 'A1 101', 'A2 5001']);
});

test('payloads of a raised taxonomy ID wait for its statement, and none is lost or misread', async (t) => {
  const server = await serve(t);
  const { errors, pairs, saw, client } = open(t, [server]);
  const gaps: object[] = [];
  client.on('gap', (gap) => gaps.push(gap));
  let taxonomies = 0;
  const reads = () => taxonomies;
  client.on('taxonomy', () => {
    taxonomies += 1;
  });
  await eventually(() => server.received.length > 0);
  send(server, [CHEAP, DEAR]);
  await saw('A2 5000');
  const readsBefore = reads();
  // The IDs of both assets are exchanged.
  send(server, [DEAR + 1n, CHEAP + 1n], { taxonomyId: 2 });
  send(server, [CHEAP + 2n, DEAR + 2n]);
  await eventually(() => reads() > readsBefore + 1);
  t.same(pairs(), ['A1 100', 'A2 5000'], 'they wait');
  server.taxonomy = withStatement(listOf(['A2', 'A1'], 2));
  await saw('A2 5002');
  send(server, [DEAR + 3n, CHEAP + 3n], { taxonomyId: 2 });
  await saw('A1 103');
  const wrong = pairs().filter((pair) => !/^(?:A1 10\d|A2 500\d)$/.test(pair));
  t.same(wrong, []);
  t.ok(pairs().includes('A1 101') && pairs().includes('A2 5001'), 'the payload that waited is delivered');
  t.same(gaps, []);
  t.same(errors, []);
});

test('two meanings of one ID end the stream with evidence, from one service or from two', async (t) => {
  const other = withStatement(listOf(['A2', 'A1']));
  const one = await serve(t);
  const alone = open(t, [one]);
  await eventually(() => one.received.length > 0);
  one.taxonomy = other;
  one.broadcast('{"type":"taxonomy"}');
  const error = await alone.ended;
  t.type(error, EquivocationError);
  t.match((error as EquivocationError).evidence, /"kind": "two meanings"/);
  t.same(alone.errors, [error]);
  const two = open(t, [await serve(t), await serve(t, other)]);
  t.match(await two.ended, { name: 'EquivocationError' });
  t.ok(two.errors.every((one) => one instanceof EquivocationError));
});
