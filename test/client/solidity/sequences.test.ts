import { hexToBytes } from '@ethereumjs/util';
import { test } from 'tap';
import { seededRandom } from '../../../scripts/load/random.js';
import { cases } from '../../tier.js';
import { Chain, type Deployed, type Hex, type Result } from './chain.js';
import { NATIVE_ECRECOVER } from './native_ecrecover.js';
import {
  ALL,
  bodyOf,
  type Content,
  hexOf,
  keyOf,
  NS_PER_S,
  PRICE,
  type Quoted,
  STATUS,
  sign,
} from './payloads.js';
import { NO_TERMS, readerCode, START_S, TAXONOMY_ID, type Terms } from './reader.js';

// Random sequences of updates: a reader and a slow model of it must agree on each call and on all prices.

const KEYS = [keyOf(1), keyOf(2), keyOf(3)];
const ASSET_IDS = [1, 2, 65_535];
const [PAYLOADS, STEPS_MAX] = [400, 7];
/** The assets' prices, with both ends of the range. */
const VALUES = [0n, 1n, -1n, 10n ** 18n, -(10n ** 18n), 2n ** 127n - 1n, -(2n ** 127n)];
/** Unusual times of payloads and jumps of the clock, in seconds: the bounds of age and lead, and their neighbours. */
const BOUNDS_S = [-62n, -61n, -60n, -59n, 1n, 2n, 29n, 30n, 31n, 60n, 61n, 62n];
const JUMPS_S = [1n, 2n, 29n, 59n, 60n, 61n, 100n];
const TERMS: readonly Terms[] = [
  NO_TERMS,
  { ...NO_TERMS, needsMarketStatus: true, maxInputAgeMs: 1_000, maxSpreadPpm: 500, rounds: 3 },
];

interface Prepared extends Content {
  readonly assets: readonly Required<Quoted>[];
  readonly signer: number;
  readonly fault: 'signature' | 'length' | undefined;
  readonly hex: Hex;
}

type Pick = <T>(choices: readonly T[]) => T;

/** Picks one of the unusual choices in one of ten cases. */
function rarely<T>(pick: Pick, usual: readonly T[], unusual: readonly T[]): T {
  return pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) === 0 ? pick(unusual) : pick(usual);
}

function prepare(pick: Pick): Prepared {
  const mask = pick([undefined, undefined, PRICE, PRICE | STATUS, ALL, ALL, ALL & ~STATUS, 0b10101]);
  const usual = [[1], [1, 2], [1, 2, 65_535], [2], [2, 65_535]];
  const unordered = pick([
    [2, 1],
    [1, 1],
  ]);
  const assets = rarely(pick, usual, [unordered]).map((id) => ({
    id,
    value: pick(VALUES),
    status: rarely(pick, [1, 2, 3, 255], [0]),
    ageMs: rarely(pick, [0, 999, 1_000], [1_001, 2 ** 32 - 1]),
    publishers: pick([0, 1, 255]),
    spreadPpm: rarely(pick, [0, 1, 499, 500], [501, 655_350, 655_351, 2 ** 32 - 1]),
  }));
  const timeS = START_S + rarely(pick, [-3n, -2n, -1n, 0n], BOUNDS_S);
  const timestampNs = timeS * NS_PER_S + pick([0n, 1n, 999_999_999n]);
  const taxonomyId = rarely(pick, [TAXONOMY_ID], [TAXONOMY_ID, 8]);
  const content = { taxonomyId, timestampNs, assets, ...(mask !== undefined && { mask }) };
  const signer = rarely(pick, [0, 0, 1], [2]);
  const fault = rarely(pick, [undefined], ['signature', 'length'] as const);
  const payload = sign(bodyOf(content), KEYS[signer]!);
  if (fault === 'signature') payload[64] = pick([2, 27, 28, 255]);
  return { ...content, signer, fault, hex: hexOf(fault === 'length' ? payload.subarray(0, -1) : payload) };
}

/** A slow model of TicksealReader, whose signers are the first two keys. */
class ReaderModel {
  nowS = START_S;
  /** The newest prices, as in the contract's slots. */
  readonly slots = new Map<number, string>();
  readonly #newest = new Map<number, { timestampNs: bigint; round: number }>();

  constructor(readonly terms: Terms) {}

  /** Returns `ok`, or the name of the error, with the reason of a refused price. @param ids the assets to store */
  update(payload: Prepared, ids: readonly number[]): string {
    const timeS = payload.timestampNs / NS_PER_S;
    const { assets, fault } = payload;
    if (fault === 'length') return 'WrongLength';
    if (payload.taxonomyId !== TAXONOMY_ID) return 'WrongTaxonomy';
    if (timeS + 60n < this.nowS) return 'TooOld';
    if (timeS > this.nowS + 30n) return 'InTheFuture';
    if (fault === 'signature') return 'InvalidSignature';
    if (payload.signer === 2) return 'UnknownSigner';
    if (assets.some(({ id }, i) => i > 0 && id <= assets[i - 1]!.id)) return 'UnorderedAssets';
    const wanted = ids.map((id) => assets.find((asset) => asset.id === id));
    if (wanted.includes(undefined)) return 'AssetMissing';
    if (timeS > this.nowS) return 'AheadOfBlock';
    let first = 'Refused 0 0';
    let stored = 0;
    for (const asset of wanted as Required<Quoted>[]) {
      const why = this.#refusalOf(payload, asset);
      if (why === 0) stored += this.#store(payload, asset);
      else if (first === 'Refused 0 0') first = `Refused ${asset.id} ${why}`;
    }
    return stored > 0 ? 'ok' : first;
  }

