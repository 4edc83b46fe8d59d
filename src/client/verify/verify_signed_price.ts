import { foreignText } from '../../wire/foreign_text.js';
import { type PublisherForm, readPublisher, type SignedForm } from './aggregate_form.js';
import { bytesInteger, integerBytes, prefixedHex } from './bytes.js';
import { type Check, CheckList, requireSigners, type Signers, type Verdict } from './checks.js';
import { eip191Digest, evmPriceHash } from './evm_messages.js';
import { isAddress, type RecoverAddress, signatureFault } from './evm_signatures.js';
import { parseExactJson } from './exact_json.js';
import { FormError } from './form_reader.js';
import { ADDRESS_BYTES, hashText, isAddressKey, keyText } from './number_text.js';
import { isStarkAsset, starkPriceHash } from './stark_messages.js';
import { starkVerify } from './stark_signatures.js';

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
  const signer = keyText(form.key, form.signatureType === 'evm');
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
  const isEvm = form.signatureType === 'evm';
  const { externalAssetId } = form;
  const isAsset = isEvm ? externalAssetId === assetId : isStarkAsset(externalAssetId, assetId);
  list.expect(
    `${name} asset`,
    isAsset,
    `external_asset_id ${foreignText(externalAssetId)} is not ${foreignText(assetId)}`,
  );
  const hash = isEvm
    ? evmHashOf(form, (address) => evmPriceHash(address, externalAssetId, form.timestampNs, form.price))
    : starkPriceHash(externalAssetId, form.timestampNs, form.price);
  checkSigned(list, name, form, isEvm, hash);
}

/** Checks that the declared hash equals the recomputed hash, and that the signature covers the recomputed hash. */
export function checkSigned(
  list: CheckList<Signers>,
  name: string,
  form: SignedForm,
  isEvm: boolean,
  hash: bigint | undefined,
): void {
  const found = hash === undefined ? 'these values cannot be signed' : `recomputed ${hashText(hash, isEvm)}`;
  list.expect(`${name} msg_hash`, hash === form.msgHash, found);
  if (hash === undefined) return;
  const fault = isEvm ? evmSignatureFault(form, hash, list.recover) : starkSignatureFault(form, hash);
  list.expect(`${name} signature`, fault === undefined, fault ?? '');
}

function evmSignatureFault(form: SignedForm, hash: bigint, recover: RecoverAddress): string | undefined {
  const fault = signatureFault(form);
  if (fault !== undefined) return fault;
  const signer = recover(eip191Digest(integerBytes(hash, 32)), form);
  if (isAddress(signer, form.key)) return undefined;
  return signer === undefined ? 'no key fits it' : `it was made by ${prefixedHex(signer)}`;
}

function starkSignatureFault(form: SignedForm, hash: bigint): string | undefined {
  return starkVerify(form, hash, form.key) ? undefined : 'it was not made by the key';
}

/** Returns the hash that `hash` computes from the signer's 20-byte address; `undefined` when the key is not an address. */
export function evmHashOf(form: SignedForm, hash: (address: Uint8Array) => Uint8Array): bigint | undefined {
  return isAddressKey(form.key) ? bytesInteger(hash(integerBytes(form.key, ADDRESS_BYTES))) : undefined;
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
