import { INDEX, SITE_GROUPS, type SitePage } from './contents.js';
import { Html, html } from './html.js';

/** A heading of a page. */
export interface Heading {
  readonly level: number;
  readonly id: string;
  /** The text without markup. */
  readonly text: string;
}

const HEADING = /<h([234]) id="([^"]+)">(.*?)<\/h\1>/gs;

/** Lists the headings of a page that have a fragment, with the place of each in the text. */
export function headingsOf(
  body: string,
): readonly (Heading & { readonly start: number; readonly end: number })[] {
  return [...body.matchAll(HEADING)].map(({ 0: all, 1: level, 2: id, 3: inner, index }) => ({
    level: Number(level),
    id: id!,
    text: textIn(inner!.replaceAll(/<span class="tag">.*?<\/span>/g, '')),
    start: index,
    end: index + all.length,
  }));
}

/** Returns the text of HTML. */
export function textIn(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:#(\d+)|(lt|gt|amp|quot));/g, (_, code: string | undefined, name: keyof typeof NAMED) =>
      code === undefined ? NAMED[name] : String.fromCharCode(Number(code)),
    )
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const NAMED = { lt: '<', gt: '>', amp: '&', quot: '"' } as const;

/** The largest level of the headings in the navigation. */
const SHOWN_LEVEL = 3;

/**
 * Puts a page into the frame of the site. The page can be read without its script, and loads files of the site only.
 * @param version the version of tickseal
 */
export function framePage(page: SitePage, body: Html, version: string): string {
  const isIndex = page === INDEX;
  const title = isIndex ? 'tickseal' : `${page.title} · tickseal`;
  const headings = isIndex ? [] : headingsOf(body.text).filter(({ level }) => level <= SHOWN_LEVEL);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${page.description}">
<title>${title}</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="site.css">
<script defer src="site.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="bar"><a class="brand" href="index.html"><b>tickseal</b> <span class="soft">${version}</span></a><div id="search"></div><a class="jump" href="#contents">Contents</a></header>
<main id="content">
<h1>${page.title}</h1>
<p class="lead">${page.description}</p>
${body}
</main>
<nav id="contents" aria-label="Documentation">
${SITE_GROUPS.map(
  ({ title: group, pages }) => html`<b>${group}</b>
<ul>
${pages.map((one) => html`<li>${linkTo(one, page)}${one === page ? sectionList(headings) : undefined}</li>\n`)}</ul>
`,
)}</nav>
</body>
</html>
`.text;
}

function linkTo({ name, title }: SitePage, current: SitePage): Html {
  const mark = name === current.name ? new Html(' aria-current="page"') : undefined;
  return html`<a href="${name}.html"${mark}>${title}</a>`;
}

function sectionList(headings: readonly Heading[]): Html | undefined {
  if (headings.length === 0) return undefined;
  return html`<ul>${headings.map(
    ({ level, id, text }) => html`<li class="level${level}"><a href="#${id}">${text}</a></li>\n`,
  )}</ul>`;
}

/** Renders the list of all pages, for the index. */
export function renderCards(): Html {
  return html`${SITE_GROUPS.map(
    ({ title, pages }) => html`<h2 id="${title.toLowerCase()}">${title}</h2>
<ul class="cards">
${pages.map((one) => html`<li><a href="${one.name}.html"><b>${one.title}</b> <span>${one.description}</span></a></li>\n`)}</ul>
`,
  )}
<h2 id="programs">For programs</h2>
<p>Each service serves its OpenAPI 3.1 document at <code>/openapi.json</code>, its AsyncAPI 3 document at <code>/asyncapi.json</code>, and both as a short
text for language models at <code>/llms.txt</code>.</p>`;
}
