import { html, nothing } from 'lit-html';
import { attributeTexts } from '../../wire/attribute_facts.js';
import { type Check, type PayloadReport, verifyPayload } from '../index.js';
import { type ForgedPrice, type Forgery, forgeAnswer, forgeFrame } from './forgery.js';
import type { LogView } from './page_log.js';
import { copyButton, facts, hexText, type View } from './parts.js';
import { type Pin, SOURCE_TEXTS } from './pins.js';
import { exactPrice, shortHex, timeText } from './price_text.js';
import type { Proof, ProofRequest, ProvenAggregate } from './proof.js';
import { failedOf, outcomeText, PROOF_STEPS, type ProofStep, stepOf } from './proof_checks.js';
import { algorithmView, checkList, hexOf, logPart, publisherTable } from './proof_parts.js';

/** The facts that the card explains. */
export interface SealFacts {
  readonly symbol: string;
  /** The text beside the seal. */
  readonly sealText: string;
  readonly isVerified: boolean;
  /** The newest aggregate; `undefined` before it was read. */
  readonly proven: ProvenAggregate | undefined;
  /** A remark about the aggregate: it is old, or there is no newer one. */
  readonly remark: string | undefined;
  /** The pinned key of aggregates. */
  readonly pin: Pin | undefined;
  /** The newest verified frame with the asset, and the pinned key of frames; `undefined` if the page shows a past time. */
  readonly frame: ReceivedFrame | undefined;
  /** The state of a price in the public log; `undefined` before it is known. */
  readonly log: LogView | undefined;
  /** The command that verifies the aggregate offline; `undefined` before the aggregate was read. */
  readonly command: string | undefined;
  /** Returns the call of a contract with the newest frame; absent for a past time, whose frames nobody has kept. */
  readonly contractCall?: () => string | undefined;
}

export interface ReceivedFrame {
  readonly hex: string;
  readonly id: number;
  readonly pin: Pin;
  readonly report: PayloadReport;
}

/** The received text of which a copy is forged. */
type Target = 'frame' | ForgedPrice;

/** A forged copy and its checks: those of a frame, or the proof of an aggregate. */
interface ForgedCopy {
  readonly target: Target;
  readonly forgery: Forgery;
  readonly checks: readonly Check[];
  readonly proof?: Proof | undefined;
}

const TARGET_TEXTS: Readonly<Record<Target, string>> = {
  frame: 'the streamed frame',
  publisher: "a publisher's price",
  aggregate: 'the aggregated price',
};
/** The characters around a changed digit that the card shows. */
const AROUND = 14;

/** The card that explains the seal: the way of the price from the publishers to the reader, with the checks of each step. */
export class SealCard {
  readonly #verify: (request: ProofRequest) => Promise<Proof | undefined>;
  readonly #draw: () => void;
  #step: ProofStep = 'publishers';
  #target: Target = 'frame';
  #forged: ForgedCopy | undefined;
  #turn = 0;

  /**
   * @param verify verifies an aggregate as the page does
   * @param draw draws the page soon
   */
  constructor(verify: (request: ProofRequest) => Promise<Proof | undefined>, draw: () => void) {
    this.#verify = verify;
    this.#draw = draw;
  }

