export interface BannerOptions {
  /** `http://` address of REST; the sockets have the same host and port. */
  readonly url: string;
  readonly adminUrl: string;
  readonly token: string;
  readonly configFile: string;
  /** The demo's keys were made just now. */
  readonly created: boolean;
}

/** What the demo prints once it is ready: where it is, and lines to paste into another terminal. */
export function renderDemoBanner({ url, adminUrl, token, configFile, created }: BannerOptions): string {
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
  settings    ${configFile}${created ? ' (new, with fresh keys)' : ''}

Try, in another terminal:

  curl ${authorization} "${url}/v1/prices/latest?assets=BTCUSD,EURUSD"
  curl ${authorization} "${url}/v1/market_status?asset_id=AAPL"
  npx wscat -c "${socketUrl}/ws?channel=1s" ${authorization} ${subscribe}
  npx wscat -c "${socketUrl}/ws?channel=1s&message_type=signed_ecdsa&addtl_attrs=ms" ${authorization} ${subscribe}

`;
}
