import { ADMIN_PATHS, PAGE_PATHS, PUBLISH_PATHS, REST_PATHS, STREAM_PATH } from '../../wire/paths.js';
import {
  DEFAULT_SIGNATURE_TYPE,
  SIGNATURE_TYPES,
  SIGNATURES,
  type SignatureType,
} from '../../wire/signatures.js';
import type { NamedPublisher } from '../option_forms.js';
import type { LiveMarkets } from './live_markets.js';

export interface BannerOptions {
  /** `http://` address of the REST interface. The sockets have the same host and port. */
  readonly url: string;
  readonly adminUrl: string;
  readonly token: string;
  readonly configFile: string;
  /** The public keys that sign aggregates, by signature type. The EVM key also signs streaming payloads. */
  readonly signers: Readonly<Record<SignatureType, string>>;
  /** True when this start made the demo's keys. */
  readonly created: boolean;
  /** The real markets, if some prices come from real markets. */
  readonly markets?: LiveMarkets | undefined;
  /** The user's own publisher, if the user has named one. */
  readonly own?: NamedPublisher | undefined;
}

/** Returns the text that the demo prints when it is ready: its addresses, and commands to paste into another terminal. */
export function renderDemoBanner(options: BannerOptions): string {
  const { url, adminUrl, token, configFile, created, signers, markets, own } = options;
  const socketUrl = url.replace(/^http/, 'ws');
  const streamUrl = socketUrl + STREAM_PATH;
  const authorization = `-H "Authorization: Basic ${token}"`;
  const subscribe = `-x '{"type":"subscribe","assets":[1,2]}' -w 10`;
  // Browsers never send the part after #, so no server or log receives the token.
  const keys = SIGNATURE_TYPES.map((type) => `&signer=${signers[type]}`).join('');
  const pageUrl = `${url}${PAGE_PATHS.home}#token=${token}${keys}`;
  return `
tickseal is ready. ${originText(markets)}; every signature is real.

  live page   ${pageUrl}
  REST        ${url}
  streaming   ${streamUrl}
  publishers  ${Object.values(PUBLISH_PATHS)
    .map((path) => socketUrl + path)
    .join('  ')}
  admin       ${adminUrl}${ADMIN_PATHS.ready}  ${adminUrl}${ADMIN_PATHS.metrics}
  token       ${token}
  signers     ${SIGNATURE_TYPES.map((type) => signerText(type, signers[type])).join('\n              ')}
  settings    ${configFile}${created ? ' (new, with fresh keys)' : ''}
${markets === undefined ? '' : `  sources     ${markets.file}\n`}
Try, in another terminal:

  curl ${authorization} "${url}${REST_PATHS.latest}?assets=BTCUSD,EURUSD"
  curl ${authorization} "${url}${REST_PATHS.marketStatus}?asset_id=AAPL"
  npx wscat -c "${streamUrl}?channel=1s" ${authorization} ${subscribe}
  npx wscat -c "${streamUrl}?channel=1s&message_type=signed_ecdsa&addtl_attrs=ms" ${authorization} ${subscribe}
  TICKSEAL_TOKEN=${token} node dist/src/cli/main.js subscribe BTCUSD --url ${socketUrl} --message-type signed_ecdsa --decode --signer ${signers[DEFAULT_SIGNATURE_TYPE]}

Publish with a key of your own:

${publishText(own, token, socketUrl)}
`;
}

function signerText(type: SignatureType, key: string): string {
  return `${key} (${SIGNATURES[type].title} aggregates${type === DEFAULT_SIGNATURE_TYPE ? ', streams' : ''})`;
}

/** Returns the commands with which the user publishes a price. */
function publishText(own: NamedPublisher | undefined, token: string, socketUrl: string): string {
  if (own === undefined)
    return `  node dist/src/cli/main.js keygen --out data/my-publisher.hex
  npm start -- --publisher <the address that keygen prints>
`;
  const type = own.signatureType === DEFAULT_SIGNATURE_TYPE ? '' : ` --type ${own.signatureType}`;
  return `  TICKSEAL_TOKEN=${token} node dist/src/cli/main.js publish BTCUSD=95000 --key <the file of its key>${type} --url ${socketUrl}
`;
}

/** Describes which prices are real, and names their markets. */
function originText(markets: LiveMarkets | undefined): string {
  if (markets === undefined) return 'Every price here is simulated';
  const { symbols, sources } = markets;
  return `Real prices: ${symbols.join(', ')} (EVM), from ${sources.join(', ')}. Every other price is simulated`;
}
