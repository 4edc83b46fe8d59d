import { type Command, Option } from 'commander';
import { EquivocationError, type TicksealError } from '../client/connect/errors.js';
import type { Down } from '../client/connect/reconnecting_socket.js';
import { collectKey, parseSocketUrl } from './option_forms.js';
import { errorText, jsonText, reasonText, type Shown, shown, writeLine } from './shown_line.js';

/** The streams of a client command. The entry point passes the streams of the process. */
export interface CommandStreams {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/**
 * Adds the options of every command that connects to a service. @param needsToken false if the command itself checks for a token
 */
export function withConnectionOptions(
  command: Command,
  { stderr }: CommandStreams,
  needsToken = true,
): Command {
  return command
    .hook('preAction', () => {
      if (command.getOptionValueSource('token') === 'cli')
        writeLine(stderr, shown`${command.name()}: --token ${SHOWN_TO_ALL}; set TICKSEAL_TOKEN instead`);
    })
    .option(
      '--url <url>',
      'base address of the service, ws:// or wss://',
      parseSocketUrl,
      'ws://127.0.0.1:8080',
    )
    .addOption(
      new Option('--token <token>', "the caller's access token")
        .env('TICKSEAL_TOKEN')
        .makeOptionMandatory(needsToken),
    );
}

/** The warning about a secret in a command-line argument. */
export const SHOWN_TO_ALL = shown`stands in the list of processes, where every user of this machine can read it`;

/** The option of every command that compares a signature with the expected signer. */
export const SIGNER_OPTION = [
  '--signer <key>',
  'an address or public key that may sign; once for each. Without one nothing is verified',
  collectKey,
] as const;

/** The exit status when no check failed, but the user named no signer. Without an expected signer, nothing is verified. */
export const EXIT_NOT_VERIFIED = 3;

/** Returns the end of a line about an item whose recovered signer the user did not name. */
export function notVerified(signer: string): Shown {
  return shown`recovered ${signer}, NOT verified: --signer names no address`;
}

/**
 * Writes an error of a client to standard error. The evidence that a key signed two values is another line, of JSON, which
 * `tickseal log verify` reads.
 */
export function tellClientError({ stderr }: CommandStreams, origin: Shown, error: TicksealError): void {
  writeLine(stderr, shown`${origin}: ${errorText(error)}`);
  if (error instanceof EquivocationError)
    writeLine(stderr, jsonText(JSON.stringify(JSON.parse(error.evidence))));
}

/** Returns one line for users about a lost or refused connection. */
export function describeDown(url: string, { reason, httpStatus }: Down): Shown {
  return shown`${url}: ${reasonText((httpStatus !== undefined && REFUSALS[httpStatus]) || reason)}`;
}

/** The reasons for which a server refuses an upgrade or a request, by HTTP status. */
export const REFUSALS: Readonly<Record<number, string>> = {
  400: 'the service refuses the parameters of this request (400)',
  401: 'the service does not know this token (401): give one that its operator lists, in TICKSEAL_TOKEN',
  403: 'this token may not do this (403)',
  404: 'there is no such service at this address (404): a base address has no path such as /ws',
  429: 'the service has too many requests or connections of this token (429)',
};
