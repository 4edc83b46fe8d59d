import { html } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { hasAllDigits, SIGNATURES } from '../../wire/signatures.js';
import type { AggregateForm, Check, ReportEvent } from '../index.js';
import { facts, hexText, type View } from './parts.js';
import { type Pin, SOURCE_TEXTS } from './pins.js';
import { exactPrice, shortHex, timeText } from './price_text.js';
import type { Proof } from './proof.js';
import { failedOf, type ProofStep, plainName, stepOf } from './proof_checks.js';

// The way of a price from the publishers to the reader, in five steps.

const TIME_AT = 'YYYY-MM-DD '.length;

/** The frame with the newest price, and the pinned keys of aggregates and frames. */
export interface Trust {
  readonly frame: ReportEvent | undefined;
  readonly pin: Pin | undefined;
  readonly streamPin: Pin | undefined;
}

/**
 * Draws the steps as choices in one row, and the open step below.
 * @param ofFrame the checks of the newest frame, or of a forged copy of it
 * @param choose opens another step
 */
export function stepsView(
  { form, report, algorithmText }: Proof,
  trust: Trust,
  ofFrame: readonly Check[],
  open: ProofStep,
  choose: (step: ProofStep) => void,
): View {
  const { publishers = [], price, service } = form!;
  const root = hexOf(service.merkleRoot, 64);
  const keys = [
    ['Aggregates by', trust.pin],
    ['Frames by', trust.streamPin],
  ] as const;
  const pinned = keys.flatMap(([name, pin]) =>
    pin === undefined ? [] : [[name, html`${hexText(pin.key)}, ${SOURCE_TEXTS[pin.source]}`] as const],
  );
  const frameChecks = ofFrame.filter(({ status }) => status !== 'skipped');
  const signed = [
    ['Signer', hexText(report.signer ?? 'unknown')],
    ['Signed at', `${timeText(service.timestampNs)} UTC`],
  ] as const;
  const steps = [
    ['publishers', 'Publishers', `${publishers.length} signed`, publishersView(publishers, report.checks)],
    [
      'price',
      service.algorithm[0]!.toUpperCase() + service.algorithm.slice(1),
      report.verdict === 'verified' ? exactPrice(price) : '—',
      html`<pre>${algorithmText ?? service.algorithm}</pre>`,
    ],
    ['root', 'Merkle root', shortHex(root), hexText(root)],
    ['signature', 'Signature', 'of the service', facts(signed)],
    ['you', 'You', `${frameChecks.length} checks`, facts(pinned)],
  ] as const;
  const checksOf = (step: ProofStep) =>
    step === 'you' ? frameChecks : report.checks.filter((check) => stepOf(check) === step);
  const chips = steps.map(([step, title, value]) => {
    const isBroken = failedOf(checksOf(step)).length > 0;
    return html`<label data-step=${step} data-status=${isBroken ? 'failed' : 'ok'}><input type="radio" name="step" .checked=${live(step === open)} @change=${() => choose(step)}><b>${title}</b> <span>${isBroken ? 'failed' : value}</span></label>`;
  });
  const bodies = steps.map(([step, , , body]) => {
    // The table has the checks of each publisher's price.
    const listed = checksOf(step).filter(
      ({ name, status }) => status === 'failed' || !name.startsWith('signed_prices['),
    );
    return html`<div class="step" data-step=${step} ?hidden=${step !== open}>${body}${checkList(listed)}</div>`;
  });
  return html`<div class="steps" role="radiogroup" aria-label="The way of the price">${chips}</div>${bodies}`;
}

/** Draws the checks that were made, by their plain names. The tooltip of a check names its field. */
function checkList(checks: readonly Check[]): View {
  const made = checks.filter(({ status }) => status !== 'skipped');
  return html`<ul class="checks">${made.map(({ name, status, reason }) => html`<li data-status=${status} title=${name}>${plainName(name)}${reason === undefined ? '' : `: ${reason}`}</li>`)}</ul>`;
}

/** Draws the publishers' exact prices with the outcome of their checks. */
function publishersView(
  publishers: NonNullable<AggregateForm['publishers']>,
  checks: readonly Check[],
): View {
  if (publishers.length === 0)
    return html`<p class="soft">inputs: absent. Their prices are no longer kept. The Merkle root, which the service signed, covers them.</p>`;
  const rows = publishers.map(({ key, signatureType, price, timestampNs }, i) => {
    const isBroken = failedOf(checks).some(({ name }) => name.startsWith(`signed_prices[${i}] `));
    return html`<tr><td>${hexText(hexOf(key, hasAllDigits(signatureType) ? 2 * SIGNATURES[signatureType].keyBytes : 0))}</td><td class="number">${isBroken ? '—' : exactPrice(price)}</td>
<td class="number">${timeText(timestampNs).slice(TIME_AT)}</td><td class="verdict" data-status=${isBroken ? 'failed' : 'ok'}>${isBroken ? 'failed' : 'ok'}</td></tr>`;
  });
  // A narrow screen scrolls the table, by keyboard too.
  return html`<div class="wide" tabindex="0" role="group" aria-label="Publishers' prices"><table><thead><tr><th>Key</th><th class="number">Price</th><th class="number">Signed (UTC)</th><th>Check</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** Writes a key or hash with at least this number of hex digits. */
function hexOf(value: bigint, digits: number): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}
