import type { Check } from '../verify/checks.js';
import { element } from './elements.js';
import { exactPrice, shortHex, timeText } from './price_text.js';
import type { ProofContent } from './proof.js';

// The parts of a proof that the panel of proofs and the card of the seal show.

export function verdictLine(isVerified: boolean, text: string): HTMLElement {
  return element('p', { class: 'verdict', 'data-status': isVerified ? 'ok' : 'failed' }, text);
}

export function algorithmDetails({ algorithm, algorithmText }: ProofContent): HTMLElement | string {
  if (algorithmText === undefined) return algorithm;
  return element('details', {}, element('summary', {}, algorithm), element('pre', {}, algorithmText));
}

export function publisherTable(
  { publishers }: ProofContent,
  checks: ReadonlyMap<number, readonly Check[]>,
): HTMLElement {
  const rows = publishers.map(({ key, price, timestampNs }, i) => {
    const own = checks.get(i) ?? [];
    const bad = own.filter(({ status }) => status !== 'ok');
    const text = bad.length === 0 ? 'ok' : bad.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
    return element(
      'tr',
      {},
      element('td', {}, hexText(key)),
      element('td', { class: 'number' }, bad.length === 0 ? exactPrice(price) : '—'),
      timeCell(timestampNs),
      element(
        'td',
        {
          class: 'verdict',
          'data-status': bad.length === 0 ? 'ok' : 'failed',
          title: own.map(({ name }) => name).join('\n'),
        },
        text,
      ),
    );
  });
  const heads = [
    element('th', {}, 'Key'),
    ...['Price', 'Signed (UTC)'].map((name) => element('th', { class: 'number' }, name)),
    element('th', {}, 'Check'),
  ];
  return element(
    'div',
    // A narrow screen scrolls the table, by keyboard too.
    { class: 'wide', tabindex: '0', role: 'group', 'aria-label': "Publishers' prices" },
    element('table', {}, element('thead', {}, element('tr', {}, ...heads)), element('tbody', {}, ...rows)),
  );
}

/** Makes a cell with the time of day. A narrow screen hides the digits below milliseconds. */
function timeCell(timestampNs: bigint): HTMLElement {
  const text = timeText(timestampNs).slice('YYYY-MM-DD '.length);
  const fine = element('span', { class: 'fine' }, text.slice('HH:MM:SS.mmm'.length));
  return element('td', { class: 'number' }, text.slice(0, 'HH:MM:SS.mmm'.length), fine);
}

export function checkList(checks: readonly Check[]): HTMLElement {
  return element(
    'ul',
    { class: 'checks' },
    ...checks.map(({ name, status, reason }) =>
      element(
        'li',
        { class: 'verdict', 'data-status': status },
        reason === undefined ? name : `${name}: ${reason}`,
      ),
    ),
  );
}

export function hexText(text: string): HTMLElement {
  return element(
    'code',
    { title: text },
    element('span', { class: 'whole' }, text),
    element('span', { class: 'short' }, shortHex(text)),
  );
}
