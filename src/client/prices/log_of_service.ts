import { type LogPolicy, parsePolicy } from '../../tlog/log_policy.js';
import type { LoggedPrice } from '../../tlog/price_proof.js';
import { LOG_FILES_PATH, REST_PATHS } from '../../wire/paths.js';
import type { Platform } from '../connect/platform.js';
import { RestService } from '../connect/rest_service.js';
import { TokenSource } from '../connect/token_source.js';
import type { CheckpointHistory } from '../verify/checkpoint_history.js';
import { formatEvidence } from '../verify/evidence_file.js';
import { type LogToSearch, searchLog } from '../verify/search_log.js';
import type { ReadLogFile } from '../verify/served_log.js';
import { pathOf } from './market_data.js';

const NOT_FOUND = [404, 410];

/** The log in which an aggregate is searched, and the keys of the service. */
export interface LogQuery {
  /** The text of a policy file (C2SP tlog-policy) or the policy that `parsePolicy` of `tickseal/tlog` read: the log, and its witnesses. */
  readonly policy: string | LogPolicy;
  /** The keys of the service that may sign aggregates. */
  readonly signers: readonly string[];
  /** The service's own oracle ID, for Stark aggregates. Default: none, and Stark aggregates do not verify. */
  readonly oracleId?: string | undefined;
}

/** The outcome of the search for an aggregate in a public log. */
export type LogFinding =
  | {
      /** The place at which the log has the aggregate. */
      readonly logged: LoggedPrice;
    }
  | {
      /** The text of a file for `tickseal log verify`, which proves that the log contradicts the aggregate. */
      readonly evidence: string;
      /** The contradiction, in one sentence. */
      readonly statement: string;
    }
  | {
      /** The reason why neither is proved. */
      readonly lacks: string;
    };

/**
 * Searches the public log of a service, and if necessary its files. A request to a log carries no token.
 * @throws TlogError for a policy that cannot be read
 */
export async function searchServiceLog(
  url: string,
  platform: Platform,
  aggregate: string,
  query: LogQuery,
): Promise<LogFinding> {
  const service = new RestService(url, platform, new TokenSource(undefined, undefined));
  const policy = typeof query.policy === 'string' ? parsePolicy(query.policy) : query.policy;
  const answer = await searchLog(aggregate, logOf(service), { ...query, policy });
  if (!('evidence' in answer)) return answer;
  return { evidence: formatEvidence(answer.evidence), statement: answer.statement };
}

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