  get #root(): HTMLElement | null {
    return document.getElementById('seal');
  }

  /** Opens the card. */
  open(): void {
    this.#root?.showPopover();
  }

  /** Closes the card of another asset or time, and forgets its forged copy. */
  reset(): void {
    this.#root?.hidePopover();
    this.#forged = undefined;
    this.#turn += 1;
  }

  /** Draws the card. */
  view(about: SealFacts): View {
    const forged = this.#forged;
    const failed = forged === undefined ? [] : failedOf(forged.checks);
    const title =
      forged === undefined
        ? `${about.symbol}: ${about.sealText}`
        : `Forged copy: ${failed.length > 0 ? 'refused' : 'not refused'}`;
    return html`<div id="seal" class="card" popover role="dialog" aria-label="The seal explained" data-forged=${forged !== undefined}>
<div class="card-head"><h2>${title}</h2><button type="button" class="close" popovertarget="seal" popovertargetaction="hide" aria-label="Close">×</button></div>
${this.#forgeForm(about)}
${forged === undefined ? sealStatement(about) : forgeryOutcome(forged)}
<div class="proof">${this.#proofView(about)}</div></div>`;
  }

  #proofView(about: SealFacts): View {
    const { proven, frame, remark, log, command, contractCall } = about;
    const forged = this.#forged;
    const proof = forged?.proof ?? proven?.proof;
    if (proof?.form === undefined)
      return html`<p role="status" class=${remark === undefined ? '' : 'problem'}>${remark ?? 'The proof of the aggregate is not here yet.'}</p>`;
    const { checks } = proof.report;
    const frameChecks = forged?.target === 'frame' ? forged.checks : frame?.report.checks;
    const isVerified = proof.report.verdict === 'verified';
    const verdict = html`<p class="verdict" data-status=${isVerified ? 'ok' : 'failed'}>${isVerified ? `Verified here: ${outcomeText(checks, 'aggregate')}` : outcomeText(checks, 'aggregate')}</p>`;
    return html`${forged === undefined ? verdict : nothing}
${remark === undefined ? nothing : html`<p class="problem" role="status">${remark}</p>`}
${this.#steps(about, proof, frameChecks)}
${logPart(log)}
<p class="soft absent">${absentText(log)}</p>
<div class="copies">${command === undefined ? nothing : copyButton('Copy for tickseal verify', () => command)}${
      contractCall === undefined
        ? nothing
        : copyButton('Copy for a contract', contractCall, 'No verified payload yet')
    }</div>`;
  }

  /** Draws the steps as tabs in one row. */
  #steps(about: SealFacts, proof: Proof, frameChecks: readonly Check[] | undefined): View {
    const checksOf = (step: ProofStep) =>
      step === 'you' ? (frameChecks ?? []) : proof.report.checks.filter((check) => stepOf(check) === step);
    const parts = stepParts(about, proof, this.#forged !== undefined);
    const tabs = PROOF_STEPS.map((step) => {
      const [title, value] = parts[step];
      const status = failedOf(checksOf(step)).length > 0 ? 'failed' : 'ok';
      const choose = () => {
        this.#step = step;
        this.#draw();
      };
      return html`<button type="button" role="tab" id="tab-${step}" aria-controls="panel-${step}" aria-selected=${step === this.#step} data-step=${step} data-status=${status} @click=${choose}><b>${title}</b> <span>${status === 'failed' ? 'failed' : value}</span></button>`;
    });
    const panels = PROOF_STEPS.map((step) => {
      const [title, value, body] = parts[step];
      // The table has the checks of each publisher's price.
      const listed = checksOf(step).filter(
        ({ name, status }) => status === 'failed' || (status === 'ok' && !name.startsWith('signed_prices[')),
      );
      return html`<div role="tabpanel" class="step" id="panel-${step}" aria-labelledby="tab-${step}" ?hidden=${step !== this.#step}><h3>${title}: ${value}</h3>${body}${checkList(listed)}</div>`;
    });
    return html`<div class="steps" role="tablist" aria-label="The way of the price">${tabs}</div>${panels}`;
  }

  #forgeForm(about: SealFacts): View {
    const answer = about.proven?.request.answer ?? '';
    const targets = (Object.keys(TARGET_TEXTS) as Target[]).filter((target) =>
      target === 'frame' ? about.frame !== undefined : forgeAnswer(answer, target, 0) !== undefined,
    );
    if (targets.length === 0) return nothing;
    const submit = (event: SubmitEvent) => {
      event.preventDefault();
      const form = new FormData(event.target as HTMLFormElement);
      this.#target = form.get('part') as Target;
      void this.#forge(about);
    };
    const keep = () => {
      this.#forged = undefined;
      this.#turn += 1;
      this.#draw();
    };
    return html`<form class="forge" @submit=${submit}><button type="submit">Try to forge it</button>
<label>Change one digit of <select name="part" aria-label="The part that is forged">${targets.map((target) => html`<option value=${target}>${TARGET_TEXTS[target]}</option>`)}</select></label>
${this.#forged === undefined ? nothing : html`<button type="button" @click=${keep}>Show the received copy</button>`}</form>`;
  }

  /** Forges a copy, which goes only to the verifier. */
  async #forge({ proven, frame }: SealFacts): Promise<void> {
    const [target, turn] = [this.#target, this.#turn++];
    if (target === 'frame') {
      const forgery = frame && forgeFrame(frame.hex, frame.id, turn);
      if (forgery === undefined) return;
      const { checks } = verifyPayload(forgery.text, { signers: [frame!.pin.key] });
      this.#showForgery({ target, forgery, checks });
      return;
    }
    const forgery = forgeAnswer(proven!.request.answer, target, turn);
    if (forgery === undefined) return;
    const proof = await this.#verify({ ...proven!.request, answer: forgery.text });
    // The reader may have forged another copy in the meantime.
    if (this.#turn === turn + 1)
      this.#showForgery({ target, forgery, proof, checks: proof?.report.checks ?? [] });
  }

  /** Shows a forged copy, at the first step that has failed. */
  #showForgery(forged: ForgedCopy): void {
    this.#forged = forged;
    const [first] = failedOf(forged.checks);
    if (first !== undefined) this.#step = forged.target === 'frame' ? 'you' : stepOf(first);
    this.#draw();
  }
}

