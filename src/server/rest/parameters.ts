import { z } from 'zod';
import { SYMBOL_LENGTH_MAX, SYMBOL_PATTERN } from '../../wire/asset_id.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import { trueOrFalse } from '../http/query.js';

/** The largest number with 15 digits. A double holds this number exactly, and also ten times this number. */
const SECONDS_MAX = 10 ** 15 - 1;

/** Whole UNIX seconds. */
export const unixSeconds = z
  .string()
  .regex(/^-?\d{1,15}$/, 'is not an integer of UNIX seconds')
  .transform(Number)
  .meta({ type: 'integer', format: 'int64', minimum: -SECONDS_MAX, maximum: SECONDS_MAX });

/** The year 2255. A double and an `int64` hold this number exactly. */
const NANOSECONDS_MAX = 9 * 10 ** 18;

/** UNIX nanoseconds, with all their digits. */
export const unixNanoseconds = z
  .string()
  .refine(
    (text) => /^\d{1,19}$/.test(text) && BigInt(text) <= NANOSECONDS_MAX,
    `is not an integer of UNIX nanoseconds, from 0 to ${NANOSECONDS_MAX}`,
  )
  .transform(BigInt)
  .meta({ type: 'integer', format: 'int64', minimum: 0, maximum: NANOSECONDS_MAX });

const COUNT_MAX = 999_999;

/** The number of requested items. */
export const count = z
  .string()
  .regex(/^\d{1,6}$/, `is not a number from 0 to ${COUNT_MAX}`)
  .transform(Number)
  .meta({ type: 'integer', minimum: 0, maximum: COUNT_MAX });

/**
 * The ASCII white space around symbols in a list. The patterns leave out other white space, because dialects of regular
 * expressions disagree about it.
 */
const SPACES = '[\\x09-\\x0d ]*';
const EMPTY = new RegExp(`^${SPACES}$`);
const SPACED_SYMBOL = `${SPACES}${SYMBOL_PATTERN}${SPACES}`;

/** Symbols separated by commas. The schema removes spaces around symbols, and removes repetitions. */
export const assetList = z
  .string()
  .transform((text) => [...new Set(text.split(',').map((symbol) => symbol.trim() || symbol))])
  .refine(
    (symbols) => !symbols.some((symbol) => EMPTY.test(symbol)),
    'has an empty element: leave out a comma',
  )
  .meta({ pattern: `^${SPACED_SYMBOL}(?:,${SPACED_SYMBOL})*$` });

/** Returns the parameter for the assets of a request. */
export function assetsParameter(assetsMax: number) {
  return {
    description: `Comma-separated list of at most ${assetsMax} different asset symbols`,
    required: true,
    schema: assetList,
  } as const;
}

/** A parameter that names an asset. */
export const assetParameter = {
  description: 'Symbol of the asset',
  required: true,
  // This pattern appears only in the documentation. An invalid symbol belongs to no asset, so a request with such a symbol gets the error
  // for unknown symbols, which is clearer.
  schema: z.string().meta({ pattern: `^${SYMBOL_PATTERN}$`, maxLength: SYMBOL_LENGTH_MAX }),
} as const;

/** A parameter that lets a request name assets that it cannot get. */
export const ignoreInvalidParameter = {
  description:
    'With `true`, assets that are unknown or not covered by the token are left out of `data` and named in `invalid`; otherwise one of them refuses the request',
  required: false,
  schema: trueOrFalse,
} as const;

/** A parameter that adds facts to an aggregate. */
export const qualityParameter = {
  description:
    "With `true`, each aggregate whose inputs are kept has `quality`: the number of publishers that counted, the newest input's age and the spread of the inputs",
  required: false,
  schema: trueOrFalse,
} as const;

/** A parameter that chooses between the assets of a symbol. */
export const signatureTypeParameter = {
  description: 'Signature type. Without it, a symbol that has both types means its EVM asset',
  required: false,
  schema: z
    .enum(SIGNATURE_TYPES, { error: `must be ${SIGNATURE_TYPES.join(' or ')}` })
    .meta({ title: 'WantedSignatureType' }),
} as const;
