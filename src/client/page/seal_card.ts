import { html, nothing } from 'lit-html';
import { type Check, type TaxonomyAsset, verifyPayload } from '../index.js';
import { type Forgery, forgeAnswer, forgeFrame } from './forgery.js';
import type { LogView } from './log_ring.js';
import { copyButton, hexText, saveFile, type View } from './parts.js';
import { SOURCE_TEXTS } from './pins.js';
import { type Proof, type ProofRequest, type ProvenAggregate, verifyCommand } from './proof.js';
import { failedOf, outcomeText, type ProofStep, stepOf } from './proof_checks.js';
import { stepsView, type Trust } from './proof_steps.js';

/** The facts that the card explains. */
export interface SealFacts extends Trust {
  readonly asset: TaxonomyAsset;
  /** The text beside the seal. */
  readonly sealText: string;
  readonly isVerified: boolean;
  /** The newest aggregate; `undefined` before it was read. */
  readonly proven: ProvenAggregate | undefined;
  /** A remark about the aggregate: it is old, or there is no newer one. */
  readonly remark: string | undefined;
  /** The state of a price in the public log; `undefined` before it is known. */
  readonly log: LogView | undefined;
}

/** A forged copy of the newest frame or of the aggregate, and its checks. */
interface ForgedCopy {
  readonly subject: 'frame' | 'aggregate';
  readonly forgery: Forgery;
  readonly checks: readonly Check[];
  /** The proof of a forged aggregate. */
  readonly proof?: Proof;
}

/** The copies that are forged in turn: the frame, and then prices of the aggregate. */
const COPIES = 4;
/** The characters around a changed digit that the card shows. */
const AROUND = 14;

/** The card that explains the seal: the way of the price from the publishers to the reader, with the checks of each step. */
export class SealCard {
  readonly #verify: (request: ProofRequest) => Promise<Proof | undefined>;
  readonly #draw: () => void;
  #step: ProofStep = 'publishers';
  #forged: ForgedCopy | undefined;
  #turn = 0;

  /**
   * @param verify verifies an aggregate as the page does
   * @param draw draws the page
   */
  constructor(verify: (request: ProofRequest) => Promise<Proof | undefined>, draw: () => void) {
    this.#verify = verify;
    this.#draw = draw;
  }

  /** Forgets the forged copy. The next copy is one of a frame again. */
  readonly reset = (): void => {
    this.#forged = undefined;
    this.#turn = Math.ceil((this.#turn + 1) / COPIES) * COPIES;
    this.#draw();
  };

  /** Draws the card. */
  view(about: SealFacts): View {
    const forged = this.#forged;
    const title =
      forged === undefined
        ? `${about.asset.symbol}: ${about.sealText}`
        : `Forged copy: ${failedOf(forged.checks).length > 0 ? 'refused' : 'not refused'}`;
    return html`<div class="card-head"><h2>${title}</h2><button type="button" class="close" popovertarget="seal" popovertargetaction="hide" aria-label="Close">×</button></div>
<p class="forge"><button type="button" class="plain-button" ?disabled=${about.proven === undefined} @click=${() => this.#forge(about, about.proven!.request)}>Try to forge it</button> ${forged === undefined ? nothing : html`<button type="button" class="plain-button" @click=${this.reset}>Show the received copy</button>`}</p>
${forged === undefined ? statementView(about) : forgeryView(forged)}
<div class="proof">${this.#proofView(about)}</div>`;
  }

