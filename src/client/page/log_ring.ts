import { REST_PATHS } from '../../wire/paths.js';
import { parseExactJson, type StreamClient, writeExactJson } from '../index.js';
import { EVIDENCE_NAME } from './frame_fault.js';
import { timeText } from './price_text.js';
import type { ProofRequest, ProvenAggregate } from './proof.js';

/** The shortest time between two requests for a proof, and the times after an answer. */
const PAUSE_MS = 2_000;
const WAITING_MS = 4_000;
const KNOWN_MS = 15_000;
/** The time after the promised delay that a proof may take, because clocks differ. */
const LATE_MS = 60_000;

/**
 * The state of a price in the public log.
 * - `none`: the service has no log.
 * - `waiting`: the log does not prove the price yet.
 * - `logged`: the log has the price, and the witnesses of its policy have cosigned the log.
 * - `missing`: the log does not prove the price in the promised time.
 * - `denied`: the files of the log prove that the log contradicts the price.
 */
export interface LogView {
  readonly kind: 'none' | 'waiting' | 'logged' | 'missing' | 'denied';
  /** The words beside the seal. */
  readonly text: string;
  /** The sentence in the card. */
  readonly statement: string;
  /** The name and the text of a file for `tickseal log verify`. */
  readonly evidence?: readonly [name: string, text: string];
}

/**
 * The seal's second ring: the public log. A checkpoint covers a price after some seconds, so this class follows one verified
 * price until its state is known, and then follows the newest price. The client looks for the price.
 */
export class LogRing {
  readonly #client: Pick<StreamClient, 'get' | 'searchLog'>;
  readonly #draw: () => void;
  #price: ProvenAggregate | undefined;
  #isAsking = false;
  #nextMs = 0;
  /** The state of the newest price whose state is known; `undefined` before the first answer. */
  state: LogView | undefined;

  /** @param draw draws the page soon */
  constructor(client: Pick<StreamClient, 'get' | 'searchLog'>, draw: () => void) {
    this.#client = client;
    this.#draw = draw;
  }

  /** Drops the price when the page shows another asset or another time. */
  forget(): void {
    this.#price = undefined;
    this.#nextMs = performance.now() + PAUSE_MS;
    this.state = undefined;
  }

  /** Looks for the price when it is due. @param proven the newest aggregate @param nowMs the service's time in UNIX ms */
  async follow(proven: ProvenAggregate | undefined, nowMs: number): Promise<void> {
    if (this.#isAsking || performance.now() < this.#nextMs) return;
    this.#price ??= proven?.proof.report.verdict === 'verified' ? proven : undefined;
    const price = this.#price;
    if (price === undefined) return;
    const signedNs = price.proof.form!.service.timestampNs;
    this.#isAsking = true;
    const state = await this.find(price.request, signedNs, nowMs - Number(signedNs / 1_000_000n));
    this.#isAsking = false;
    if (this.#price !== price) return;
    this.#nextMs = performance.now() + (state.kind === 'waiting' ? WAITING_MS : KNOWN_MS);
    if (state.kind !== 'waiting') this.#price = undefined;
    // A logged price stays visible while the next price waits for its checkpoint.
    if (state.kind === 'waiting' && this.state?.kind === 'logged') return;
    this.state = state;
    this.#draw();
  }

  /** Looks for an aggregate in the log that the service names. @param signedNs the time of its signature @param ageMs its age */
  async find(
    { answer, symbol, signers, oracleId }: ProofRequest,
    signedNs: bigint,
    ageMs: number,
  ): Promise<LogView> {
    const at = `the price of ${timeText(signedNs)} UTC`;
    try {
      const { log } = parseExactJson(await this.#client.get(REST_PATHS.signers)) as {
        log?: { readonly policy: string; readonly max_delay: unknown } | null;
      };
      if (log == null) return { kind: 'none', text: '', statement: 'This service has no public log.' };
      const { data } = parseExactJson(answer) as { data: Readonly<Record<string, object>> };
      const aggregate = writeExactJson(data[symbol]!);
      const finding = await this.#client.searchLog(aggregate, { policy: log.policy, signers, oracleId });
      if ('evidence' in finding)
        return {
          kind: 'denied',
          text: 'the log denies this price',
          statement: `${finding.statement}. Save the evidence: tickseal log verify proves this to anybody.`,
          evidence: [EVIDENCE_NAME, finding.evidence],
        };
      if ('lacks' in finding) {
        const delayS = Number(log.max_delay);
        const isLate = ageMs > delayS * 1_000 + LATE_MS;
        const statement = `The log does not prove ${at}: ${finding.lacks}. The service promises a proof within ${delayS} s.`;
        return isLate
          ? { kind: 'missing', text: 'not in the log', statement }
          : { kind: 'waiting', text: 'not logged yet', statement };
      }
      const { origin, batch, record, cosigners } = finding.logged;
      const all = log.policy.match(/^witness\s/gm)?.length ?? 0;
      const witnesses = all === 0 ? 'no witness' : `${cosigners.size} of ${all} witnesses`;
      return {
        kind: 'logged',
        text: `logged, ${witnesses}`,
        statement: `Your browser verified that the public log ${origin} has ${at}, as record ${record} in batch ${batch.batch}: ${witnesses} cosigned the log. The service itself names the log's key and its witnesses.`,
      };
    } catch (error) {
      const text = 'the log was not checked';
      return { kind: 'waiting', text, statement: `For ${at} ${text}: ${(error as Error).message}.` };
    }
  }
}
