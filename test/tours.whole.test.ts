import { join } from 'node:path';
import { type Test, test } from 'tap';
import { freePorts } from '../src/cli/demo/free_ports.js';
import { type Page, ROOT, readPage } from './pages.js';
import { runShell } from './run_shell.js';

// Tests that the commands and the examples of the pages run, and that their output is the output on the pages.

/** The script that starts the demo like `npm start`, without compiling. The banner ends with the lines to paste. */
const START_DEMO = `
node $PWD/dist/src/cli/main.js serve --port 8080 --admin-port 9090 > banner &
for _ in {1..600}; do grep -q 'addtl_attrs=ms' banner && break; sleep 0.1; done
`;

/** The ports on the pages. The tests replace them with free ports. */
const PORTS = ['8080', '8081', '9090', '9091'];
const ANY_PORT = new RegExp(`\\b(?:${PORTS.join('|')})\\b`, 'g');

test('the short tour and the examples of the client, beside the demo', async (t) => {
  const banner: Step = { commands: 'sed 1d banner', expected: textAfter('README.md', '## The demo') };
  const steps = [banner, ...tourOf('README.md'), ...examplesOf('src/client/README.md')];
  t.ok(steps.length > 7, 'there are steps');
  await runSteps(t, steps, { before: START_DEMO, after: 'kill %1; wait %1' });
});

test('the long tour', async (t) => {
  const steps = tourOf('src/cli/README.md');
  t.ok(steps.length > 8, 'there are steps');
  await runSteps(t, steps, { before: '', after: '' });
});

interface Step {
  /** The lines for bash. */
  readonly commands: string;
  readonly expected: string;
}

async function runSteps(
  t: Test,
  steps: readonly Step[],
  { before, after }: { readonly before: string; readonly after: string },
): Promise<void> {
  const free = await freePorts(PORTS.length);
  const script = [before, ...steps.map(({ commands }, i) => `${commands}\necho ${mark(i)}`), after]
    .join('\n')
    .replaceAll('$PWD/dist', `${ROOT}dist`)
    .replace(ANY_PORT, (port) => String(free[PORTS.indexOf(port)]));
  const output = (await runShell(script)).replace(
    /(?<=:)\d+\b/g,
    (port) => PORTS[free.indexOf(Number(port))] ?? port,
  );
  const printed = output.split(/^step \d+ ends\n/m);
  for (const [i, { commands, expected }] of steps.entries()) {
    t.match(printed[i] ?? '', shapeOf(expected), commands.trim());
  }
}

/** Returns the `sh tour` blocks of a page. Each block has the content of the `text` block that follows it. */
function tourOf(page: Page): Step[] {
  const blocks = readPage(page).matchAll(/```sh tour\n([\s\S]*?)```(?:\n```text\n([\s\S]*?)```)?/g);
  return [...blocks].map(([, commands = '', expected = '']) => ({ commands, expected }));
}

/**
 * Returns the `js` blocks of a page. Each block has the content of the `text` block that follows it. The blocks import the compiled
 * client.
 */
function examplesOf(page: Page): Step[] {
  const blocks = readPage(page).matchAll(/```js\n([\s\S]*?)```\n```text\n([\s\S]*?)```/g);
  return [...blocks].map(([, code = '', expected = '']) => {
    const module = code
      .replaceAll("'tickseal/client'", `'${join(ROOT, 'dist/src/client/node.js')}'`)
      .replaceAll("'tickseal-client'", `'${join(ROOT, 'dist/src/client/index.js')}'`)
      .replaceAll("'secp256k1'", `'${join(ROOT, 'node_modules/secp256k1/index.js')}'`)
      .replaceAll("'ws'", `'${join(ROOT, 'node_modules/ws/wrapper.mjs')}'`);
    return { commands: `cat > example.mjs <<'END'\n${module}END\nnode example.mjs`, expected };
  });
}

/** Returns the content of the first `text` block after a place on a page. */
function textAfter(page: Page, place: string): string {
  const [, after = ''] = readPage(page).split(place);
  return /```text\n([\s\S]*?)```/.exec(after)?.[1] ?? '';
}

function mark(step: number): string {
  return `step ${step} ends`;
}

/**
 * The parts of an output that differ from run to run, or are cut short: hex, words before `…`, `…` itself, long numbers, decimal
 * prices of the demo, trace IDs.
 */
const VARYING = /(0x\w*…?|[\w/-]{10,}…|…|\b\d{12,}\b|\b95\d{3}\.\d+\b|"trace_id":"[^"]*")/;

/** Returns a pattern for an output on a page. A line of `…` matches any lines. */
function shapeOf(output: string): RegExp {
  const lines = output.split('\n').map((line) => {
    if (line === '…') return '[\\s\\S]*';
    // Splitting by a capture group puts the matches at the odd indexes.
    return line
      .split(VARYING)
      .map((part, i) => (i % 2 === 1 ? '.+' : part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')))
      .join('');
  });
  return new RegExp(`^${lines.join('\n')}$`);
}
