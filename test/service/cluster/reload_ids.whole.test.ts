import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { addressOf } from '../../../src/cli/keygen_command.js';
import { parseFrame, publishMessage } from '../../../src/client/index.js';
import { IDS_FILE } from '../../../src/log/store/streaming_ids.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import {
  get,
  publisherSigner,
  type SERVICE_KEYS,
  type Sections,
  type TestService,
  TestSocket,
} from '../harness.js';
import { readStatement, taxonomyOf } from '../read_statement.js';
import { STREAM_KEYS, TestCluster, untilReady } from './nodes.js';

const BEFORE: Sections = {
  assets: [
    { id: 1, symbol: 'A' },
    { id: 2, symbol: 'B' },
  ],
};
const MOVED: Sections = {
  assets: [
    { id: 4, symbol: 'A' },
    { id: 3, symbol: 'B' },
    { id: 5, symbol: 'C' },
  ],
};
/**
 * The first price of each symbol. The prices of two symbols are far apart, so that the test notices a price under the wrong
 * symbol.
 */
const FIRST_PRICE: Readonly<Record<string, bigint>> = { A: 1_000n, B: 2_000n, C: 3_000n };

/** Publishes prices of all symbols. Each price is greater than the price before. */
class Publisher {
  readonly #socket: TestSocket;
  readonly #symbols: readonly string[];
  #count = 0n;

  private constructor(socket: TestSocket, symbols: readonly string[]) {
    this.#socket = socket;
    this.#symbols = symbols;
  }

  static async open(node: TestService, symbols: readonly string[]): Promise<Publisher> {
    return new Publisher(await TestSocket.open(`${node.socketUrl}/evm/publish`), symbols);
  }

  publish(): bigint {
    const timestampNs = BigInt(Date.now()) * 1_000_000n + ++this.#count;
    const updates = this.#symbols.map((symbol) => {
      const price = FIRST_PRICE[symbol]! + this.#count;
      return publisherSigner(1).sign({ symbol, price, timestampNs });
    });
    this.#socket.send(publishMessage(`trace ${this.#count}`, updates));
    return this.#count;
  }
}

/** A reader of both assets. The reader uses the IDs that its node had when the reader subscribed. */
class Reader {
  readonly #newest = new Map<string, bigint>();
  readonly wrong: string[] = [];

  private constructor(symbolById: ReadonlyMap<number, string>, socket: TestSocket) {
    socket.ws.on('message', (data) => {
      for (const { id, value } of assetsOf(data.toString())) {
        const symbol = symbolById.get(id)!;
        if (value / 1_000n !== FIRST_PRICE[symbol]! / 1_000n) this.wrong.push(`${symbol} is ${value}`);
        this.#newest.set(symbol, value - FIRST_PRICE[symbol]!);
      }
    });
  }

  static async open(node: TestService): Promise<Reader> {
    const socket = await TestSocket.open(`${node.socketUrl}/ws`);
    const reader = new Reader(
      new Map([
        [1, 'A'],
        [2, 'B'],
      ]),
      socket,
    );
    socket.send({ type: 'subscribe', assets: [1, 2], id: 'x' });
    return reader;
  }

  has(symbol: string, count: bigint): boolean {
    return (this.#newest.get(symbol) ?? 0n) >= count;
  }
}

test(
  'no edge shows a price under another symbol while a reload of IDs rolls through',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const leader = await cluster.node(1, 'aggregator', BEFORE);
    await untilReady(leader);
    const edge = await cluster.node(2, 'edge', BEFORE);
    await untilReady(edge);
    const publisher = await Publisher.open(leader, ['A', 'B']);
    const reader = await Reader.open(edge);
    const reaches = (count: bigint) =>
      eventually(() => reader.wrong.length > 0 || (reader.has('A', count) && reader.has('B', count)));
    await reaches(publisher.publish());

    for (let round = 0; round < 20; round++) publisher.publish();
    leader.reconfigure(MOVED);
    for (let round = 0; round < 20; round++) publisher.publish();
    await reaches(publisher.publish());
    t.same(reader.wrong, []);

    edge.reconfigure(MOVED, STREAM_KEYS as typeof SERVICE_KEYS);
    const [shown] = await firstPrices(edge, 4);
    t.equal(shown!.value / 1_000n, 1n, 'A under its new ID since its own reload');
  },
);

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

function assetsOf(text: string) {
  const frame = parseFrame(text);
  return frame?.type === 'unsigned' ? frame.assets : [];
}

/** Returns the first prices that a new reader of an ID receives. */
async function firstPrices(node: TestService, id: number) {
  const socket = await TestSocket.open(`${node.socketUrl}/ws`);
  socket.send({ type: 'subscribe', assets: [id], id: 'x' });
  for (;;) {
    const assets = assetsOf(await socket.next());
    if (assets.length > 0) return assets;
  }
}
