import { html, nothing } from 'lit-html';
import type { AggregateForm, Check } from '../index.js';
import type { LogView } from './page_log.js';
import { copyButton, facts, hexText, saveButton, type View } from './parts.js';
import { exactPrice, timeText } from './price_text.js';
import type { Proof } from './proof.js';
import { failedOf, plainName, publisherChecks } from './proof_checks.js';

// The parts of a proof that the card of the seal shows.

const ADDRESS_DIGITS = 40;

/** Draws the definition of the algorithm; only its name if the service has sent no definition. */
export function algorithmView({ form, algorithmText: text }: Proof): View {
  return text === undefined ? html`<p>${form!.service.algorithm}</p>` : html`<pre>${text}</pre>`;
}

/** Draws checks by their plain names. The tooltip of a check names its field. */
export function checkList(checks: readonly Check[]): View {
  const items = checks.map(({ name, status, reason }) => {
    const text = reason === undefined ? plainName(name) : `${plainName(name)}: ${reason}`;
    return html`<li data-status=${status} title=${name}>${text}</li>`;
  });
  return html`<ul class="checks">${items}</ul>`;
}

/** Draws the publishers' exact prices with the outcome of their checks. */
export function publisherTable(
  publishers: NonNullable<AggregateForm['publishers']>,
  checks: readonly Check[],
): View {
  const byPublisher = publisherChecks(checks);
  const rows = publishers.map(({ key, signatureType, price, timestampNs }, i) => {
    const own = byPublisher.get(i) ?? [];
    const failed = failedOf(own);
    const text = failed.map(({ name, reason }) => `${plainName(name)}: ${reason}`).join('; ');
    const time = timeText(timestampNs).slice('YYYY-MM-DD '.length);
    return html`<tr><td>${hexText(hexOf(key, signatureType === 'evm' ? ADDRESS_DIGITS : 0))}</td><td class="number">${failed.length === 0 ? exactPrice(price) : '—'}</td>
<td class="number">${time.slice(0, 'HH:MM:SS.mmm'.length)}<span class="fine">${time.slice('HH:MM:SS.mmm'.length)}</span></td>
<td class="verdict" data-status=${failed.length === 0 ? 'ok' : 'failed'} title=${own.map(({ name }) => name).join('\n')}>${text || 'ok'}</td></tr>`;
  });
  // A narrow screen scrolls the table, by keyboard too.
  return html`<div class="wide" tabindex="0" role="group" aria-label="Publishers' prices"><table><thead><tr><th>Key</th><th class="number">Price</th><th class="number">Signed (UTC)</th><th>Check</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** Draws the steps by which a price was added to the public log. */
export function logPart(log: LogView | undefined): View {
  if (log === undefined || log.kind === 'none') return nothing;
  const isFault = log.kind === 'failed' || log.kind === 'missing';
  const steps = log.steps.map(({ title, value, facts: entries }) => {
    const rows = entries.map(([name, text]) => [name, html`<code>${text}</code>`] as const);
    return html`<li><details><summary><b>${title}</b> <span>${value}</span></summary>${facts(rows)}</details></li>`;
  });
  const { saved } = log;
  return html`<section class="log" aria-label="The public log"><h3>Public log</h3><p class=${isFault ? 'fault' : ''}>${log.statement}</p>
${steps.length === 0 ? nothing : html`<ol>${steps}</ol>`}
${
  saved === undefined
    ? nothing
    : html`<div class="copies">${saved.files.map(({ button, name, text }) => saveButton(button, name, text))}${copyButton('Copy the command', () => saved.command)}</div>
<p class="soft">The command checks the saved files without this service. tickseal.policy has the log and the witnesses that you trust.</p>`
}</section>`;
}

/** Writes a key or hash with at least this number of hex digits. */
export function hexOf(value: bigint, digits: number): string {
  return `0x${value.toString(16).padStart(digits, '0')}`;
}
