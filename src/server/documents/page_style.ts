/** The style of the page: what a browser has, in two columns where there is room, light or dark as the reader likes. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: #8884; --faint: #8881; --soft: #8889; --accent: light-dark(#0b57d0, #8ab4f8) }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; display: grid; grid-template-columns: 17rem minmax(0, 1fr) }
nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1.5rem; border-right: 1px solid var(--line); font-size: .875rem }
nav ul { list-style: none; margin: 0 0 1rem; padding: 0 }
nav li { overflow-wrap: anywhere; padding: .1rem 0 }
main { padding: 1.5rem 3rem 6rem; max-width: 64rem }
a { color: var(--accent); text-decoration: none }
a:hover { text-decoration: underline }
h1 { margin: 0 0 .5rem; font-size: 1.9rem }
h2 { margin: 3.5rem 0 1rem; font-size: 1.5rem; border-bottom: 1px solid var(--line) }
h3 { margin: 2.5rem 0 .5rem; font-size: 1.1rem; overflow-wrap: anywhere }
h4 { margin: 1.25rem 0 .35rem; font-size: .95rem }
section, h2, h3 { scroll-margin-top: 1rem }
section > section { padding-left: 1.25rem; border-left: 3px solid var(--line); margin: 1.5rem 0 }
section > section > h3 { margin-top: 0 }
code, pre { font: .86em/1.5 ui-monospace, monospace }
code { background: var(--faint); border-radius: .2rem; padding: .05rem .25rem; overflow-wrap: anywhere }
pre { background: var(--faint); border-radius: .4rem; padding: .75rem 1rem; overflow: auto; max-height: 22rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line) }
th { font-weight: 600; color: var(--soft) }
td:first-child { min-width: 9rem }
i { color: var(--soft) }
.tag { font: 600 .72rem/1 ui-monospace, monospace; border: 1px solid var(--line); border-radius: .25rem; padding: .15rem .35rem; vertical-align: middle }
@media (max-width: 50rem) { body { display: block } nav { position: static; height: auto; border: 0 } main { padding: 1rem } }
`;