/** Explains in one sentence why the page trusts the price. */
function sealStatement({ isVerified, proven, frame, pin }: SealFacts): View {
  const signer = frame?.report.signer ?? proven?.proof.report.signer;
  const key = frame?.pin ?? pin;
  if (!isVerified || signer === undefined || key === undefined)
    return html`<p>The page shows a price only after its own check. The check did not pass, or is too old.</p>`;
  const advice =
    key.source === 'first use' ? ' Compare it with the address that the operator publishes.' : '';
  return html`<p>Your browser recovered this signer from the bytes that it received: ${hexText(signer)}. It is the key ${SOURCE_TEXTS[key.source]}.${advice}</p>`;
}

/** Explains which checks a forged copy failed, and which digit of it was changed. */
function forgeryOutcome({ target, forgery: { text, at, before }, checks }: ForgedCopy): View {
  return html`<div role="status" class="forged"><p>${outcomeText(checks, target === 'frame' ? 'frame' : 'aggregate')}.</p>
<p>One digit of a copy of ${TARGET_TEXTS[target]} was changed. The page keeps the received bytes.</p>
<pre>…${text.slice(Math.max(at - AROUND, 0), at)}<del>${before}</del><ins>${text[at]}</ins>${text.slice(at + 1, at + 1 + AROUND)}…</pre></div>`;
}

/** Returns the title, the value and the body of each step. */
function stepParts(
  { pin, frame }: SealFacts,
  proof: Proof,
  isForged: boolean,
): Readonly<Record<ProofStep, readonly [title: string, value: string, body: unknown]>> {
  const { publishers = [], price, service } = proof.form!;
  const { report } = proof;
  const { algorithm } = service;
  const root = hexOf(service.merkleRoot, 64);
  const count = publishers.length;
  const isPrice = report.verdict === 'verified';
  const asset = frame?.report.payload?.assets.find(({ id }) => id === frame.id);
  const made = report.checks.length + (frame?.report.checks.length ?? 0);
  const keys = [
    ...(pin === undefined ? [] : [['Aggregates by', pin] as const]),
    ...(frame === undefined ? [] : [['Frames by', frame.pin] as const]),
  ].map(([name, { key, source }]) => [name, html`${hexText(key)}, ${SOURCE_TEXTS[source]}`] as const);
  const ofFrame =
    frame === undefined || asset === undefined
      ? []
      : [['Frame', `${(frame.hex.length - 2) / 2} bytes: ${attributeTexts(asset).join(' · ')}`] as const];
  const inputs =
    count === 0
      ? html`<p class="soft">inputs: absent. Their prices are no longer kept. The Merkle root, which the service signed, covers them.</p>`
      : publisherTable(publishers, report.checks);
  return {
    publishers: ['Publishers', count === 0 ? 'absent' : `${count} signed`, inputs],
    price: [
      algorithm[0]!.toUpperCase() + algorithm.slice(1),
      isPrice ? exactPrice(price) : '—',
      algorithmView(proof),
    ],
    root: ['Merkle root', shortHex(root), facts([['Merkle root', hexText(root)]])],
    signature: [
      'Signature',
      'of the service',
      facts([
        ['Signer', hexText(report.signer!)],
        ['Signed at', `${timeText(service.timestampNs)} UTC`],
      ]),
    ],
    you: ['You', isForged ? 'this copy' : `${made} checks`, facts([...keys, ...ofFrame])],
  };
}

/** Says in one line which features are absent here. */
function absentText(log: LogView | undefined): string {
  const ofLog = log?.kind === 'none' ? 'a public log, which this service does not have, and ' : '';
  return `Not here: ${ofLog}a quorum, because no second operator was asked for this price.`;
}
