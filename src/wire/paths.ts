import { bySignatureType } from './signatures.js';
import { ASSETS_PATH, STREAM_PATH, STREAM_TICKET_PATH, TAXONOMY_PATH } from './stream_paths.js';

export { STREAM_PATH };

/** The path of the frames of `/ws` as server-sent events. */
export const EVENTS_PATH = '/v1/stream';

/** The paths on which publishers send their signed prices, by signature type. */
export const PUBLISH_PATHS = bySignatureType((type) => `/${type}/publish`);

/** The paths on which clients subscribe to signed aggregates, by signature type. */
export const SUBSCRIBE_PATHS = bySignatureType((type) => `/${type}/subscribe`);

/** All paths that accept WebSockets. */
export const SOCKET_PATHS = [STREAM_PATH, ...Object.values(PUBLISH_PATHS), ...Object.values(SUBSCRIBE_PATHS)];

/**
 * The paths of REST, except the paths of documents and the path from `pushedAssetsPath`, which contains the service's name.
 */
export const REST_PATHS = {
  assets: ASSETS_PATH,
  latest: '/v1/prices/latest',
  recent: '/v1/prices/recent',
  at: '/v1/prices/at',
  range: '/v1/prices/range',
  proof: '/v1/prices/proof',
  history: '/v1/tradingview/history',
  candles: '/v1/candles',
  marketStatus: '/v1/market_status',
  deployments: '/v1/deployments/evm',
  taxonomy: TAXONOMY_PATH,
  signers: '/v1/signers',
  nodes: '/v1/nodes',
  streamTicket: STREAM_TICKET_PATH,
  algorithms: '/v1/algorithms',
  brokers: '/v1/registry/brokers',
  publisherMetadata: '/v1/publisher/metadata',
  udfConfig: '/udf/config',
  udfTime: '/udf/time',
  udfSymbols: '/udf/symbols',
  udfSearch: '/udf/search',
  udfHistory: '/udf/history',
  udfQuotes: '/udf/quotes',
} as const;

/** The paths of the documents for programs. The client requests no documents. */
export const DOCUMENT_PATHS = {
  openApi: '/openapi.json',
  asyncApi: '/asyncapi.json',
  llms: '/llms.txt',
} as const;

/** The folder of the files of the public log of signed prices. */
export const LOG_FILES_PATH = '/tlog/';

/** The folder of this node's public log of streaming payloads, below the folder of the public log. */
export const STREAM_LOG_FOLDER = 'streams/';

/** The path of the live page, the folder of the files that the page loads, the public token, and the folder of the site of documents. */
export const PAGE_PATHS = {
  home: '/',
  files: '/page/',
  token: '/page/token',
  documents: '/docs/',
} as const;

/** The paths of the admin listener, which requires no token. */
export const ADMIN_PATHS = {
  live: '/livez',
  ready: '/readyz',
  metrics: '/metrics',
  lastReload: '/last_reload',
} as const;
