import { createClient } from '../client/node_index.js';
import type { OperatorVote, QuorumTick } from '../client/quorum/quorum_tick.js';
import { writeExactJson } from '../client/verify/exact_json.js';
import type { Environment } from '../config/private_keys.js';
import type { SignatureType } from '../wire/signatures.js';
import type { Channel } from '../wire/stream.js';
import { type CommandStreams, tellClientError } from './client_command.js';
import { readQuorumFile } from './quorum_file.js';
import { errorText, LineWriter, ownText, reasonText, type Shown, shown, writeLine } from './shown_line.js';

export interface QuorumSubscriptionOptions {
  /** The file of operators. */
  readonly quorum: string;
  readonly channel?: Channel | undefined;
  readonly type?: SignatureType | undefined;
  readonly count?: number | undefined;
}

/** The exit status for a file that has errors. */
const EXIT_BAD_QUORUM = 2;

/**
 * Prints each price on which the operators agree, one per line.
 * @returns the exit status
 */
export async function subscribeQuorum(
  symbols: readonly string[],
  { quorum: file, channel, type: signatureType, count }: QuorumSubscriptionOptions,
  streams: CommandStreams,
  env: Environment,
): Promise<number> {
  const read = readQuorumFile(file, env);
  if (!read.ok) {
    writeLine(streams.stderr, ownText(read.errors.join('\n')));
    return EXIT_BAD_QUORUM;
  }
  const warn = (problem: Shown) => writeLine(streams.stderr, shown`subscribe: ${problem}`);
  const client = createClient({ quorum: read.quorum });
  client.on('noQuorum', ({ symbol, reason }) => warn(shown`${symbol}: ${reasonText(reason)}`));
  client.on('state', ({ operator, url, state, reason }) => {
    if (state !== 'open') warn(shown`${operator}: ${url} is ${state}: ${reasonText(reason)}`);
  });
  client.on('error', ({ operator, error }) => tellClientError(streams, shown`subscribe: ${operator}`, error));
  const end = new AbortController();
  const stop = () => end.abort();
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const out = new LineWriter(streams.stdout, stop);
  let left = count ?? Number.POSITIVE_INFINITY;
  try {
    for await (const tick of client.stream(symbols, { channel, signatureType, signal: end.signal })) {
      out.json(writeExactJson(lineOf(tick)));
      left -= 1;
      if (left === 0) break;
    }
    return 0;
  } catch (error) {
    warn(errorText(error));
    return 1;
  } finally {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
    await client.close();
  }
}

function lineOf({ symbol, price, decimal, timestampNs, verdict, signers, operators }: QuorumTick): object {
  return {
    symbol,
    price: price.toString(),
    decimal,
    timestamp: timestampNs,
    verdict,
    signers,
    operators: operators.map(partOf),
  };
}

function partOf({ operator, verdict, reason, price, timestampNs }: OperatorVote): object {
  const fault = reason === '' ? undefined : reason;
  return { operator, verdict, reason: fault, price: price?.toString(), timestamp: timestampNs };
}
