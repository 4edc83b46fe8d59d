/** The typefaces and colours of the documents and of the live page, for light and dark displays. */
export const PALETTE = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f6f7f8, #0e1114);
  --panel: light-dark(#fff, #14181c);
  --raised: light-dark(#f1f3f4, #1c2127);
  --line: light-dark(#e2e5e8, #262c33);
  --text: light-dark(#14181d, #e5e9ed);
  --soft: light-dark(#5b6570, #8d98a4);
  --faint: light-dark(#666f79, #7f8a96);
  --accent: light-dark(#0b7a65, #3fc7a6);
  --accent-soft: light-dark(#e3f3ef, #12302a);
  --up: light-dark(#0a7d55, #35c489);
  --down: light-dark(#c4342d, #f2706a);
  --warn: light-dark(#96620a, #e0ad48);
  --warn-soft: light-dark(#fbf1dc, #33280f);
  --bad: light-dark(#b3261e, #f58079);
  --bad-soft: light-dark(#fbe9e7, #3a1a18);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media print { :root { color-scheme: light } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font-family: var(--sans) }
a { color: var(--accent); text-decoration: none }
a:hover, main :is(p, li, td, pre) a { text-decoration: underline }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .2rem }
`;

/** The style of the documents. A wide screen shows two columns; a phone shows the contents first. */
export const PAGE_STYLE = `${PALETTE}
body { font-size: .9375rem; line-height: 1.6; display: grid; grid-template-columns: 16.5rem minmax(0, 1fr) }
.bar { grid-column: 1 / -1; position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: 1.25rem; height: 3.25rem; padding: 0 1.25rem; background: var(--panel); border-bottom: 1px solid var(--line) }
.bar a { white-space: nowrap }
.bar b { font-size: 1.0625rem; letter-spacing: -.01em }
.bar .jump { display: none; margin-left: auto }
nav { grid-area: 2 / 1; position: sticky; top: 3.25rem; height: calc(100vh - 3.25rem); overflow: auto; padding: 1.25rem; border-right: 1px solid var(--line); font-size: .8125rem }
nav b { color: var(--soft); font-size: .75rem }
nav ul { list-style: none; margin: .25rem 0 1.25rem; padding: 0 }
nav li { overflow-wrap: anywhere; padding: .12rem 0 }
nav a { color: var(--text) }
main { grid-area: 2 / 2; background: var(--panel); padding: 2rem 3rem 6rem; min-width: 0 }
main > * { max-width: 60rem }
h1 { margin: 0 0 .5rem; font-size: 1.75rem; letter-spacing: -.02em }
h2 { margin: 3.5rem 0 1rem; padding-bottom: .35rem; font-size: 1.375rem; letter-spacing: -.01em; border-bottom: 1px solid var(--line) }
h3 { margin: 2.5rem 0 .5rem; font-size: 1.0625rem; overflow-wrap: anywhere }
h4 { margin: 1.25rem 0 .35rem; font-size: .875rem }
section, h2, h3 { scroll-margin-top: 4.25rem }
section > section { padding-left: 1.25rem; border-left: 2px solid var(--line); margin: 1.5rem 0 }
section > section > h3 { margin-top: 0 }
code, pre { font: .8125em/1.55 var(--mono) }
code { background: var(--raised); border-radius: .2rem; padding: .1rem .28rem; overflow-wrap: anywhere }
pre { background: var(--raised); border-radius: .4rem; padding: .75rem 1rem; overflow: auto; max-height: 22rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .8438rem; font-variant-numeric: tabular-nums }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line) }
th { font-weight: 500; color: var(--soft) }
td:first-child { min-width: 8rem }
i { color: var(--soft) }
.tag { font: 600 .6875rem/1 var(--mono); color: var(--soft); border: 1px solid var(--line); border-radius: .25rem; padding: .18rem .35rem; vertical-align: middle }
@media (max-width: 50rem) { body { display: block } .bar .jump { display: block } nav { position: static; height: auto; border: 0; border-top: 1px solid var(--line); scroll-margin-top: 3.25rem } main { padding: 1.25rem 1rem 3rem } h2 { margin-top: 2.25rem } ul { padding-left: 1.25rem } section > section { padding-left: .75rem } }
@media (max-width: 26rem) { .bar { gap: .75rem; padding: 0 1rem } }
@media print { body { display: block; background: none } .bar { position: static } .bar a, nav { display: none } main { padding: 0 } pre { max-height: none; white-space: pre-wrap; overflow-wrap: anywhere } }
`;
