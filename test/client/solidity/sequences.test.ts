import { hexToBytes } from '@ethereumjs/util';
import { test } from 'tap';
import { seededRandom } from '../../../scripts/load/random.js';
import { signChain } from '../../model/signed_chain.js';
import { cases } from '../../tier.js';
import { Chain, type Deployed, type Hex, type Result } from './chain.js';
import { NATIVE_ECRECOVER } from './native_ecrecover.js';
import { ALL, bodyOf, hexOf, keyOf, NS_PER_S, PRICE, STATUS, sign } from './payloads.js';
import { NO_TERMS, readerCode, START_S, TAXONOMY_ID, type Terms } from './reader.js';
import { type ModelAsset, type ModelList, type ModelPayload, ReaderModel } from './reader_model.js';

// Random sequences of updates, rotations and expiries: the contract and a model must agree on each call and on all prices.

const KEYS = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)];
const ROOT = keyOf(9);
const STRANGER = `0x${'22'.repeat(20)}`;
const ASSET_IDS = [1, 2, 65_535];
const PAYLOADS = 400;
const STEPS_MAX = 7;
/** The assets' prices, with both ends of the range. */
const VALUES = [0n, 1n, -1n, 10n ** 18n, -(10n ** 18n), 2n ** 127n - 1n, -(2n ** 127n)];
/** Unusual times of payloads and jumps of the clock, in seconds: the bounds of age and lead, and their neighbours. */
const BOUNDS_S = [-62n, -61n, -60n, -59n, 1n, 2n, 29n, 30n, 31n, 60n, 61n, 62n];
const JUMPS_S = [1n, 2n, 29n, 59n, 60n, 61n, 100n];

const TERMS: readonly Terms[] = [
  NO_TERMS,
  { ...NO_TERMS, needsMarketStatus: true, maxInputAgeMs: 1_000, maxSpreadPpm: 500, rounds: 3 },
];

interface Prepared {
  readonly model: ModelPayload;
  readonly hex: Hex;
}

type Pick = <T>(choices: readonly T[]) => T;

/** Picks one of the unusual choices in one of ten cases. */
function rarely<T>(pick: Pick, usual: readonly T[], unusual: readonly T[]): T {
  return pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) === 0 ? pick(unusual) : pick(usual);
}

function payloads(pick: Pick): Prepared[] {
  return Array.from({ length: PAYLOADS }, () => {
    const mask = pick([undefined, undefined, PRICE, PRICE | STATUS, ALL, ALL, ALL & ~STATUS, 0b10101]);
    const chosen = rarely(
      pick,
      [[1], [1, 2], [1, 2, 65_535], [2], [2, 65_535]],
      [
        [2, 1],
        [1, 1],
      ],
    );
    const assets: ModelAsset[] = chosen.map((id) => ({
      id,
      value: pick(VALUES),
      status: rarely(pick, [1, 2, 3, 255], [0]),
      ageMs: rarely(pick, [0, 999, 1_000], [1_001, 2 ** 32 - 1]),
      publishers: pick([0, 1, 255]),
      spreadPpm: rarely(pick, [0, 1, 499, 500], [501, 655_350, 655_351, 2 ** 32 - 1]),
    }));
    const signer = rarely(pick, [0, 0, 1], [2, 3]);
    const fault = rarely(pick, [undefined], ['signature', 'length'] as const);
    const model: ModelPayload = {
      signer,
      timestampNs:
        (START_S + rarely(pick, [-3n, -2n, -1n, 0n], BOUNDS_S)) * NS_PER_S + pick([0n, 1n, 999_999_999n]),
      taxonomyId: rarely(pick, [TAXONOMY_ID], [TAXONOMY_ID, 8]),
      attributes: mask ?? PRICE,
      assets,
      fault,
    };
    const payload = sign(bodyOf({ ...model, ...(mask !== undefined && { mask }) }), KEYS[signer]!);
    if (fault === 'signature') payload[64] = pick([2, 27, 28, 255]);
    return { model, hex: hexOf(fault === 'length' ? payload.subarray(0, -1) : payload) };
  });
}

function announcements(pick: Pick): { models: ModelList[]; hexes: string[] } {
  const models = [1, 2, 3, 4, 5].map(
    (version): ModelList => ({
      version,
      issuedS: START_S + rarely(pick, [0n], [-100n, 3_600n, 3_601n]),
      expiresS: START_S + pick([0n, 1n, 50n, 100n, 10_000n, 10_000n]),
      keys: [0, 1, 2, 3]
        .filter(() => pick([true, false]))
        .map((signer) => ({
          signer,
          fromS: START_S + pick([-START_S, -1n, 60n, 61n, 100n]),
          untilS: pick([undefined, START_S - 60n, START_S, START_S + 30n, START_S + 200n]),
        })),
    }),
  );
  const lists = models.map(({ issuedS, expiresS, keys }) => ({
    by: ROOT.secret,
    root: ROOT.address,
    issuedS: Number(issuedS),
    expiresS: Number(expiresS),
    signers: keys.map(({ signer, fromS, untilS }) => ({
      kind: 'stream' as const,
      key: KEYS[signer]!.address,
      fromS: Number(fromS),
      untilS: untilS === undefined ? undefined : Number(untilS),
      isRevoked: false,
    })),
  }));
  return { models, hexes: signChain(lists) };
}

/** A step, for the contract and for the model. */
interface Step {
  readonly name: string;
  readonly args: readonly unknown[];
  readonly from?: string;
  readonly expected: (model: ReaderModel) => string;
}

