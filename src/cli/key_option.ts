import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { parseSecretKey } from '../client/sign/sign_price.js';
import { readSecretFile } from '../config/secret_file.js';
import { type CommandStreams, SHOWN_TO_ALL } from './client_command.js';
import { shown, writeLine } from './shown_line.js';

/** The value of `--key` that means standard input instead of a file. */
const STANDARD_INPUT = '-';
const KEY_TEXT = /^(?:0x)?[0-9a-fA-F]{64}$/;

/** Adds `--key`, and a warning for a key in an argument. */
export function withKeyOption(command: Command, { stderr }: CommandStreams): Command {
  return command
    .addOption(
      new Option(
        '--key <file>',
        "the publisher's secret key, 64 hex digits: a file that only its owner can read, or - for the first line of standard input; the variable may also hold the digits",
      ).env('TICKSEAL_KEY'),
    )
    .hook('preAction', () => {
      if (command.getOptionValueSource('key') === 'cli' && KEY_TEXT.test(command.opts()['key']))
        writeLine(
          stderr,
          shown`${command.name()}: the key after --key ${SHOWN_TO_ALL}; name a file, write - to give it on standard input, or set TICKSEAL_KEY instead`,
        );
    });
}

/**
 * Reads the key that `--key` names. Error messages never show the value of `--key`, because it may be a key with a missing digit.
 * @param firstLine reads the first line of standard input; `undefined` when the input has no line
 * @returns 32 bytes
 * @throws RangeError when the text contains no valid key
 */
export async function readSecretKey(
  option: string,
  firstLine: () => Promise<string | undefined>,
): Promise<Uint8Array> {
  const isInput = option === STANDARD_INPUT;
  const text = isInput ? ((await firstLine()) ?? '') : KEY_TEXT.test(option) ? option : readKeyFile(option);
  const key = parseSecretKey(text.trim());
  if (key !== undefined) return key;
  throw new RangeError(
    `--key: the ${isInput ? 'first line of standard input' : 'file'} does not hold 32 bytes of hex`,
  );
}

function readKeyFile(file: string): string {
  const read = readSecretFile(file);
  if ('text' in read) return read.text;
  throw new RangeError(
    `--key: ${existsSync(file) ? read.message : 'neither 64 hex digits nor a file; tickseal keygen --out FILE makes one'}`,
  );
}
