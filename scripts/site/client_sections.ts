import type {
  ClientReference,
  Docstring,
  EntryKind,
  ReferenceEntry,
  ReferenceMember,
} from '../build_reference.js';
import { Html, html, joinHtml } from './html.js';
import { tableOf } from './markdown.js';

/** The page of each kind of names. */
const PAGE_OF_KIND = {
  function: 'client_functions',
  constant: 'client_functions',
  class: 'client_classes',
  interface: 'client_options',
  type: 'client_types',
} as const satisfies Record<EntryKind, string>;

export type ClientPage = (typeof PAGE_OF_KIND)[EntryKind];

/** Renders the names of a page of the client's reference. */
export function renderClientReference({ entries }: ClientReference, page: ClientPage): Html {
  const names = new Map(entries.map(({ name, kind }) => [name, `${PAGE_OF_KIND[kind]}.html#${name}`]));
  const listed = entries.filter(({ kind }) => PAGE_OF_KIND[kind] === page);
  return html`<p>The client is for Node and browsers. Prices are bigints: the real price times 10^18. Names that end in <code>Ns</code> hold UNIX
nanoseconds, those in <code>Ms</code> milliseconds.</p>
${listed.map((entry) => renderEntry(entry, names))}`;
}

/** The address of each exported name. */
type ExportNames = ReadonlyMap<string, string>;

function renderEntry(
  { name, kind, signature, docstring, members }: ReferenceEntry,
  names: ExportNames,
): Html {
  return html`<section>
<h2 id="${name}">${name} <span class="tag">${kind}</span></h2>
<pre tabindex="0"><code>${renderCode(signature, names, name)}</code></pre>
${renderDocstring(docstring, names)}
${members.length === 0 ? undefined : memberTable(members, names)}
</section>
`;
}

function renderDocstring({ text, tags }: Docstring, names: ExportNames): Html {
  const rows = tags.map((tag) => [html`${tag.name}`, renderText(tag.text, names)]);
  return html`<p>${renderText(text, names)}</p>${rows.length === 0 ? undefined : tableOf(['Part', 'Meaning'], rows)}`;
}

function memberTable(members: readonly ReferenceMember[], names: ExportNames): Html {
  const rows = members.map(({ name, signature, isOptional, docstring: { text, tags } }) => [
    html`<code>${name}</code>${isOptional ? html` <i>optional</i>` : undefined}`,
    html`<code>${renderCode(signature, names)}</code>`,
    renderText([text, ...tags.map((tag) => `${tag.name} ${tag.text}.`)].join(' '), names),
  ]);
  return tableOf(['Member', 'Type', 'Meaning'], rows);
}

/** Makes links of the exported names in a declaration, except the declared name itself. */
function renderCode(code: string, names: ExportNames, own?: string): Html {
  const words = code.split(/\b([A-Z]\w+)\b/);
  return joinHtml(
    words.map((word) => (word !== own && names.has(word) ? linkTo(word, names) : html`${word}`)),
    '',
  );
}

/** Renders a text. Exported names in code and the names of errors become links. */
function renderText(text: string, names: ExportNames): Html {
  const parts = text.split('`').map((part, i) => {
    if (i % 2 === 0)
      return part
        .split(/\b([A-Z]\w+Error)\b/)
        .map((word) => (names.has(word) ? linkTo(word, names) : html`${word}`));
    const [name = ''] = part.split('.');
    return [
      names.has(name)
        ? html`<a href="${names.get(name)}"><code>${part}</code></a>`
        : html`<code>${part}</code>`,
    ];
  });
  return new Html(
    parts
      .flat()
      .map((part) => part.text)
      .join(''),
  );
}

function linkTo(name: string, names: ExportNames): Html {
  return html`<a href="${names.get(name)}">${name}</a>`;
}
