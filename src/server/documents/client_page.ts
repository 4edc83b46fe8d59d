import type {
  ClientReference,
  Docstring,
  EntryKind,
  ReferenceEntry,
  ReferenceMember,
} from './client_reference.js';
import { Html, html, joinHtml } from './html.js';
import { tableOf } from './markdown.js';
import { framePage } from './page_frame.js';

/** The parts of the page, and the kinds of names in each part. */
const PARTS: readonly (readonly [title: string, kinds: readonly EntryKind[]])[] = [
  ['Functions', ['function', 'constant']],
  ['Classes', ['class']],
  ['Options and values', ['interface']],
  ['Types', ['type']],
];

/** Renders the reference of the client as a page that needs no script and loads no other file. */
export function renderClientPage({ entries }: ClientReference): string {
  const names = new Set(entries.map(({ name }) => name));
  const parts = PARTS.map(
    ([title, kinds]) => [title, entries.filter(({ kind }) => kinds.includes(kind))] as const,
  ).filter(([, listed]) => listed.length > 0);
  const main = html`<h1>Client reference</h1>
<p>The exports of the client for Node and browsers, from its docstrings. Prices are bigints: the real price times 10^18. ExportNames that end in <code>Ns</code>
hold UNIX nanoseconds, those in <code>Ms</code> milliseconds.</p>
${entries.length === 0 ? html`<p>This service was built without the reference.</p>` : undefined}
${parts.map(
  ([title, listed]) => html`<h2>${title}</h2>\n${listed.map((entry) => renderEntry(entry, names))}`,
)}`;
  const contents = html`${parts.map(
    ([title, listed]) => html`<b>${title}</b>
<ul>${listed.map(({ name }) => html`<li><a href="#${name}">${name}</a></li>\n`)}</ul>
`,
  )}`;
  return framePage(main, contents);
}

type ExportNames = ReadonlySet<string>;

function renderEntry(
  { name, kind, signature, docstring, inNode, members }: ReferenceEntry,
  names: ExportNames,
): Html {
  return html`<section id="${name}">
<h3>${name} <span class="tag">${kind}</span></h3>
<pre tabindex="0">${renderCode(signature, names, name)}</pre>
${renderDocstring(docstring, names)}
${inNode === undefined ? undefined : html`<h4>In Node</h4>\n${renderDocstring(inNode, names)}`}
${members.length === 0 ? undefined : memberTable(members, names)}
</section>
`;
}

function renderDocstring(
  { text, fallback, parameters, returns, throws }: Docstring,
  names: ExportNames,
): Html {
  const rows = [
    ...parameters.map((one) => [html`<code>${one.name}</code>`, renderText(one.text, names)]),
    ...(fallback === undefined ? [] : [[html`Default`, renderText(fallback, names)]]),
    ...(returns === undefined ? [] : [[html`Returns`, renderText(returns, names)]]),
    ...throws.map((one) => [html`Throws`, renderText(one, names)]),
  ];
  return html`<p>${renderText(text, names)}</p>${rows.length === 0 ? undefined : tableOf(['Part', 'Meaning'], rows)}`;
}

function memberTable(members: readonly ReferenceMember[], names: ExportNames): Html {
  const rows = members.map(({ name, signature, isOptional, inheritedFrom, docstring }) => [
    html`<code>${name}</code>${isOptional ? html` <i>optional</i>` : undefined}`,
    html`<code>${renderCode(signature, names)}</code>`,
    html`${renderNotes(docstring, names)}${
      inheritedFrom === undefined
        ? undefined
        : html` <i>From ${renderText(`\`${inheritedFrom}\``, names)}.</i>`
    }`,
  ]);
  return tableOf(['Member', 'Type', 'Meaning'], rows);
}

/** Renders the whole docstring of a member in one table cell. */
function renderNotes({ text, fallback, parameters, returns, throws }: Docstring, names: ExportNames): Html {
  const sentences = [
    text,
    ...parameters.map((one) => `\`${one.name}\`: ${one.text}.`),
    ...(fallback === undefined ? [] : [`Default: ${fallback}.`]),
    ...(returns === undefined ? [] : [`Returns ${returns}.`]),
    ...throws.map((one) => `Throws ${one}.`),
  ];
  return joinHtml(
    sentences.map((sentence) => renderText(sentence, names)),
    ' ',
  );
}

/** Makes links of the exported names in a declaration, except the declared name itself. */
function renderCode(code: string, names: ExportNames, own?: string): Html {
  const words = code.split(/\b([A-Z]\w+)\b/);
  return joinHtml(
    words.map((word) => (word !== own && names.has(word) ? linkTo(word) : html`${word}`)),
    '',
  );
}

/** Renders a text. Exported names in code and the names of errors become links. */
function renderText(text: string, names: ExportNames): Html {
  const parts = text.split('`').map((part, i) => {
    if (i % 2 === 0)
      return part
        .split(/\b([A-Z]\w+Error)\b/)
        .map((word) => (names.has(word) ? linkTo(word) : html`${word}`));
    const [name = ''] = part.split('.');
    return [names.has(name) ? html`<a href="#${name}"><code>${part}</code></a>` : html`<code>${part}</code>`];
  });
  return new Html(
    parts
      .flat()
      .map((part) => part.text)
      .join(''),
  );
}

function linkTo(name: string): Html {
  return html`<a href="#${name}">${name}</a>`;
}
