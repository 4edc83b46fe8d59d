import type { operationsOf } from '../../src/server/documents/openapi.js';
import { type Html, html } from './html.js';
import type { SampleParameter, SampleValue } from './sample_parameter.js';

/** The time of the samples in the files, in UNIX seconds. A page that runs its script shows the present time. */
const SAMPLE_TIME_S = 1_795_298_519;
const SECONDS = '';
const NANOSECONDS = '000000000';

/** The values by name, and by path and name where these differ. */
const VALUES: Readonly<Record<string, SampleValue>> = {
  asset: 'BTCUSD',
  asset_id: 'BTCUSD',
  assets: 'BTCUSD',
  symbol: 'BTCUSD',
  symbols: 'BTCUSD',
  resolution: '60',
  publisher_key: '0x99e295e85cb07c16b7bb62a44df532a7f2620237',
  from: { agoS: 86_400, digits: SECONDS },
  to: { agoS: 0, digits: SECONDS },
  timestamp: { agoS: 60, digits: NANOSECONDS },
  '/v1/prices/recent timestamp': { agoS: 60, digits: SECONDS },
  '/v1/prices/range from': { agoS: 600, digits: NANOSECONDS },
  '/v1/prices/range to': { agoS: 0, digits: NANOSECONDS },
};

type Listed = ReturnType<typeof operationsOf>[number];

/** A request of a sample. Each value of a header names environment variables as `{NAME}`. */
interface SampleRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/**
 * Renders a request in three languages. The data attributes tell the page's script how to send it; a request with a login by signature has none,
 * because the page has no key.
 */
export function renderSamples({ path, method, operation: { parameters, security } }: Listed): Html {
  const access = security === undefined ? 'token' : security.length === 0 ? 'open' : 'login';
  const known = parameters.map(({ name, required }): SampleParameter => {
    const value = VALUES[`${path} ${name}`] ?? VALUES[name] ?? '';
    return { name, required, value: required ? value : '' };
  });
  const query = known.flatMap(({ name, value }) => (value === '' ? [] : [`${name}=${textOf(value)}`]));
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  const request = { method, target, headers: HEADERS[access] };
  const data = JSON.stringify({ path, access, parameters: known });
  return html`<div class="samples"${access === 'login' ? undefined : html` data-request="${data}"`}>
${Object.entries(LANGUAGES).map(
  ([name, write]) =>
    html`<div data-language="${name}"><b>${name}</b><pre tabindex="0"><code>${withTarget(write(request), target)}</code></pre></div>\n`,
)}</div>`;
}

/** Marks the target of a sample, which the page's script replaces when the reader changes a parameter. */
function withTarget(code: string, target: string): Html[] {
  const [before = '', after = ''] = code.split(target);
  return [html`${before}`, html`<span class="target">${target}</span>`, html`${after}`];
}

function textOf(value: SampleValue): string {
  return typeof value === 'string' ? value : `${SAMPLE_TIME_S - value.agoS}${value.digits}`;
}

const HEADERS: Readonly<Record<'token' | 'open' | 'login', SampleRequest['headers']>> = {
  token: [['Authorization', 'Basic {TICKSEAL_TOKEN}']],
  open: [],
  login: [
    ['X-Public-Key', '{PUBLISHER}'],
    ['X-Timestamp', '{TIME}'],
    ['X-Signature', '{SIGNATURE}'],
    ['X-Signature-Type', 'evm'],
  ],
};

/** Names an environment variable in a language, in place of `{NAME}`. */
const NAMED = /\{(\w+)\}/g;
const inShell = (text: string) => text.replace(NAMED, '$$$1');
const inTemplate = (text: string) => text.replace(NAMED, '$${$1}');
const inPython = (text: string) => text.replace(NAMED, "{os.environ['$1']}");

const LANGUAGES: Readonly<Record<string, (request: SampleRequest) => string>> = {
  curl({ method, target, headers }) {
    const parts = [
      method === 'GET' ? 'curl' : `curl -X ${method}`,
      ...headers.map(([name, value]) => `-H "${name}: ${inShell(value)}"`),
      `"${inShell('{TICKSEAL_URL}')}${target}"`,
    ];
    return parts.join(headers.length > 1 ? ' \\\n  ' : ' ');
  },
  TypeScript({ method, target, headers }) {
    const lines = headers.map(([name, value]) => `\n    '${name}': \`${inTemplate(value)}\`,`);
    const options = [
      ...(method === 'GET' ? [] : [`method: '${method}'`]),
      ...(headers.length === 0 ? [] : [`headers: {${lines.join('')}\n  }`]),
    ];
    const init = options.length === 0 ? '' : `, {${options.map((one) => `\n  ${one},`).join('')}\n}`;
    const variables = headers.flatMap(([, value]) => [...value.matchAll(NAMED)].map(([, name]) => name));
    return `const { ${['TICKSEAL_URL', ...variables].join(', ')} } = process.env;
const answer = await fetch(\`${inTemplate('{TICKSEAL_URL}')}${target}\`${init});
console.log(answer.status, await answer.text()); // JSON.parse would round nanoseconds`;
  },
  Python({ method, target, headers }) {
    const lines = headers.map(([name, value]) => `"${name}": f"${inPython(value)}"`);
    const options = [
      `f"${inPython('{TICKSEAL_URL}')}${target}"`,
      ...(method === 'GET' ? [] : [`method="${method}"`]),
      ...(headers.length === 0 ? [] : [`headers={${lines.join(', ')}}`]),
    ];
    return `import os, urllib.request

request = urllib.request.Request(${options.map((line) => `\n    ${line},`).join('')}
)
with urllib.request.urlopen(request) as answer:
    print(answer.status, answer.read().decode())`;
  },
};