function stepOf(pick: Pick, prepared: readonly Prepared[], chain: ReturnType<typeof announcements>): Step {
  const kind = rarely(
    pick,
    ['update', 'update', 'update', 'some', 'announce', 'announce'],
    ['signer', 'until', 'root', 'stranger'],
  );
  const { model: payload, hex } = pick(prepared);
  const signer = pick([0, 1, 2, 3]);
  const key = KEYS[signer]!.address;
  if (kind === 'update') return { name: 'update', args: [hex], expected: (model) => model.update(payload) };
  if (kind === 'some') {
    const ids = pick([[1], [2], [1, 2], [2, 1], [65_535, 1], []]);
    return { name: 'updateSome', args: [hex, ids], expected: (model) => model.update(payload, ids) };
  }
  const isSet = pick([true, true, false]);
  if (kind === 'signer')
    return { name: 'setSigner', args: [key, isSet], expected: (model) => model.setSigner(signer, isSet) };
  if (kind === 'stranger')
    return { name: 'setSigner', args: [key, isSet], from: STRANGER, expected: () => 'NotOwner' };
  if (kind === 'until') {
    const untilS = START_S + pick([-1n, 0n, 1n, 60n]);
    return {
      name: 'setSignerUntil',
      args: [key, untilS],
      expected: (model) => model.setSignerUntil(signer, untilS),
    };
  }
  if (kind === 'root') {
    const root = isSet ? ROOT.address : `0x${'00'.repeat(20)}`;
    return { name: 'setRoot', args: [root], expected: (model) => model.setRoot(isSet) };
  }
  const start = pick([0, 0, 1, 2, 3, 4]);
  const end = start + pick([0, 1, 1, 2, 3]);
  return {
    name: 'announce',
    args: [chain.hexes.slice(start, end)],
    expected: (model) => model.announce(chain.models.slice(start, end)),
  };
}

function verdictOf(result: Result): string {
  if (result.ok) return 'ok';
  return result.error === 'Refused' ? `Refused ${result.args.join(' ')}` : result.error;
}

test('a reader does what the model says, in any sequence of updates, rotations and expiries', async (t) => {
  const { verdicts, differences } = await runSequences(cases(500), 1);
  t.same(differences, []);
  for (const verdict of ['ok', 'UnknownSigner', 'TooOld', 'NoRoot', 'NotOwner', 'Refused 1 2'])
    t.ok((verdicts.get(verdict) ?? 0) > 0, verdict);
});

/** Runs sequences on a contract and on the model. @returns the number of calls of each verdict, and the first differences */
async function runSequences(count: number, seed: number) {
  const random = seededRandom(seed);
  const pick: Pick = (choices) => choices[Math.floor(random() * choices.length)]!;
  const chain = await Chain.create([NATIVE_ECRECOVER]);
  const args = [TAXONOMY_ID, 60n, 30n, [KEYS[0]!.address, KEYS[1]!.address]];
  const readers: Deployed[] = [];
  for (const terms of TERMS) readers.push(await chain.deploy(readerCode, [...args, terms]));
  const verdicts = new Map<string, number>();
  const differences: string[] = [];
  let prepared = payloads(pick);
  let announced = announcements(pick);
  for (let done = 0; done < count && differences.length < 3; done++) {
    if (done % 500 === 499) [prepared, announced] = [payloads(pick), announcements(pick)];
    const which = pick([0, 1]);
    const reader = readers[which]!;
    const model = new ReaderModel(TERMS[which]!, TAXONOMY_ID, [0, 1]);
    await chain.checkpoint();
    const told: string[] = [];
    if (pick([true, true, false])) {
      await reader.call('setRoot', [ROOT.address]);
      model.setRoot(true);
    }
    const steps = 1 + Math.floor(random() * STEPS_MAX);
    for (let i = 0; i < steps; i++) {
      model.nowS += rarely(pick, [0n, 0n, 0n, 1n], JUMPS_S);
      chain.timeS = model.nowS;
      const { name, args, from, expected } = stepOf(pick, prepared, announced);
      const found = verdictOf(await reader.call(name, args, from));
      const wanted = expected(model);
      told.push(`${model.nowS} ${name}(${args}): ${found}`);
      verdicts.set(wanted, (verdicts.get(wanted) ?? 0) + 1);
      if (found !== wanted) differences.push(`${told.join('\n')} but the model says ${wanted}`);
    }
    for (const id of ASSET_IDS) {
      const slot = await slotOf(reader, id);
      const wanted = packed(model, id);
      if (slot !== wanted)
        differences.push(`${told.join('\n')}\nasset ${id} has ${slot}, the model ${wanted}`);
    }
    await chain.revert();
  }
  return { verdicts, differences };
}

async function slotOf(reader: Deployed, id: number): Promise<string> {
  const data = hexToBytes(reader.encode('slotOf', [id]));
  return Buffer.from((await reader.chain.execute(data, reader.address)).returned).toString('hex');
}

/** Returns the slot of the model's price, from the written layout. */
function packed(model: ReaderModel, id: number): string {
  const price = model.prices.get(id);
  if (price === undefined) return '0'.repeat(64);
  const field = (value: bigint | number, bits: number) =>
    BigInt.asUintN(bits, BigInt(value))
      .toString(16)
      .padStart(bits / 4, '0');
  return (
    field(price.value, 128) +
    field(price.timestampNs, 64) +
    field(price.round, 32) +
    field(price.spreadPpm / 10, 16) +
    field(price.marketStatus, 8) +
    field(price.publishers, 8)
  );
}
