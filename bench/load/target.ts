import type { ServerAddress } from '../../scripts/load/frame_socket.js';
import { parseExactJson } from '../../src/client/index.js';
import { TAXONOMY_PATH } from '../../src/wire/stream_paths.js';
import type { Target } from './jobs.js';
import { isThisMachine, type LoadOptions } from './options.js';

/** An asset that the token may read. */
export interface TargetAsset {
  readonly id: number;
  readonly symbol: string;
}

export function targetOf({ url, tokenFile: token }: LoadOptions): Target {
  const isTls = url.protocol === 'wss:';
  const address: ServerAddress = {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    isTls,
  };
  return { address, token, isSameClock: isThisMachine(url.hostname) };
}

/** Reads the first assets of the taxonomy that have signatures of the load's type. @throws Error whose message is one sentence */
export async function readAssets(options: LoadOptions): Promise<readonly TargetAsset[]> {
  const { url, tokenFile: token, assets, signatureType } = options;
  const address = new URL(TAXONOMY_PATH, url.href.replace(/^ws/, 'http'));
  let text: string;
  try {
    const response = await fetch(address, { headers: { Authorization: `Basic ${token}` } });
    text = await response.text();
    if (!response.ok) throw new Error(`${response.status}: ${text}`);
  } catch (error) {
    const { message, cause } = error as Error;
    throw new Error(`${address} cannot be read: ${(cause as Error | undefined)?.message || message}`);
  }
  const { data } = parseExactJson(text) as {
    readonly data: {
      readonly assets: readonly {
        readonly asset_id: number;
        readonly name: string;
        readonly signature_type: string;
      }[];
    };
  };
  const found = data.assets
    .filter(({ signature_type }) => signature_type === signatureType)
    .slice(0, assets)
    .map(({ asset_id, name }) => ({ id: Number(asset_id), symbol: name }));
  if (found.length < assets)
    throw new Error(
      `--assets ${assets}, but the token may read ${found.length} assets of --signature-type ${signatureType}`,
    );
  return found;
}