  #proofView(about: SealFacts): View {
    const { proven, remark, log } = about;
    const proof = this.#forged?.proof ?? proven?.proof;
    const told = remark === undefined ? nothing : html`<p class="problem" role="status">${remark}</p>`;
    if (proof?.form === undefined || proven === undefined)
      return remark === undefined
        ? html`<p role="status">The proof of the aggregate is not here yet.</p>`
        : told;
    const { checks, verdict } = proof.report;
    const isVerified = verdict === 'verified';
    const outcome = html`<p class="verdict" data-status=${isVerified ? 'ok' : 'failed'}>${isVerified ? 'Verified here: ' : ''}${outcomeText(checks, 'aggregate')}</p>`;
    const forged = this.#forged;
    const ofFrame = forged?.subject === 'frame' ? forged.checks : (about.frame?.report.checks ?? []);
    const choose = (step: ProofStep) => {
      this.#step = step;
      this.#draw();
    };
    return html`${forged === undefined ? outcome : nothing}${told}
${stepsView(proof, about, ofFrame, this.#step, choose)}${logView(log)}
<p class="soft absent">Not here: ${log?.kind === 'none' ? 'a public log, which this service does not have, and ' : ''}a quorum, because no second operator was asked for this price.</p>
<div class="copies">${copyButton('Copy for tickseal verify', () => verifyCommand(proven.request))}</div>`;
  }

  /** Forges a copy, which goes only to the verifier, and opens the first step that has failed. */
  async #forge({ asset, frame, streamPin }: SealFacts, request: ProofRequest): Promise<void> {
    const turn = this.#turn++;
    const forgedFrame =
      frame === undefined || turn % COPIES > 0 ? undefined : forgeFrame(frame.hex, asset.id, turn);
    if (forgedFrame !== undefined) {
      const { checks } = verifyPayload(forgedFrame.text, { signers: [streamPin!.key] });
      this.#show({ subject: 'frame', forgery: forgedFrame, checks });
      return;
    }
    const forgery = forgeAnswer(request.answer, turn);
    const proof = forgery && (await this.#verify({ ...request, answer: forgery.text }));
    // The reader may have forged another copy in the meantime.
    if (forgery === undefined || proof === undefined || this.#turn !== turn + 1) return;
    this.#show({ subject: 'aggregate', forgery, checks: proof.report.checks, proof });
  }

  #show(forged: ForgedCopy): void {
    this.#forged = forged;
    const [first] = failedOf(forged.checks);
    if (first !== undefined) this.#step = forged.subject === 'frame' ? 'you' : stepOf(first);
    this.#draw();
  }
}

/** Explains in one sentence why the page trusts the price. */
function statementView({ isVerified, proven, frame, pin, streamPin }: SealFacts): View {
  const signer = frame?.report.signer ?? proven?.proof.report.signer;
  const key = frame === undefined ? pin : streamPin;
  if (!isVerified || signer === undefined || key === undefined)
    return html`<p>The page shows a price only after its own check. The check did not pass, or is too old.</p>`;
  const advice =
    key.source === 'first use' ? ' Compare it with the address that the operator publishes.' : '';
  return html`<p>Your browser recovered this signer from the bytes that it received: ${hexText(signer)}. It is the key ${SOURCE_TEXTS[key.source]}.${advice}</p>`;
}

/** Explains which checks a forged copy failed, and which digit of it was changed. */
function forgeryView({ subject, forgery: { text, at, before }, checks }: ForgedCopy): View {
  return html`<div role="status" class="forged"><p>${outcomeText(checks, subject)}.</p>
<p>One digit of a price was changed in a copy of the ${subject}. The page keeps the received bytes.</p>
<pre>…${text.slice(Math.max(at - AROUND, 0), at)}<del>${before}</del><ins>${text[at]}</ins>${text.slice(at + 1, at + 1 + AROUND)}…</pre></div>`;
}

/** Explains the state of the price in the public log. */
function logView(log: LogView | undefined): View {
  if (log === undefined || log.kind === 'none') return nothing;
  const { kind, statement, evidence } = log;
  return html`<section class="log" aria-label="The public log"><h3>Public log</h3><p class=${kind === 'denied' || kind === 'missing' ? 'fault' : ''}>${statement}</p>
${evidence === undefined ? nothing : html`<button type="button" class="plain-button" @click=${() => saveFile(...evidence)}>Save the evidence</button>`}</section>`;
}
