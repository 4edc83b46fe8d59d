import type { EquivocationError, PayloadReport, UnsignedMappingError } from '../index.js';
import type { Fault } from './board.js';
import { isSameKey } from './pins.js';
import { clockText } from './price_text.js';

/** The name of a file with evidence. */
export const EVIDENCE_NAME = 'tickseal-evidence.json';

/** A banner with a message and an action for the reader. */
export interface Notice {
  readonly tone: 'bad' | 'info';
  readonly text: string;
  readonly action?: { readonly name: string; readonly run: () => void };
}

type FailedReport = Extract<PayloadReport<readonly string[]>, { readonly verdict: 'failed' }>;

/**
 * Returns the meaning of a failed frame. The operator may have changed keys, so a valid signature by the service's current key is
 * not a forgery.
 * @param namedSigner the key that the taxonomy names for streams
 */
export function faultOf({ checks, signer }: FailedReport, namedSigner: string): Fault {
  const failed = checks.filter(({ status }) => status === 'failed');
  if (isOtherSigner({ checks }) && isSameKey(signer, namedSigner))
    return { seal: 'not pinned', reason: `${signer} signs, which is not the pinned key` };
  return { seal: 'failed', reason: failed.map(({ name, reason }) => `${name}: ${reason}`).join('; ') };
}

/**
 * Returns the meaning of a list of assets that no pinned key has signed.
 * @param namedSigner the key that the taxonomy names for streams
 */
export function mappingFault(error: UnsignedMappingError, namedSigner: string): Fault {
  const { signer } = error;
  if (isSameKey(signer, namedSigner))
    return { seal: 'not pinned', reason: `${signer} signs, which is not the pinned key` };
  return { seal: 'unsigned mapping', reason: error.message.slice(error.url.length + 2) };
}

/** Returns whether the signer is the only fault of the frame. */
export function isOtherSigner({ checks }: Pick<FailedReport, 'checks'>): boolean {
  return checks.every(({ name, status }) => name === 'signer' || status !== 'failed');
}

/** Makes the notice for the reader. @param pin pins the key that the service names now */
export function noticeOf({ seal, reason }: Fault, namedSigner: string, pin: () => void): Notice {
  if (seal === 'not pinned')
    return {
      tone: 'bad',
      text: `The service signs with ${namedSigner} now, and this key is not pinned. No price of it is shown. Ask the operator before you pin it.`,
      action: { name: 'Pin this key', run: pin },
    };
  const text =
    seal === 'failed'
      ? 'A frame failed its check, so no price is shown until one passes.'
      : 'The pinned key has not signed which asset each price belongs to. No price counts that needs this list.';
  return { tone: 'bad', text: `${text} ${reason}.` };
}

/** Makes the notice of a key that has signed two values for one time. @param save saves the evidence as a file */
export function equivocationNotice({ message, url }: EquivocationError, save: () => void): Notice {
  return {
    tone: 'bad',
    text: `Do not trust these prices: ${message.slice(url.length + 2)}. Anybody can check the evidence with tickseal log verify.`,
    action: { name: 'Save the evidence', run: save },
  };
}

/** Makes the notice for a computer without a network. @param asOfMs the time of the last verified frame */
export function offlineNotice(asOfMs: number | undefined): Notice {
  const last =
    asOfMs === undefined ? '' : ` The page keeps what it verified last, as of ${clockText(asOfMs)}.`;
  return {
    tone: 'info',
    text: `This computer is offline.${last} New prices follow when it is online again.`,
  };
}
