import type { Check } from '../index.js';

/** The steps from publishers to the reader. */
export type ProofStep = 'publishers' | 'price' | 'root' | 'signature' | 'you';

const PUBLISHER_CHECK = /^signed_prices\[(\d+)\] (.*)$/;
const PUBLISHERS = /^(?:signed_prices|distinct publishers$|timestamp$)/;
const STEPS: Readonly<Record<string, ProofStep>> = {
  price: 'price',
  checksum: 'price',
  publisher_merkle_root: 'root',
};
/** Plain names of checks, and of the last words of names that begin with a publisher or a field. */
const PLAIN_NAMES: Readonly<Record<string, string>> = {
  form: 'readable form',
  version: 'version',
  mask: 'known attributes',
  length: 'length',
  taxonomy: 'list of assets',
  assets: 'order of assets',
  'market status': 'market status',
  'signature range': 'range of the signature',
  'low s': 'single form of the signature',
  recovery: 'key of the signature',
  signer: 'signer',
  'distinct publishers': 'each publisher once',
  timestamp: 'newest time',
  publisher_merkle_root: 'Merkle root',
  price: 'price from the inputs',
  checksum: 'text of the algorithm',
};
const PLAIN_ENDS: Readonly<Record<string, string>> = {
  asset: 'asset',
  price: 'signed price',
  encoded_asset_id: 'asset',
  public_key: 'signer',
  msg_hash: 'signed hash',
  signature: 'signature',
};

/** Returns the step to which a check of an aggregate belongs. */
export function stepOf({ name }: Pick<Check, 'name'>): ProofStep {
  return PUBLISHERS.test(name) ? 'publishers' : (STEPS[name] ?? 'signature');
}

/** Returns a plain name of a check. The name of the check itself has the field. */
export function plainName(name: string): string {
  const [, place] = PUBLISHER_CHECK.exec(name) ?? [];
  const end = PLAIN_ENDS[name.slice(name.lastIndexOf(' ') + 1)];
  if (place !== undefined) return `${end} of publisher ${Number(place) + 1}`;
  return PLAIN_NAMES[name] ?? (name.includes(' ') ? end : undefined) ?? name;
}

/** Returns the checks that failed. */
export function failedOf(checks: readonly Check[]): readonly Check[] {
  return checks.filter(({ status }) => status === 'failed');
}

/** Writes the outcome of checks: `1 of 10 checks of the frame failed: signer`, or `21 checks of the aggregate passed`. */
export function outcomeText(checks: readonly Check[], subject: string): string {
  const made = checks.filter(({ status }) => status !== 'skipped').length;
  const failed = failedOf(checks);
  if (failed.length === 0) return `${made} checks of the ${subject} passed`;
  const names = [...new Set(failed.map(({ name }) => plainName(name)))].join(', ');
  return `${failed.length} of ${made} checks of the ${subject} failed: ${names}`;
}
