export interface BannerOptions {
  /** `http://` address of REST; the sockets have the same host and port. */
  readonly url: string;
  readonly adminUrl: string;
  readonly token: string;
  readonly configFile: string;
  /** The address that signs EVM aggregates and streaming payloads. */
  readonly evmAddress: string;
  /** The key that signs Stark aggregates. */
  readonly starkPublicKey: string;
  /** The demo's keys were made just now. */
  readonly created: boolean;
}

/** What the demo prints once it is ready: where it is, and lines to paste into another terminal. */
export function renderDemoBanner(options: BannerOptions): string {
  const { url, adminUrl, token, configFile, created, evmAddress, starkPublicKey } = options;
  const socketUrl = url.replace(/^http/, 'ws');
  const authorization = `-H "Authorization: Basic ${token}"`;
  const subscribe = `-x '{"type":"subscribe","assets":[1,2]}' -w 10`;
  return `
tickseal is ready. Every price here is simulated; every signature is real.

  REST        ${url}
  streaming   ${socketUrl}/ws
  publishers  ${socketUrl}/evm/publish  ${socketUrl}/stark/publish
  admin       ${adminUrl}/readyz  ${adminUrl}/metrics
  token       ${token}
  signers     ${evmAddress} (EVM aggregates, streams)
              ${starkPublicKey} (Stark aggregates)
  settings    ${configFile}${created ? ' (new, with fresh keys)' : ''}

Try, in another terminal:

  curl ${authorization} "${url}/v1/prices/latest?assets=BTCUSD,EURUSD"
  curl ${authorization} "${url}/v1/market_status?asset_id=AAPL"
  npx wscat -c "${socketUrl}/ws?channel=1s" ${authorization} ${subscribe}
  npx wscat -c "${socketUrl}/ws?channel=1s&message_type=signed_ecdsa&addtl_attrs=ms" ${authorization} ${subscribe}
  node dist/src/cli/main.js subscribe BTCUSD --url ${socketUrl} --token ${token} --message-type signed_ecdsa --decode --signer ${evmAddress}

`;
}
