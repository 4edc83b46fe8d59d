/** A decimal number times a power of ten. */
export interface ScaledDecimal {
  /** The scaled number; digits after the last decimal are cut off. */
  readonly value: bigint;
  /** False if digits other than 0 were cut off. */
  readonly isExact: boolean;
}

const DECIMAL = /^(-?)(\d{1,60})(?:\.(\d{1,60}))?(?:[eE]([+-]?\d{1,3}))?$/;
/** The largest number of digits before the decimal point. A price has 21. */
const WHOLE_DIGITS_MAX = 60;

/**
 * Reads a decimal text or the text of a JSON number, such as `62807.0`, `-37.70` or `1e-7`. This is the only reader of such texts: the
 * command line, markets, recordings and configuration files use it.
 * @param decimals the number of decimals of the result
 * @returns `undefined` when the text has another form, or more than 60 digits before the decimal point
 */
export function readDecimal(text: string, decimals: number): ScaledDecimal | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = BigInt(whole + fraction);
  const shift = decimals - fraction.length + Number(exponent);
  if (digits === 0n) return { value: 0n, isExact: true };
  if (shift > decimals + WHOLE_DIGITS_MAX) return undefined;
  const unit = 10n ** BigInt(Math.abs(shift));
  const size = shift < 0 ? digits / unit : digits * unit;
  return { value: sign === '-' ? -size : size, isExact: shift >= 0 || size * unit === digits };
}
