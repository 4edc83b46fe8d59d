import { toBase64 } from '../../tlog/log_text.js';
import { parseNote } from '../../tlog/signed_note.js';
import { parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import { leafHash } from '../../tlog/tree_hash.js';
import { REST_PATHS } from '../../wire/paths.js';
import {
  parseExactJson,
  type RefusedError,
  readAggregate,
  type StreamClient,
  type UnreachableError,
  writeExactJson,
} from '../index.js';
import {
  type LoggedPrice,
  type LogPolicy,
  type PriceToFind,
  parsePolicy,
  parseProofFile,
  recordOfPrice,
  TlogError,
  verifyLogged,
} from '../tlog_index.js';
import { EVIDENCE_NAME } from './frame_fault.js';
import { timeText } from './price_text.js';
import type { ProofRequest } from './proof.js';

/** A step of a proof, with its names and values. */
export interface LogStep {
  readonly title: string;
  readonly value: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/** Files that a reader can save, and the command that checks them offline. */
export interface SavedFiles {
  readonly files: readonly {
    /** The text of the button. */
    readonly button: string;
    readonly name: string;
    readonly text: string;
  }[];
  /** The command. The reader has to add the policy, because a policy of the service under test proves little. */
  readonly command: string;
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
  readonly #client: Pick<StreamClient, 'get' | 'searchLog'>;
  #served: ServedPolicy | undefined;

  constructor(client: Pick<StreamClient, 'get' | 'searchLog'>) {
    this.#client = client;
  }

  /**
   * Looks up a price that the page has verified.
   * @param request the request to the verifier
   * @param waitedMs the time since the page received the price
   */
  async find(request: LoggedRequest, waitedMs: number): Promise<LogView> {
    try {
      this.#served ??= readServedPolicy(await this.#client.get(REST_PATHS.signers));
    } catch (error) {
      return stateOf('unknown', `the log is unknown: ${(error as Error).message}`);
    }
    if (this.#served === undefined) return stateOf('none', '', 'This service has no public log.');
    const state = await this.#provePrice(request, this.#served, waitedMs);
    if (state.kind !== 'failed' && state.kind !== 'unwitnessed') return state;
    // The operator may have changed the policy since it was read.
    const before = this.#served.text;
    try {
      this.#served = readServedPolicy(await this.#client.get(REST_PATHS.signers));
    } catch {
      // A failure is permanent, because a service must not be able to clear it by hiding its policy.
      return state;
    }
    const isOther = this.#served !== undefined && this.#served.text !== before;
    return isOther ? stateOf('unknown', 'the policy of the log has changed') : state;
  }

  async #provePrice(
    request: LoggedRequest,
    { policy, maxDelayS }: ServedPolicy,
    waitedMs: number,
  ): Promise<LogView> {
    const aggregate = aggregateIn(request);
    const price = placeOf(aggregate);
    const at = `the price of ${timeText(price.timeNs)} UTC`;
    const query = new URLSearchParams({
      asset: price.symbol,
      timestamp: String(price.timeNs),
      signature_type: price.signatureType,
    });
    // Missing cosignatures are distinguished from an invalid proof, and the log's own signature is the proof of evidence.
    const anyWitnesses = { ...policy, isQuorum: () => true };
    let proof: string;
    try {
      proof = await this.#client.get(`${REST_PATHS.proof}?${query}`);
    } catch (error) {
      const { status = 0, message: reason } = error as RefusedError | UnreachableError;
      if (LACKS.includes(status))
        return (
          (await this.#findEvidence(aggregate, request, anyWitnesses)) ??
          stateOf('missing', 'not in the log', `The service does not prove ${at}: ${reason}.`)
        );
      if (status !== NOT_YET) return stateOf('unknown', `the log does not answer: ${reason}`);
      const promise = `The service promises a proof within ${maxDelayS} s.`;
      if (waitedMs <= maxDelayS * 1_000 + LATE_MS)
        return stateOf('waiting', 'not logged yet', `No checkpoint covers ${at} yet. ${promise}`);
      const waited = `After ${Math.round(waitedMs / 1_000)} s no checkpoint covers ${at}.`;
      return stateOf('missing', 'not logged in time', `${waited} ${promise}`);
    }
    try {
      const place = await verifyLogged(price, proof, { policy: anyWitnesses });
      return { ...foundState(price, proof, place, policy), saved: savedProof(aggregate, proof, request) };
    } catch (error) {
      if (!(error instanceof TlogError)) throw error;
      const statement = `The service signed ${at}, and its proof for the public log does not hold: ${error.message}. Save the price and the proof, and run tickseal log audit.`;
      const evidence = await this.#findEvidence(aggregate, request, anyWitnesses);
      return (
        evidence ?? {
          ...stateOf('failed', DENIED, statement),
          saved: savedProof(aggregate, proof, request),
        }
      );
    }
  }

  /** Reads the files of the log. Returns `undefined` when they do not prove that the log contradicts the price. */
  async #findEvidence(
    aggregate: object,
    { signers, oracleId }: LoggedRequest,
    policy: LogPolicy,
  ): Promise<LogView | undefined> {
    const answer = await this.#client.searchLog(writeExactJson(aggregate), { policy, signers, oracleId });
    if (!('evidence' in answer)) return undefined;
    const statement = `${answer.statement}. Save the evidence: it proves this to anybody.`;
    const saved = {
      files: [{ button: 'Save the evidence', name: EVIDENCE_NAME, text: answer.evidence }],
      command: `tickseal log verify ${EVIDENCE_NAME}${keysText(signers, oracleId)} --policy tickseal.policy`,
    };
    return { ...stateOf('failed', DENIED, statement), saved };
  }
}

/** Reads the log's policy from `/v1/signers`; `undefined` for a service without a log. @throws Error for another form */
function readServedPolicy(text: string): ServedPolicy | undefined {
  const { log } = parseExactJson(text) as { log?: { policy?: unknown; max_delay?: unknown } | null };
  if (log === undefined || log === null) return undefined;
  if (typeof log.policy !== 'string') throw new TlogError('the log names no policy');
  const delayS = Number(log.max_delay);
  return { text: log.policy, policy: parsePolicy(log.policy), maxDelayS: delayS > 0 ? delayS : 0 };
}

function aggregateIn({ answer, symbol }: LoggedRequest): object {
  const { data } = parseExactJson(answer) as { data: Record<string, object> };
  return data[symbol]!;
}

/** Returns the facts of an aggregate that determine its place. */
function placeOf(aggregate: object): PriceToFind {
  const { assetId: symbol, signatureType, service } = readAggregate(aggregate);
  return {
    signatureType,
    signer: service.key,
    symbol,
    timeNs: service.timestampNs,
    msgHash: service.msgHash,
  };
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
  const cosignatures = policy.witnesses.map(({ name }): LogStep['facts'][number] => {
    const timeS = cosigners.get(name);
    return [name, timeS === undefined ? 'has not cosigned' : `${timeText(timeS * NS_PER_S)} UTC`];
  });
  const steps: readonly (readonly [title: string, value: string, facts: LogStep['facts']])[] = [
    ['Record', `${bytes.length} bytes from the signed price`, [['Record', toBase64(bytes)]]],
    [
      'Leaf hash',
      `of record ${record} in batch ${batch.batch}`,
      [
        ['Leaf hash', toBase64(leafHash(bytes))],
        ['Root of the batch', toBase64(batch.root)],
        ['Records', String(batch.records)],
      ],
    ],
    ['Tree root', `of the ${size} entries of the log`, [['Root', toBase64(root)]]],
    ['Checkpoint', `signed by ${origin}`, [['Note', checkpoint]]],
    ['Cosignatures', witnesses, cosignatures],
  ];
  return {
    kind: isEnough ? 'logged' : 'unwitnessed',
    text: `logged, ${witnesses}`,
    statement: `Your browser verified that the public log has ${at}: ${witnesses} cosigned the log.${quorum} The service itself names the log's key and its witnesses.`,
    steps: steps.map(([title, value, facts]) => ({ title, value, facts })),
  };
}

/** Returns the files with a price and its proof, for `tickseal verify`. */
function savedProof(aggregate: object, proof: string, request: LoggedRequest): SavedFiles {
  const { symbol, signers, oracleId } = request;
  // No file system and no shell refuses this name.
  const name = symbol.replace(/[^A-Za-z0-9-]+/g, '_').replace(/^[_-]*$|^-/, 'price');
  return {
    files: [
      { button: 'Save the price', name: `${name}.json`, text: `${writeExactJson(aggregate)}\n` },
      { button: 'Save the proof', name: `${name}.tlog-proof`, text: proof },
    ],
    command: `tickseal verify ${name}.json${keysText(signers, oracleId)} --proof ${name}.tlog-proof --policy tickseal.policy`,
  };
}

function keysText(signers: readonly string[], oracleId: string | undefined): string {
  const keys = signers.map((signer) => ` --signer ${signer}`).join('');
  return oracleId === undefined ? keys : `${keys} --oracle-id ${oracleId}`;
}
