import { type Html, html } from './html.js';
import { tableOf } from './markdown.js';

/** The head of the table. A reader checks a price against a key, several keys, a public log or a quorum of operators. */
const TRUST_HEAD = [
  'Against',
  'One key',
  'Several keys',
  'Public log with witnesses',
  'Quorum of operators',
] as const;

/** The protection that each check of a price gives. The client's page has the same table with more rows. */
const TRUST_ROWS: readonly (readonly string[])[] = [
  ['A price that was changed on the way', 'yes', 'yes', 'yes', 'yes'],
  ['A price that was shown under another symbol', 'yes', 'yes', 'yes', 'yes'],
  ['A price that was repeated or delayed', 'by its age', 'by its age', 'by its age', 'by its age'],
  [
    'A key that is replaced without warning',
    'no',
    'while one of them signs',
    'as the keys',
    'while the threshold is reached',
  ],
  [
    'A stolen key, or an operator that lies',
    'no',
    'no',
    'afterwards: anybody can see it',
    'yes, below the threshold',
  ],
  ['Different prices for different readers', 'no', 'no', 'yes', 'within the spread'],
  [
    'Two prices of a key for one time, both seen by one client',
    'the client reports it, with evidence',
    'the same',
    'the same',
    'the operator counts no more',
  ],
  ['A wrong source that all operators use', 'no', 'no', 'no', 'no'],
];

/** Renders the section about trust. */
export function renderTrust(): Html {
  const rows = TRUST_ROWS.map((cells) => cells.map((cell) => html`${cell}`));
  return html`<h2>Trust</h2>
<p>Checks of a reader, and what each protects against.</p>
${tableOf(TRUST_HEAD, rows)}`;
}
