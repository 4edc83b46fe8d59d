import { LOG_FILES_PATH, REST_PATHS } from '../../wire/paths.js';
import type { RestService } from '../connect/rest_service.js';
import type { CheckpointHistory } from '../verify/checkpoint_history.js';
import type { LogToSearch } from '../verify/search_log.js';
import type { ReadLogFile } from '../verify/served_log.js';
import { pathOf } from './market_data.js';

const NOT_FOUND = [404, 410];

/** Returns the public log of a service. @param history the checkpoints that were read before */
export function logOf(service: RestService, history?: CheckpointHistory): LogToSearch {
  const read: ReadLogFile = async (path, bytesMax) => {
    const { status, body } = await service.ask(LOG_FILES_PATH + path, (open) => open.wholeBytes(bytesMax));
    if (body !== undefined || NOT_FOUND.includes(status)) return body;
    throw new Error(`${path} is answered with ${status}`);
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
      return (await service.ask(path, (open) => open.wholeText())).body;
    },
  };
}
