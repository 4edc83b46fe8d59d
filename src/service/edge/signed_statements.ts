import { keccak256 } from '../../crypto/keccak.js';
import type { CryptoJobs } from '../../crypto/pool/jobs.js';
import type { Asset } from '../../model/asset.js';
import { toHex } from '../../model/hex.js';
import { inForceAt, type TimedKey } from '../../model/key_schedule.js';
import { type Clock, NS_PER_SECOND } from '../../model/time.js';
import {
  encodeStatementBody,
  signedStatementBytes,
  statementEntries,
} from '../../wire/taxonomy_statement.js';

export interface SignedStatementsOptions {
  readonly taxonomyId: number;
  /** Returns the keys of streaming payloads, in the order of their times. */
  readonly keys: () => readonly TimedKey[];
  readonly clock: Clock;
  readonly signOne: CryptoJobs['signOneEvm'];
}

/** The age from which a statement is signed again. */
export const RENEW_NS = 3_600n * NS_PER_SECOND;
/** The largest number of sets of assets whose statements are kept. With 1,000 assets in each set they take 6 MB. */
const STATEMENTS_MAX = 1_024;

/**
 * The signed statements of an edge, by set of assets. The key that signs streaming payloads at the time signs the statements too, so a
 * new key has its statements from the moment at which it signs payloads.
 */
export class SignedStatements {
  readonly #options: SignedStatementsOptions;
  readonly #kept = new Map<string, IssuedStatement>();
  #issuedNs = 0n;

  constructor(options: SignedStatementsOptions) {
    this.#options = options;
  }

  /**
   * Returns the statement about these assets as `0x` hex; `undefined` without a key for streaming payloads.
   * @param assets assets of the catalogue
   */
  of(assets: readonly Asset[]): string | undefined {
    const { clock } = this.#options;
    const keys = this.#options.keys();
    if (keys.length === 0) return undefined;
    const nowNs = clock.nowNs();
    const { key } = inForceAt(keys, nowNs);
    const set = assets.map(({ id }) => id).join();
    const kept = this.#kept.get(set);
    if (kept?.key === key && nowNs - kept.issuedNs < RENEW_NS) return kept.text;
    // A clock that was set back must not make an earlier statement look newer than this one.
    this.#issuedNs = nowNs > this.#issuedNs ? nowNs : this.#issuedNs + 1n;
    const made = { key, issuedNs: this.#issuedNs, text: this.#sign(assets, key, this.#issuedNs) };
    this.#kept.delete(set);
    this.#kept.set(set, made);
    if (this.#kept.size > STATEMENTS_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    return made.text;
  }

  /** Forgets all statements, because a reload may have changed the meanings of IDs. */
  clear(): void {
    this.#kept.clear();
  }

  #sign(assets: readonly Asset[], key: Buffer, issuedNs: bigint): string {
    const { taxonomyId, signOne } = this.#options;
    const root = keccak256(statementEntries(assets));
    const body = encodeStatementBody({ taxonomyId, issuedNs, count: assets.length, root });
    const signature = signOne(keccak256(signedStatementBytes(body)), key);
    return toHex(Buffer.concat([signature, body]));
  }
}

interface IssuedStatement {
  readonly key: Buffer;
  readonly issuedNs: bigint;
  readonly text: string;
}
