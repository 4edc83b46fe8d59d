import { type LogPolicy, parsePolicy } from '../../tlog/log_policy.js';
import { toBase64 } from '../../tlog/log_text.js';
import type { LoggedPrice } from '../../tlog/price_proof.js';
import { parseProofFile } from '../../tlog/proof_file.js';
import { parseNote } from '../../tlog/signed_note.js';
import { TlogError } from '../../tlog/tlog_error.js';
import { parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import { leafHash } from '../../tlog/tree_hash.js';
import { REST_PATHS } from '../../wire/paths.js';
import { RefusedError } from '../connect/errors.js';
import { readAggregate } from '../verify/aggregate_form.js';
import { parseExactJson, writeExactJson } from '../verify/exact_json.js';
import { parseForeignJson } from '../verify/foreign_json.js';
import { type PriceToFind, placeOfAggregate, recordOfPrice, verifyLogged } from '../verify/logged_price.js';
import { searchLog } from '../verify/search_log.js';
import type { ReadLogFile } from '../verify/served_log.js';
import { timeText } from './price_text.js';
import type { ProofRequest } from './proof.js';
import { type SavedFiles, savedEvidence, savedProof } from './saved_files.js';

export { logOf } from '../prices/log_of_service.js';

/** A step of a proof, with its names and values. */
export interface LogStep {
  readonly title: string;
  readonly value: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/**
 * The state of a price in the public log.
 * - `none`: the service has no log.
 * - `waiting`: no checkpoint covers the price yet.
 * - `logged`: the proof is valid and has the policy's quorum.
 * - `unwitnessed`: the proof is valid, but has fewer cosignatures than the policy requires.
 * - `missing`: the service says that the log does not have the price, or does not prove it in the promised time.
 * - `failed`: the proof is invalid.
 * - `unknown`: the service did not answer.
 */
export interface LogView {
  readonly kind: 'none' | 'waiting' | 'logged' | 'unwitnessed' | 'missing' | 'failed' | 'unknown';
  /** The words beside the seal. */
  readonly text: string;
  /** The sentence in the card. */
  readonly statement: string;
  readonly steps: readonly LogStep[];
  /** The files that anybody can check without the service; absent without a proof or evidence. */
  readonly saved?: SavedFiles;
}

/** The verified aggregate, and the keys that may sign it. */
export type LoggedRequest = Pick<ProofRequest, 'answer' | 'symbol' | 'signers' | 'oracleId'>;

interface ServedPolicy {
  readonly text: string;
  readonly policy: LogPolicy;
  readonly maxDelayS: number;
}

/** The statuses of the route of proofs. */
const NOT_YET = 503;
const LACKS: readonly number[] = [404, 410];
/** The time after the promised delay that a proof may take, because clocks differ. */
const LATE_MS = 60_000;
const DENIED = 'the log denies this price';
const NS_PER_S = 1_000_000_000n;

/** The public log of the service that sent the page. Proofs are verified here, by WebCrypto. */
export class PageLog {
  readonly #get: (path: string) => Promise<string>;
  readonly #read: ReadLogFile;
  #served: ServedPolicy | undefined;

  /**
   * @param get reads an answer of the service
   * @param read reads a public file of the log
   */
  constructor(get: (path: string) => Promise<string>, read: ReadLogFile) {
    this.#get = get;
    this.#read = read;
  }

  /**
   * Looks up a price that the page has verified.
   * @param request the request to the verifier
   * @param waitedMs the time since the page received the price
   */
  async find(request: LoggedRequest, waitedMs: number): Promise<LogView> {
    try {
      this.#served ??= readServedPolicy(await this.#get(REST_PATHS.signers));
    } catch (error) {
      return stateOf('unknown', `the log is unknown: ${(error as Error).message}`);
    }
    if (this.#served === undefined)
      return stateOf(
        'none',
        '',
        'This service has no public log. A signature alone does not say that others were shown the same price.',
      );
    const aggregate = aggregateIn(request);
    const state = await this.#prove(aggregate, request, this.#served, waitedMs);
    if (state.kind !== 'failed' && state.kind !== 'unwitnessed') return state;
    // The operator may have changed the policy since it was read.
    const before = this.#served.text;
    try {
      this.#served = readServedPolicy(await this.#get(REST_PATHS.signers));
    } catch {
      // A failure is permanent, because a service must not be able to clear it by hiding its policy.
      return state;
    }
    const isOther = this.#served !== undefined && this.#served.text !== before;
    return isOther ? stateOf('unknown', 'the policy of the log has changed') : state;
  }

  async #prove(
    aggregate: object,
    request: LoggedRequest,
    { policy, maxDelayS }: ServedPolicy,
    waitedMs: number,
  ): Promise<LogView> {
    const price = placeOfAggregate(readAggregate(aggregate));
    const { symbol, timeNs, signatureType } = price;
    const at = `the price of ${timeText(timeNs)} UTC`;
    const query = new URLSearchParams({
      asset: symbol,
      timestamp: String(timeNs),
      signature_type: signatureType,
    });
    let proof: string;
    try {
      proof = await this.#get(`${REST_PATHS.proof}?${query}`);
    } catch (error) {
      const status = error instanceof RefusedError ? error.status : 0;
      const reason = (error as Error).message;
      if (LACKS.includes(status)) {
        const state = stateOf('missing', 'not in the log', `The service does not prove ${at}: ${reason}.`);
        return (await this.#evidence(aggregate, request, policy)) ?? state;
      }
      if (status !== NOT_YET) return stateOf('unknown', `the log does not answer: ${reason}`);
      const promise = `The service promises a proof within ${maxDelayS} s.`;
      if (waitedMs <= maxDelayS * 1_000 + LATE_MS)
        return stateOf('waiting', 'not logged yet', `No checkpoint covers ${at} yet. ${promise}`);
      const waited = `After ${Math.round(waitedMs / 1_000)} s no checkpoint covers ${at}.`;
      return stateOf('missing', 'not logged in time', `${waited} ${promise}`);
    }
    try {
      // Missing cosignatures are distinguished from an invalid proof.
      const place = await verifyLogged(price, proof, { policy: { ...policy, isQuorum: () => true } });
      return { ...foundState(price, proof, place, policy), saved: savedProof(aggregate, proof, request) };
    } catch (error) {
      if (!(error instanceof TlogError)) throw error;
      const state = stateOf(
        'failed',
        DENIED,
        `The service signed ${at}, and its proof for the public log does not hold: ${error.message}. Save the price and the proof, and run tickseal log audit.`,
      );
      const evidence = await this.#evidence(aggregate, request, policy);
      return evidence ?? { ...state, saved: savedProof(aggregate, proof, request) };
    }
  }

  /** Reads the files of the log. Returns `undefined` when they do not prove that the log contradicts the price. */
  async #evidence(
    aggregate: object,
    request: LoggedRequest,
    policy: LogPolicy,
  ): Promise<LogView | undefined> {
    const { signers, oracleId } = request;
    const log = { read: this.#read, proofOf: () => Promise.resolve(undefined) };
    // The checkpoint of the evidence may lack cosignatures, because the log's own signature is the proof.
    const expected = { policy: { ...policy, isQuorum: () => true }, signers, oracleId };
    const answer = await searchLog(writeExactJson(aggregate), log, expected);
    if (!('evidence' in answer)) return undefined;
    const statement = `${answer.statement}. Save the evidence: it proves this to anybody.`;
    return { ...stateOf('failed', DENIED, statement), saved: savedEvidence(answer.evidence, request) };
  }
}

/** Reads the log's policy from `/v1/signers`; `undefined` for a service without a log. @throws Error for another form */
function readServedPolicy(text: string): ServedPolicy | undefined {
  const { log } = parseForeignJson(text) as { log?: { policy?: unknown; max_delay?: unknown } | null };
  if (log === undefined || log === null) return undefined;
  if (typeof log.policy !== 'string') throw new TlogError('the log names no policy');
  const delayS = Number(log.max_delay);
  return { text: log.policy, policy: parsePolicy(log.policy), maxDelayS: delayS > 0 ? delayS : 0 };
}

function aggregateIn({ answer, symbol }: LoggedRequest): object {
  const { data } = parseExactJson(answer) as { data: Record<string, object> };
  return data[symbol]!;
}

function stateOf(kind: LogView['kind'], text: string, statement = `${text}.`): LogView {
  return { kind, text, statement, steps: [] };
}

/** Returns the state of a price whose proof is valid. The proof was verified, so its parts are read without checks. */
function foundState(price: PriceToFind, proof: string, place: LoggedPrice, policy: LogPolicy): LogView {
  const { origin, size, batch, record, cosigners } = place;
  const [all, cosigned] = [policy.witnesses.length, cosigners.size];
  const isEnough = policy.isQuorum(new Set(cosigners.keys()));
  const witnesses = all === 0 ? 'no witness' : `${cosigned} of ${all} witnesses`;
  const bytes = recordOfPrice(price);
  const { checkpoint } = parseProofFile(proof);
  const { root } = parseCheckpoint(parseNote(checkpoint).text);
  const at = `the price of ${timeText(price.timeNs)} UTC`;
  const quorum = isEnough ? '' : ' That is fewer than the policy asks for.';
  return {
    kind: isEnough ? 'logged' : 'unwitnessed',
    text: `logged, ${witnesses}`,
    statement: `Your browser verified that the public log has ${at}: ${witnesses} cosigned the log.${quorum} The service itself names the log's key and its witnesses.`,
    steps: [
      {
        title: 'Record',
        value: `${bytes.length} bytes from the signed price`,
        facts: [['Record', toBase64(bytes)]],
      },
      {
        title: 'Leaf hash',
        value: `of record ${record} in batch ${batch.batch}`,
        facts: [
          ['Leaf hash', toBase64(leafHash(bytes))],
          ['Root of the batch', toBase64(batch.root)],
          ['Records', String(batch.records)],
        ],
      },
      { title: 'Tree root', value: `of the ${size} entries of the log`, facts: [['Root', toBase64(root)]] },
      { title: 'Checkpoint', value: `signed by ${origin}`, facts: [['Note', checkpoint]] },
      {
        title: 'Cosignatures',
        value: witnesses,
        facts: policy.witnesses.map(({ name }) => {
          const timeS = cosigners.get(name);
          return [name, timeS === undefined ? 'has not cosigned' : `${timeText(timeS * NS_PER_S)} UTC`];
        }),
      },
    ],
  };
}
