import { createHash } from 'node:crypto';
import { DOCUMENT_PATHS, PAGE_PATHS } from '../../wire/paths.js';
import { Html, html } from './html.js';
import { PAGE_STYLE } from './reference_style.js';

const STYLE_HTML = new Html(PAGE_STYLE);
const STYLE_SHA256 = createHash('sha256').update(PAGE_STYLE).digest('base64');

/**
 * Headers that allow a page only its own style. A page may not run scripts, load other files, or appear in a frame of another
 * page.
 */
export const PAGE_HEADERS = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_SHA256}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
} as const;

/**
 * Puts a document into a page that needs no script and loads no other file.
 * @param contents lists of links to the parts of `main`
 */
export function framePage(main: Html, contents: Html): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tickseal</title>
<style>${STYLE_HTML}</style>
</head>
<body>
<header class="bar"><b>tickseal</b><a href="${PAGE_PATHS.home}">Live prices</a><a href="${DOCUMENT_PATHS.page}">API</a><a href="${DOCUMENT_PATHS.clientPage}">Client</a><a class="jump" href="#contents">Contents</a></header>
<main>
${main}
</main>
<nav id="contents" aria-label="Contents">
${contents}
</nav>
</body>
</html>
`;
  return page.text;
}
