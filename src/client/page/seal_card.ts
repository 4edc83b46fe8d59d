import { html, nothing } from 'lit-html';
import type { LogView } from './log_ring.js';
import { copyButton, hexText, saveFile, type View } from './parts.js';
import { SOURCE_TEXTS } from './pins.js';
import {
  type Forgery,
  failedOf,
  forgeAnswer,
  outcomeText,
  type Proof,
  type ProofRequest,
  type ProvenAggregate,
  verifyCommand,
} from './proof.js';
import { stepsView, type Trust } from './proof_steps.js';

/** The facts that the card explains. */
export interface SealFacts extends Trust {
  readonly symbol: string;
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

/** The characters around a changed digit that the card shows. */
const AROUND = 14;

/** The card that explains the seal: the way of the price from the publishers to the reader, with the checks of each step. */
export class SealCard {
  readonly #verify: (request: ProofRequest) => Promise<Proof | undefined>;
  readonly #draw: () => void;
  #forged: { readonly forgery: Forgery; readonly proof: Proof } | undefined;
  #turn = 0;

  /**
   * @param verify verifies an aggregate as the page does
   * @param draw draws the page
   */
  constructor(verify: (request: ProofRequest) => Promise<Proof | undefined>, draw: () => void) {
    this.#verify = verify;
    this.#draw = draw;
  }

  /** Forgets the forged copy. */
  readonly reset = (): void => {
    this.#forged = undefined;
    this.#turn += 1;
    this.#draw();
  };

  /** Draws the card. */
  view(about: SealFacts): View {
    const forged = this.#forged;
    const title =
      forged === undefined
        ? `${about.symbol}: ${about.sealText}`
        : `Forged copy: ${failedOf(forged.proof.report.checks).length > 0 ? 'refused' : 'not refused'}`;
    return html`<div class="card-head"><h2>${title}</h2><button type="button" class="close" popovertarget="seal" popovertargetaction="hide" aria-label="Close">×</button></div>
<p class="forge"><button type="button" class="plain-button" ?disabled=${about.proven === undefined} @click=${() => this.#forge(about.proven!.request)}>Try to forge it</button> ${forged === undefined ? nothing : html`<button type="button" class="plain-button" @click=${this.reset}>Show the received copy</button>`}</p>
${forged === undefined ? statementView(about) : forgeryView(forged.forgery, forged.proof)}
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
    const outcome = html`<p class="verdict" data-status=${isVerified ? 'ok' : 'failed'}>${isVerified ? 'Verified here: ' : ''}${outcomeText(checks)}</p>`;
    return html`${this.#forged === undefined ? outcome : nothing}${told}
${stepsView(proof, about)}${logView(log)}
<div class="copies">${copyButton('Copy for tickseal verify', () => verifyCommand(proven.request))}</div>`;
  }

  /** Forges a copy, which goes only to the verifier, and opens the first step that has failed. */
  async #forge(request: ProofRequest): Promise<void> {
    const turn = this.#turn++;
    const forgery = forgeAnswer(request.answer, turn);
    const proof = forgery && (await this.#verify({ ...request, answer: forgery.text }));
    // The reader may have forged another copy in the meantime.
    if (forgery === undefined || proof === undefined || this.#turn !== turn + 1) return;
    this.#forged = { forgery, proof };
    this.#draw();
    document.querySelector<HTMLDetailsElement>('#seal .step[data-status=failed]')?.setAttribute('open', '');
  }
}

/** Explains in one sentence why the page trusts the price. */
function statementView({ isVerified, proven, report, pin, streamPin }: SealFacts): View {
  const signer = report?.signer ?? proven?.proof.report.signer;
  const key = report === undefined ? pin : streamPin;
  if (!isVerified || signer === undefined || key === undefined)
    return html`<p>The page shows a price only after its own check. The check did not pass, or is too old.</p>`;
  const advice =
    key.source === 'first use' ? ' Compare it with the address that the operator publishes.' : '';
  return html`<p>Your browser recovered this signer from the bytes that it received: ${hexText(signer)}. It is the key ${SOURCE_TEXTS[key.source]}.${advice}</p>`;
}

/** Explains which checks a forged copy failed, and which digit of it was changed. */
function forgeryView({ text, at, before }: Forgery, { report }: Proof): View {
  return html`<div role="status" class="forged"><p>${outcomeText(report.checks)}.</p>
<p>One digit of a price was changed in a copy of the aggregate. The page keeps the received bytes.</p>
<pre>…${text.slice(Math.max(at - AROUND, 0), at)}<del>${before}</del><ins>${text[at]}</ins>${text.slice(at + 1, at + 1 + AROUND)}…</pre></div>`;
}

/** Explains the state of the price in the public log. */
function logView(log: LogView | undefined): View {
  if (log === undefined || log.kind === 'none') return nothing;
  const { kind, statement, evidence } = log;
  return html`<section class="log" aria-label="The public log"><h3>Public log</h3><p class=${kind === 'denied' || kind === 'missing' ? 'fault' : ''}>${statement}</p>
${evidence === undefined ? nothing : html`<button type="button" class="plain-button" @click=${() => saveFile(...evidence)}>Save the evidence</button>`}</section>`;
}
