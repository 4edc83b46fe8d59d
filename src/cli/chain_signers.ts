import { readFileSync } from 'node:fs';
import { CHAIN_CRYPTO } from '../client/verify/chain_crypto.js';
import { decodePayload } from '../client/verify/decode_payload.js';
import { parseExactJson, writeExactJson } from '../client/verify/exact_json.js';
import { followChain, keysAt } from '../model/announcement_chain.js';
import { announcementLines } from '../wire/announcement.js';

export interface ChainOptions {
  readonly chain?: string;
  readonly root?: string;
  readonly signer?: readonly string[];
}

const NS_PER_S = 1_000_000_000n;
/** The pattern of the field that contains an aggregate's signed price and time. */
const SIGNED_FIELD = /_signed_price$/;

/**
 * Follows the chain of announcements that the options name.
 * @returns a function that returns the keys that were allowed to sign an input at its time; `undefined` without a chain
 * @throws Error when the chain is invalid; the message names the invalid announcement
 */
export function chainSigners(options: ChainOptions): ((input: string) => readonly string[]) | undefined {
  const { chain, root, signer } = options;
  if (chain === undefined && root === undefined) return undefined;
  if (chain === undefined) throw new Error('--root needs --chain');
  if (root === undefined && signer === undefined) throw new Error('--chain needs --root or --signer');
  if (root !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(root)) throw new Error('--root is no address');
  const nowS = Math.floor(Date.now() / 1000);
  const trust = root === undefined ? { keys: signer, nowS } : { root, nowS };
  const followed = followChain(announcementsOf(readFileSync(chain, 'utf8')), trust, CHAIN_CRYPTO);
  if (!followed.ok) throw new Error(`--chain: ${followed.reason}`);
  const { list } = followed;
  return (input) => {
    const payload = /^(?:0x)?[0-9a-fA-F]+$/.test(input) ? decodePayload(input) : undefined;
    const keys =
      payload === undefined
        ? timesOf(input).flatMap((timeS) => keysAt(list, ['evm aggregate', 'stark aggregate'], timeS))
        : 'check' in payload
          ? []
          : keysAt(list, ['stream'], Number(payload.timestampNs / NS_PER_S));
    // An empty list of signers would be an invalid option. No key has the address 0.
    return keys.length > 0 ? [...new Set(keys)] : ['0x0'];
  };
}

/** Reads a chain from a file of announcements or from an answer of `/v1/signers`. */
function announcementsOf(text: string): readonly string[] {
  if (!text.trimStart().startsWith('{')) return announcementLines(text);
  const { announcements } = JSON.parse(text) as { announcements?: readonly string[] };
  return announcements ?? [];
}

/** Returns the text of each aggregate in a REST answer. Returns any other text unchanged. */
export function aggregatesIn(text: string): string[] {
  const { data } = (parseExactJson(text) ?? {}) as { data?: unknown };
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return [text];
  return Object.entries(data).map(([symbol, aggregate]) => writeExactJson({ data: { [symbol]: aggregate } }));
}

/** Returns the times of the aggregates in a JSON text, in UNIX seconds. Each aggregate adds at most one time. */
function timesOf(text: string): number[] {
  const times: number[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > 4) return;
    for (const [name, inner] of Object.entries(value)) {
      const signed = inner as { timestamped_signature?: { timestamp?: unknown } } | null;
      const timeNs = SIGNED_FIELD.test(name) ? signed?.timestamped_signature?.timestamp : undefined;
      if (timeNs === undefined) visit(inner, depth + 1);
      else if (/^\d{1,19}$/.test(String(timeNs))) times.push(Number(BigInt(String(timeNs)) / NS_PER_S));
    }
  };
  visit(parseExactJson(text), 0);
  return times;
}
