import { ORACLE_ID, symbolOf } from '../../scripts/load/config.js';
import { publisherKeys, SERVICE_KEY } from '../../scripts/load/keys.js';
import { Updates } from '../../scripts/load/updates.js';
import { createAggregateSigner } from '../../src/crypto/aggregate_signer.js';
import { createCryptoPool } from '../../src/crypto/pool/pool.js';
import { LatestInput } from '../../src/log/records/latest_input.js';
import type { Asset, AssetIndex, ListedPublisher, PublisherIndex } from '../../src/model/asset.js';
import { Catalogue } from '../../src/model/catalogue.js';
import { toHex } from '../../src/model/hex.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { AssetBook } from '../../src/prices/books/book.js';
import { type Candidate, Gate } from '../../src/prices/gate.js';
import type { ReadMessage } from '../../src/prices/message.js';
import { readPublishMessage } from '../../src/prices/message.js';
import { verifyCandidates } from '../../src/prices/update_verifier.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { STAGE_TIME_NS } from './stream_stage.js';

export const STAGE_NAMES = ['read', 'verify', 'aggregate', 'sign', 'encode'] as const;
export type StageName = (typeof STAGE_NAMES)[number];

export const STAGE_ASSETS = 10;
export const STAGE_PUBLISHERS = 5;
/** The number of messages of each publisher. A stage works on one message at a time. */
const MESSAGES = 8;

/**
 * Returns the stages of one process, in the order in which a price passes through the stages. Each stage is a function that does the
 * stage's work once.
 */
export async function processStages(): Promise<Readonly<Record<StageName, () => void>>> {
  const texts = publishedTexts();
  const messages = texts.map(read);
  const catalogue = new Catalogue({ assets, publishers });
  const clock = { nowNs: () => STAGE_TIME_NS };
  const gate = new Gate(catalogue, clock, { maxPastNs: DAY_NS, maxFutureNs: DAY_NS, maxBackwardNs: DAY_NS });
  const admitted = messages.map(({ updates }) => updates.map((raw) => admit(gate, raw)));
  // Each message has a separate turn, so its signatures are verified immediately.
  const pool = await createCryptoPool({ threads: 0, defer: (end) => end() });
  const inputs = admitted.map(([candidate]) => {
    const { publisher, price, timestampNs, raw } = candidate!;
    const input = new LatestInput({ floorNs: 0n as TimeNs, updates: [] });
    input.put(toHex(publisher.key), price, timestampNs, raw);
    return { publisher, input };
  });
  const book = new AssetBook(catalogue.assets[0]!, DAY_NS);
  for (const { publisher, input } of inputs) book.put(publisher, input, STAGE_TIME_NS);
  const signer = createAggregateSigner({ evm: SERVICE_KEY }, ORACLE_ID, pool);
  const counted = book.counted();
  const table = new PriceTable(catalogue.streamingIds);
  const indexes = assets.map(({ index }) => index);
  for (const index of indexes) table.set(index, book.price!, book.quality());
  const quality = book.quality();
  const encoder = new FrameEncoder(table, 1);

  let at = 0;
  return {
    read: () => read(texts[at++ % texts.length]!),
    verify() {
      const refusals = verifyCandidates(admitted[at++ % admitted.length]!, 'evm', pool);
      if (refusals instanceof Promise || refusals.some((refusal) => refusal !== undefined))
        throw new Error('a signature is not valid');
    },
    aggregate() {
      const { publisher, input } = inputs[at++ % inputs.length]!;
      book.put(publisher, input, STAGE_TIME_NS);
      if (book.price === undefined || book.quality().publishers === 0)
        throw new Error('the book has no price');
    },
    sign() {
      const aggregate = { asset: book.asset, trigger: 'clock', price: book.price!, inputs: counted } as const;
      signer.sign('evm', [{ ...aggregate, signedAtNs: (STAGE_TIME_NS + BigInt(at++)) as TimeNs }]);
    },
    encode() {
      const { input } = inputs[at % inputs.length]!;
      table.set(indexes[at++ % indexes.length]!, input.price, quality);
      encoder.unsignedFrame(indexes, STAGE_TIME_NS);
    },
  };
}

const DAY_NS = 86_400n * NS_PER_SECOND;

const assets = Array.from(
  { length: STAGE_ASSETS },
  (_, index): Asset => ({
    index: index as AssetIndex,
    id: index,
    symbol: symbolOf(index),
    signatureType: 'evm',
    aggregation: 'median',
    minPublishers: 1,
    maxAgeNs: DAY_NS,
    clockPeriodNs: NS_PER_SECOND,
    delta: 100_000n,
    maxDeviation: undefined,
    frozen: undefined,
    calendar: 'none',
  }),
);

const publishers = Array.from(
  { length: STAGE_PUBLISHERS },
  (_, index): ListedPublisher => ({
    index: index as PublisherIndex,
    signatureType: 'evm',
    key: publisherKeys('evm', index).key,
    oracleId: undefined,
    assets: new Set(['*']),
    weight: 1_000_000n,
  }),
);

/** Returns messages of all publishers, in turns. Each message has an update of every asset. */
function publishedTexts(): string[] {
  const updates = new Updates('evm');
  return Array.from({ length: MESSAGES * STAGE_PUBLISHERS }, (_, message) =>
    updates.message(
      message % STAGE_PUBLISHERS,
      assets.map(({ index }) => index),
    ),
  );
}

function read(text: string): ReadMessage {
  const message = readPublishMessage(text, STAGE_ASSETS);
  if (!message.ok) throw new Error(message.error);
  return message;
}

function admit(gate: Gate, raw: ReadMessage['updates'][number]): Candidate {
  const rights = { identity: 'bench', mayPublishAs: () => true, maySee: () => true };
  const candidate = gate.admit(raw, 'evm', rights);
  if (typeof candidate === 'string') throw new Error(candidate);
  return candidate;
}
