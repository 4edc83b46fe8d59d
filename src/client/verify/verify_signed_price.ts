import { foreignText } from '../../wire/foreign_text.js';
import type { SignatureType } from '../../wire/signatures.js';
import { type PublisherForm, readPublisher, type SignedForm } from './aggregate_form.js';
import { type Check, CheckList, requireSigners, type Signers, type Verdict } from './checks.js';
import { parseExactJson } from './exact_json.js';
import { FormError } from './form_reader.js';
import { READER_RULES } from './reader_rules.js';

/** The report on an aggregate or on a publisher's price. */
export interface AggregateReport<S extends Signers = Signers> {
  /** The verdict: `verified`, `recovered` or `failed`. */
  readonly verdict: Verdict<S>;
  /** The checks, in the order in which they were made. */
  readonly checks: readonly Check[];
  /** The symbol of the asset; absent when the value has no readable form. */
  readonly assetId?: string;
  /** The address or public key that signed, as the value declares; absent when the value is unreadable. */
  readonly signer?: string;
  /**
   * `absent`: the aggregate has no `signed_prices`, because it is kept without them. What is signed was checked: the root of the inputs, the
   * algorithm, the price and the time. `checked`: the publishers' prices were checked too. Without a value, the aggregate is unreadable.
   */
  readonly inputs?: 'checked' | 'absent';
}

/** The facts that the reader knows about a publisher's price. */
export interface SignedPriceExpectations<S extends Signers> {
  /** The addresses or public keys that may sign, or `'unchecked'`. */
  readonly signers: S;
  /** The symbol of the asset to which the price must belong. */
  readonly assetId: string;
}

/**
 * Checks a single publisher's `signed_price` without its aggregate.
 * @param value the `signed_price`, best as its JSON text, because `JSON.parse` loses digits of its timestamp
 * @returns a report, which is `verified` only when one of the named signers signed the price
 * @throws RangeError or TypeError when `signers` is empty or contains anything except addresses
 */
export function verifySignedPrice<const S extends Signers>(
  value: unknown,
  { signers, assetId }: SignedPriceExpectations<S>,
): AggregateReport<S> {
  requireSigners(signers);
  const parsed = typeof value === 'string' ? parseExactJson(value) : value;
  const form = formOf(parsed, readPublisher);
  if (typeof form === 'string') return formFault(form);
  const list = new CheckList(signers);
  const name = 'signed_price';
  const signer = READER_RULES[form.signatureType].keyText(form.key);
  list.expect('form', true, '');
  list.expectSigner(`${name} publisher_key`, form.key, signer);
  checkPublisher(list, assetId, form, name);
  return { verdict: list.verdict, checks: list.checks, assetId, signer };
}

/** Checks a publisher's price whose form is known. The names of the checks begin with `name`. */
export function checkPublisher(
  list: CheckList<Signers>,
  assetId: string,
  form: PublisherForm,
  name: string,
): void {
  const { externalAssetId, signatureType } = form;
  const { isAsset, priceHash } = READER_RULES[signatureType];
  list.expect(
    `${name} asset`,
    isAsset(externalAssetId, assetId),
    `external_asset_id ${foreignText(externalAssetId)} is not ${foreignText(assetId)}`,
  );
  checkSigned(list, name, form, signatureType, priceHash(form));
}

/** Checks that the declared hash equals the recomputed hash, and that the signature covers the recomputed hash. */
export function checkSigned(
  list: CheckList<Signers>,
  name: string,
  form: SignedForm,
  signatureType: SignatureType,
  hash: bigint | undefined,
): void {
  const { hashText, signatureFault } = READER_RULES[signatureType];
  const found = hash === undefined ? 'these values cannot be signed' : `recomputed ${hashText(hash)}`;
  list.expect(`${name} msg_hash`, hash === form.msgHash, found);
  if (hash === undefined) return;
  const fault = signatureFault(form, hash, list.recover);
  list.expect(`${name} signature`, fault === undefined, fault ?? '');
}

/** Returns the report on an unreadable value. */
export function formFault(reason: string): AggregateReport<never> {
  return { verdict: 'failed', checks: [{ name: 'form', status: 'failed', reason }] };
}

/** Reads a value into its form. Returns the form, or a sentence that describes the fault. */
export function formOf<T>(value: unknown, read: (value: unknown) => T): T | string {
  try {
    return read(value);
  } catch (error) {
    if (error instanceof FormError) return error.message;
    throw error;
  }
}
