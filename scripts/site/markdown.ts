import { posix } from 'node:path';
import { Marked, type Tokens } from 'marked';
import { Html, html } from './html.js';

/** Returns the address of a link in a page, or `undefined` if the site does not have its target. */
export type ResolveLink = (target: string) => string | undefined;

/** Renders CommonMark with pipe tables. A link without an address becomes plain text. */
export function renderMarkdown(text: string, resolve: ResolveLink = (target) => target): Html {
  const seen = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        return `<h${depth} id="${uniqueSlug(title, seen)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        const address = resolve(href);
        return address === undefined ? inner : html`<a href="${address}">${new Html(inner)}</a>`.text;
      },
      // The site has no pictures: those of the README show the live page, which the service serves.
      image: () => '',
      html: () => '',
      code: ({ text: code }) => renderCodeBlock(code).text,
      table(token) {
        return wrapWide(new Html(tableHtml(token, (cell) => this.parser.parseInline(cell.tokens)))).text;
      },
    },
  });
  return new Html(marked.parse(text, { async: false }));
}

/** Renders one line of text with `code` and links. */
export function renderInline(text: string): Html {
  return new Html(new Marked().parseInline(text, { async: false }));
}

export function renderCodeBlock(code: string): Html {
  return html`<pre tabindex="0"><code>${code}</code></pre>\n`;
}

/** Renders a table. On a narrow page, only the table scrolls. */
export function tableOf(columns: readonly string[], rows: readonly (readonly Html[])[]): Html {
  return wrapWide(html`<table><thead><tr>${columns.map((name) => html`<th>${name}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody></table>`);
}

function wrapWide(table: Html): Html {
  return html`<div class="wide" tabindex="0">${table}</div>\n`;
}

function tableHtml({ header, rows }: Tokens.Table, cellOf: (cell: Tokens.TableCell) => string): string {
  const row = (cells: readonly Tokens.TableCell[], tag: 'td' | 'th') =>
    `<tr>${cells.map((cell) => inTag(cell.text === '' ? 'td' : tag, cellOf(cell))).join('')}</tr>\n`;
  return `<table><thead>${row(header, 'th')}</thead><tbody>${rows.map((cells) => row(cells, 'td')).join('')}</tbody></table>`;
}

function inTag(tag: string, inner: string): string {
  return `<${tag}>${inner}</${tag}>`;
}

/**
 * Splits a page at its headings of the second level. The heading of the first level is left out.
 * @returns the sections by the text of their headings; the text before the first heading has the empty name
 */
export function splitSections(text: string): ReadonlyMap<string, string> {
  const sections = new Map([['', '']]);
  let title = '';
  for (const token of new Marked().lexer(text)) {
    if (token.type === 'heading' && token['depth'] === 1) continue;
    if (token.type === 'heading' && token['depth'] === 2) title = token['text'];
    sections.set(title, (sections.get(title) ?? '') + token.raw);
  }
  return sections;
}

/** Lists the fragments of all headings of a text, as GitHub makes them. */
export function slugsOf(text: string): string[] {
  const seen = new Map<string, number>();
  return new Marked()
    .lexer(text)
    .flatMap((token) => (token.type === 'heading' ? [uniqueSlug(token['text'], seen)] : []));
}

function uniqueSlug(title: string, seen: Map<string, number>): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replaceAll(' ', '-');
  const count = seen.get(slug) ?? 0;
  seen.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/** Joins a link of a page in the repository to the path of its target. Returns the path and the fragment. */
export function linkTarget(
  page: string,
  href: string,
): readonly [path: string, fragment: string | undefined] {
  const [path = '', fragment] = href.split('#');
  return [path === '' ? page : posix.join(posix.dirname(page), path), fragment];
}
