import { type Command, Option } from 'commander';
import type { Client } from '../client/client.js';
import { RefusedError } from '../client/connect/errors.js';
import { createClient } from '../client/node.js';
import { instantText } from '../model/instant.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import { type CommandStreams, SIGNER_OPTION, withConnectionOptions } from './client_command.js';
import type { NamingOptions } from './named_assets.js';
import { parseOracleId } from './option_forms.js';
import { reasonText, type Shown, shown } from './shown_line.js';

/** The options of each command that reads aggregates. */
export interface PastCommandOptions extends NamingOptions {
  readonly oracleId: string;
}

/**
 * Adds the options of {@link PastCommandOptions}.
 * @param needsToken false if the command itself checks for a token
 */
export function withPastOptions(command: Command, streams: CommandStreams, needsToken = true): Command {
  return withConnectionOptions(command, streams, needsToken)
    .addOption(
      new Option(
        '--type <type>',
        'signature type of the assets (default: evm for a symbol that has both)',
      ).choices(SIGNATURE_TYPES),
    )
    .option(...SIGNER_OPTION)
    .option(
      '--oracle-id <id>',
      "the service's oracle ID, which its Stark signatures cover",
      parseOracleId,
      'servc',
    );
}

/** Creates a client that verifies with the keys of `--signer`. */
export function openPast({ url, token, signer, oracleId }: PastCommandOptions): Client {
  return createClient({ urls: url, token, signers: signer ?? 'unchecked', oracleId });
}

/** Returns one line about a failed request. */
export function pastFault(error: unknown): Shown {
  const { message } = error as Error;
  const keptFromNs = error instanceof RefusedError ? error.keptFromNs : undefined;
  const kept =
    keptFromNs === undefined ? shown`` : shown`; the service keeps prices from ${instantText(keptFromNs)}`;
  return shown`${reasonText(message)}${kept}`;
}
