import { Html, html, joinHtml } from './html.js';

/** Renders the part of CommonMark that the documents' descriptions use: paragraphs, lists, pipe tables and code. */
export function renderMarkdown(text: string): Html {
  return joinHtml(text.split(/\n\n+/).map(renderBlock), '\n');
}

/** Renders `code` in a line of text. */
export function renderInline(text: string): Html {
  const parts = text.split('`');
  return new Html(
    parts.map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`).text).join(''),
  );
}

function renderBlock(block: string): Html {
  const lines = block.split('\n');
  if (lines.every((line) => line.startsWith('- ')))
    return html`<ul>${lines.map((line) => html`<li>${renderInline(line.slice(2))}</li>`)}</ul>`;
  if (lines.every((line) => line.startsWith('| ') || line.startsWith('|-'))) return renderTable(lines);
  return html`<p>${renderInline(lines.join(' '))}</p>`;
}

function renderTable([head = '', , ...rows]: readonly string[]): Html {
  return tableOf(
    cellsOf(head),
    rows.map((row) => cellsOf(row).map(renderInline)),
  );
}

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** Renders a table. On a narrow page, only the table scrolls. */
export function tableOf(columns: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return html`<div class="wide" tabindex="0"><table><thead><tr>${columns.map((name) => html`<th>${name}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody></table></div>`;
}
