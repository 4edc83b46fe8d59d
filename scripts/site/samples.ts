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

/**
 * Renders a request as a line for curl. The data attribute tells the page's script how to send it; a request with a login by signature has none,
 * because the page has no key.
 */
export function renderSample({ path, method, operation }: ReturnType<typeof operationsOf>[number]): Html {
  const { parameters, security } = operation;
  const access = security === undefined ? 'token' : security.length === 0 ? 'open' : 'login';
  const known = parameters.map(({ name, required }): SampleParameter => {
    const value = VALUES[`${path} ${name}`] ?? VALUES[name] ?? '';
    return { name, required, value: required ? value : '' };
  });
  const query = known.flatMap(({ name, value }) => (value === '' ? [] : [`${name}=${textOf(value)}`]));
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  const start = method === 'GET' ? 'curl' : `curl -X ${method}`;
  const headers = HEADERS[access].map((header) => ` -H "${header}"`).join('');
  const data = JSON.stringify({ path, access, parameters: known });
  // The page's script replaces the target when the reader changes a parameter.
  return html`<div class="sample"${access === 'login' ? undefined : html` data-request="${data}"`}>
<pre tabindex="0"><code>${start}${headers} "$TICKSEAL_URL<span class="target">${target}</span>"</code></pre></div>`;
}

function textOf(value: SampleValue): string {
  return typeof value === 'string' ? value : `${SAMPLE_TIME_S - value.agoS}${value.digits}`;
}

const HEADERS: Readonly<Record<'token' | 'open' | 'login', readonly string[]>> = {
  token: ['Authorization: Basic $TICKSEAL_TOKEN'],
  open: [],
  login: [
    'X-Public-Key: $PUBLISHER',
    'X-Timestamp: $TIME',
    'X-Signature: $SIGNATURE',
    'X-Signature-Type: evm',
  ],
};