  /** Returns the number of the reason: not newer, no attribute, closed, inputs too old, spread too wide; or 0. */
  #refusalOf({ timestampNs, mask = PRICE }: Prepared, { id, status, ageMs, spreadPpm }: Required<Quoted>) {
    const { needsMarketStatus, maxInputAgeMs, maxSpreadPpm } = this.terms;
    const needed = (needsMarketStatus ? 2 : 0) | (maxInputAgeMs > 0 ? 4 : 0) | (maxSpreadPpm > 0 ? 16 : 0);
    if (timestampNs <= (this.#newest.get(id)?.timestampNs ?? -1n)) return 1;
    if ((mask & needed) !== needed) return 2;
    if ((mask & 2) !== 0 && status === 0) return 3;
    if (maxInputAgeMs > 0 && ageMs > maxInputAgeMs) return 4;
    return (mask & 16) !== 0 && spreadPpm > (maxSpreadPpm || 655_350) ? 5 : 0;
  }

  /** Keeps the slot of a price, from the written layout. @returns 1 */
  #store({ timestampNs, mask = PRICE }: Prepared, asset: Required<Quoted>): number {
    const { id, value, status, publishers, spreadPpm } = asset;
    const round = (this.#newest.get(id)?.round ?? 0) + 1;
    this.#newest.set(id, { timestampNs, round });
    const field = (part: bigint | number, bits: number) =>
      BigInt.asUintN(bits, BigInt(part))
        .toString(16)
        .padStart(bits / 4, '0');
    const slot =
      field(value, 128) +
      field(timestampNs, 64) +
      field(round, 32) +
      field((mask & 16) !== 0 ? Math.ceil(spreadPpm / 10) : 0, 16) +
      field((mask & 2) !== 0 ? status : 255, 8) +
      field((mask & 8) !== 0 ? publishers : 0, 8);
    this.slots.set(id, slot);
    return 1;
  }
}

test('a reader does what the model says, in any sequence of updates', async (t) => {
  const random = seededRandom(1);
  const pick: Pick = (choices) => choices[Math.floor(random() * choices.length)]!;
  const chain = await Chain.create([NATIVE_ECRECOVER]);
  const deployed = [TAXONOMY_ID, 60n, 30n, [KEYS[0]!.address, KEYS[1]!.address]];
  const readers: Deployed[] = [];
  for (const terms of TERMS) readers.push(await chain.deploy(readerCode, [...deployed, terms]));
  const prepared = Array.from({ length: PAYLOADS }, () => prepare(pick));
  const verdicts = new Set<string>();
  for (let done = 0; done < cases(500); done++) {
    const which = pick([0, 1]);
    const reader = readers[which]!;
    const model = new ReaderModel(TERMS[which]!);
    await chain.checkpoint();
    const told: string[] = [];
    const steps = 1 + Math.floor(random() * STEPS_MAX);
    for (let i = 0; i < steps; i++) {
      model.nowS += rarely(pick, [0n, 0n, 0n, 1n], JUMPS_S);
      chain.timeS = model.nowS;
      const payload = pick(prepared);
      const some = pick([undefined, undefined, [1], [1, 2], [2, 1], [65_535, 1], []]);
      const name = some === undefined ? 'update' : 'updateSome';
      const args = some === undefined ? [payload.hex] : [payload.hex, some];
      const found = verdictOf(await reader.call(name, args));
      const wanted = model.update(payload, some ?? payload.assets.map(({ id }) => id));
      told.push(`${model.nowS} ${name}(${args}): ${found}`);
      verdicts.add(wanted);
      if (found !== wanted) return t.fail(`${told.join('\n')} but the model says ${wanted}`);
    }
    for (const id of ASSET_IDS) {
      const data = hexToBytes(reader.encode('slotOf', [id]));
      const slot = Buffer.from((await chain.execute(data, reader.address)).returned).toString('hex');
      const wanted = model.slots.get(id) ?? '0'.repeat(64);
      if (slot !== wanted) return t.fail(`${told.join('\n')}\nasset ${id} has ${slot}, the model ${wanted}`);
    }
    await chain.revert();
  }
  for (const verdict of ['ok', 'UnknownSigner', 'TooOld', 'Refused 1 2'])
    t.ok(verdicts.has(verdict), verdict);
});

function verdictOf(result: Result): string {
  if (result.ok) return 'ok';
  return result.error === 'Refused' ? `Refused ${result.args.join(' ')}` : result.error;
}
