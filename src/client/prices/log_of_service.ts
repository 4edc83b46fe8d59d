import { LOG_FILES_PATH, REST_PATHS } from '../../wire/paths.js';
import type { FetchResponse } from '../connect/platform.js';
import type { RestService } from '../connect/rest_service.js';
import type { CheckpointHistory } from '../verify/checkpoint_history.js';
import type { LogToSearch } from '../verify/search_log.js';
import type { ReadLogFile } from '../verify/served_log.js';
import { pathOf } from './market_data.js';

const NOT_FOUND = [404, 410];

/** Returns the public log of a service. @param history the checkpoints that were read before */
export function logOf(service: RestService, history?: CheckpointHistory): LogToSearch {
  const read: ReadLogFile = async (path, bytesMax) => {
    const { status, body } = await service.ask(LOG_FILES_PATH + path, readBytes);
    if (NOT_FOUND.includes(status)) return undefined;
    if (status !== 200) throw new Error(`${path} is answered with ${status}`);
    if (body.length > bytesMax) throw new Error(`${path} has more than ${bytesMax} bytes`);
    return body;
  };
  return {
    read,
    ...(history && { history }),
    proofOf: async ({ symbol, timeNs, signatureType }) => {
      const path = pathOf(REST_PATHS.proof, {
        asset: symbol,
        timestamp: String(timeNs),
        signature_type: signatureType,
      });
      const { status, body } = await service.ask(path, (response) => response.text());
      return status === 200 ? body : undefined;
    },
  };
}

async function readBytes(response: FetchResponse): Promise<Uint8Array> {
  if (response.arrayBuffer === undefined) throw new TypeError('fetch answers without arrayBuffer');
  return new Uint8Array(await response.arrayBuffer());
}
