import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseSecretKey } from '../client/sign/sign_price.js';
import { evmAddress } from '../client/verify/evm_signatures.js';
import { parseDurationNs } from '../config/quantity.js';
import { readSecretFile } from '../config/secret_file.js';
import { ANNOUNCEMENT_WAIT_S, secondText } from '../model/announcement_chain.js';
import { NS_PER_SECOND } from '../model/time.js';
import { type AnnouncedSigner, NO_PREVIOUS, NO_ROOT, readHex } from '../wire/announcement.js';
import { listedSigners, mergeSigners, openEnds } from './announced_signers.js';
import { type ChainFile, describeList, readChainFile, withAnnouncement } from './announcement_file.js';
import { addressOf, createPrivateKey, writeNewFile } from './keygen_command.js';
import { collectKey, parseEvmAddress } from './option_forms.js';
import { errorText, outputOf, ownText, shown, writeLine } from './shown_line.js';

interface SignOptions {
  readonly chain: string;
  readonly root?: string;
  readonly key?: string;
  readonly expires: number;
}

interface AnnounceOptions extends SignOptions {
  readonly signers?: string;
  readonly nextRoot?: string;
}

/** The default validity of a list. An attacker can withhold newer lists from a reader for at most this time. */
const EXPIRES_DEFAULT = '90d';

/** Adds `tickseal keys`, with which an operator announces keys. Its subcommands connect to no service. */
export function registerKeys(program: Command): void {
  const keys = program.command('keys').description('announce the keys with which a service signs');
  const print = (lines: readonly string[]) => writeLine(outputOf(program).out, ownText(lines.join('\n')));

  keys
    .command('root')
    .description('make a root key, which signs announcements; keep it offline, no service ever needs it')
    .requiredOption('--out <file>', 'the new file of the key, which only its owner can read')
    .action((options: { out: string }) =>
      runAction(keys, () => {
        const key = createPrivateKey('evm');
        writeNewFile(options.out, `0x${key.toString('hex')}\n`);
        print([
          `root: ${addressOf(key)}`,
          `its key: in ${options.out}; move it to a machine without a network`,
        ]);
      }),
    );

  withSigning(keys.command('announce'))
    .description(
      'sign the next list of keys and append it to the chain; without --signers renew the last list',
    )
    .option('--signers <file>', 'the answer of GET /v1/signers: the keys of the new list, and the next ones')
    .option('--next-root <address>', 'another root key, which signs all later announcements', parseEvmAddress)
    .action((options: AnnounceOptions) =>
      runAction(keys, () => {
        const file = readChainFile(options.chain);
        const nowS = Math.floor(Date.now() / 1000);
        const before = file.newest?.signers ?? [];
        if (options.signers === undefined && before.length === 0)
          throw new Error('--signers is needed for the first announcement');
        const signers =
          options.signers === undefined
            ? before
            : mergeSigners(before, listedSigners(readFileSync(options.signers, 'utf8')), nowS);
        print([...appendAnnouncement(file, signers, options, nowS), ...openEnds(signers, nowS)]);
      }),
    );

  withSigning(
    keys.command('revoke').argument('<addresses...>', 'the addresses of the stolen keys', collectKey),
  )
    .description('cut off stolen keys: sign a list in which no signature of them counts, whatever its time')
    .action((addresses: readonly string[], options: SignOptions) =>
      runAction(keys, () => {
        const file = readChainFile(options.chain);
        const listed = file.newest?.signers ?? [];
        const stranger = addresses.find((address) => !listed.some(({ key }) => isSameKey(key, address)));
        if (stranger !== undefined)
          throw new Error(`${stranger} is not in the last list of ${options.chain}`);
        const signers = listed.map((signer) =>
          addresses.some((address) => isSameKey(signer.key, address))
            ? { ...signer, isRevoked: true }
            : signer,
        );
        print([
          ...appendAnnouncement(file, signers, options, Math.floor(Date.now() / 1000)),
          'now give the file to every node and reload them, and send the announcement to your contracts;',
          'a service that still signs with such a key loses its readers: change keys first, or at the same time',
        ]);
      }),
    );

  keys
    .command('show <chain>')
    .description('check a chain of announcements and show its newest list')
    .action((chain: string) =>
      runAction(keys, () => {
        const { newest } = readChainFile(chain);
        if (newest === undefined)
          throw new Error(`${chain} has no announcement: keys announce --chain signs the first`);
        print(describeList(newest));
      }),
    );
}

function withSigning(command: Command): Command {
  return command
    .requiredOption('--chain <file>', 'the file of all announcements, which services serve')
    .option('--root <file>', 'the file of the root key')
    .option(
      '--key <file>',
      'where there is no root: the file of an EVM key that signs aggregates now; readers then wait 7 days',
    )
    .addOption(
      new Option('--expires <duration>', 'the time until readers refuse the list')
        .argParser(parseSeconds)
        .default(parseSeconds(EXPIRES_DEFAULT), EXPIRES_DEFAULT),
    );
}

/** Signs a list, and replaces the file of the chain. @returns lines about the list */
function appendAnnouncement(
  file: ChainFile,
  signers: readonly AnnouncedSigner[],
  { chain, root, key, expires, nextRoot }: AnnounceOptions,
  nowS: number,
): string[] {
  if ((root === undefined) === (key === undefined)) throw new Error('either --root or --key is needed');
  const secretKey = readKey((root ?? key)!);
  const own = root === undefined ? NO_ROOT : readHex(evmAddress(secretKey), 0, 20);
  const list = {
    previous: file.newest?.digest ?? NO_PREVIOUS,
    version: (file.newest?.version ?? 0) + 1,
    issuedS: Math.max(nowS, file.newest?.issuedS ?? 0),
    expiresS: nowS + expires,
    root: nextRoot ?? own,
    signers,
  };
  const text = withAnnouncement(file, list, secretKey);
  // A service may read the file at any time, so the command replaces the whole file at once.
  writeFileSync(`${chain}.new`, text);
  renameSync(`${chain}.new`, chain);
  const lines = describeList(readChainFile(chain).newest!);
  if (root === undefined)
    lines.push(
      `readers trust added keys from ${secondText(nowS + ANNOUNCEMENT_WAIT_S)} on: a new key must begin later`,
    );
  return lines;
}

/** Compares keys in hex. The leading zeros of a Stark key may be absent, as in `/v1/signers`. */
function isSameKey(key: string, text: string): boolean {
  return /^0x[0-9a-fA-F]{1,64}$/.test(text) && BigInt(key) === BigInt(text);
}

function readKey(file: string): Uint8Array {
  const read = readSecretFile(file);
  if ('message' in read) throw new Error(existsSync(file) ? read.message : `${file} does not exist`);
  const key = parseSecretKey(read.text.trim());
  if (key === undefined) throw new Error(`${file} does not hold 32 bytes of hex`);
  return key;
}

function runAction(command: Command, action: () => void): void {
  try {
    action();
  } catch (error) {
    writeLine(outputOf(command).err, shown`keys: ${errorText(error)}`);
    process.exitCode = 1;
  }
}

function parseSeconds(text: string): number {
  const ns = parseDurationNs(text);
  if (ns === undefined || ns < NS_PER_SECOND)
    throw new InvalidArgumentError('expected a duration such as 90d');
  return Number(ns / NS_PER_SECOND);
}
