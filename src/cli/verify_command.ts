import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import { signedTimeOf } from '../client/verify/aggregate_form.js';
import type { Check, Verdict } from '../client/verify/checks.js';
import { formatDecimalPrice } from '../client/verify/decimal_price.js';
import type { Payload } from '../client/verify/decode_payload.js';
import { parseExactJson } from '../client/verify/exact_json.js';
import { aggregatesIn, verifyNamed } from '../client/verify/verify_aggregate.js';
import { verifyPayload } from '../client/verify/verify_payload.js';
import { readNamedFile } from '../config/unreadable_file.js';
import { ALGORITHM_DEFINITIONS } from '../crypto/algorithm_definition.js';
import { UINT16_MAX } from '../wire/asset_id.js';
import { attributeTexts } from '../wire/attribute_facts.js';
import { type ChainSigners, chainSigners } from './chain_signers.js';
import { type CommandStreams, EXIT_NOT_VERIFIED, notVerified, SIGNER_OPTION } from './client_command.js';
import { parseEvmAddress, parseKey, parseOracleId, parseServiceName, parseWebUrl } from './option_forms.js';
import { otherInput } from './other_input.js';
import { errorText, LineWriter, reasonText, type Shown, shown, writeLine } from './shown_line.js';
import { verifyLoggedPayloads, verifyLoggedText } from './verify_logged_price.js';

interface VerifyOptions {
  readonly signer?: readonly string[];
  readonly taxonomyId?: number;
  readonly serviceName?: string;
  readonly algorithmText?: string;
  readonly oracleId: string;
  readonly weight: Readonly<Record<string, string>>;
  readonly proof?: string;
  readonly policy?: string;
  readonly log?: string;
  readonly chain?: string;
  readonly root?: string;
}

/** The options, with the keys of a chain of announcements. */
interface TrustOptions extends VerifyOptions {
  readonly chainSigners: ChainSigners | undefined;
}

/** The result of all checks of one input, with or without named signers. */
type AnyVerdict = Verdict<readonly string[] | 'unchecked'>;

const DESCRIPTION = `check signatures offline and say which check failed

The input is a signed_ecdsa payload (hex, or the whole frame), an aggregated signed price, the JSON lines of a range, or a whole \
REST response: a file, the text itself, or - for standard input. With --policy and --proof or --log the command also checks that a public log has the \
aggregate, and that witnesses have seen the log. For a payload, --log is the node that signed it.`;

/**
 * Adds `tickseal verify`. The exit status is 1 if a check failed or the input cannot be read. The status is 3 if no check failed
 * but the user named no signer.
 */
export function registerVerify(program: Command, streams: CommandStreams = process): void {
  program
    .command('verify')
    .description(DESCRIPTION)
    .argument('[input]', 'file, hex, JSON text, or - for standard input', '-')
    .option(...SIGNER_OPTION)
    .option('--taxonomy-id <id>', 'the taxonomy ID that a payload must carry', parseTaxonomyId)
    .option(
      '--algorithm-text <file>',
      "the aggregation algorithm's definition, whose checksum an aggregate carries (default: the definitions of this version)",
    )
    .option(
      '--service-name <name>',
      "the service's name in <name>_signed_price, where two fields have that form",
      parseServiceName,
    )
    .option(
      '--oracle-id <id>',
      "the service's oracle ID, which its Stark signatures cover",
      parseOracleId,
      'servc',
    )
    .option(
      '--weight <key=weight>',
      "a publisher's weight in a weighted average; once for each",
      collectWeight,
      {},
    )
    .option('--chain <file>', 'announcements of keys, followed from --root or from the keys of --signer')
    .option('--root <address>', 'the root key that signs the announcements of --chain', parseEvmAddress)
    .option('--proof <file>', 'the proof (.tlog-proof) that a public log has the aggregate')
    .option('--log <url>', 'ask this service for the proof, instead of --proof', parseWebUrl)
    .option('--policy <file>', 'the logs and witnesses that you trust (tlog-policy)')
    .action(async (input: string, options: VerifyOptions) => {
      const out = new LineWriter(streams.stdout, () => {});
      try {
        const text = await readInput(input, streams.stdin);
        const verdicts = verifyText(text, { ...options, chainSigners: chainSigners(options) }, out);
        const isFailed = verdicts.includes('failed');
        const isLogged = await checkLog(text, options, isFailed, out);
        if (isFailed || !isLogged) process.exitCode = 1;
        else if (verdicts.includes('recovered')) process.exitCode = EXIT_NOT_VERIFIED;
      } catch (error) {
        // The errors here are unreadable files, empty input and invalid options.
        writeLine(streams.stderr, shown`verify: ${errorText(error)}`);
        process.exitCode = 1;
      }
    });
}

/** Verifies each line separately if every line is a payload or a frame. Otherwise verifies the whole text. */
function verifyText(input: string, options: TrustOptions, out: LineWriter): AnyVerdict[] {
  const whole = input.trim();
  if (whole === '') throw new Error('the input is empty');
  const payloads = payloadsIn(whole);
  if (payloads !== undefined) return payloads.map((payload) => verifyPayloadText(payload, options, out));
  const other = otherInput(whole);
  if (other !== undefined) throw new Error(`the input ${other}`);
  const { serviceName, oracleId, algorithmText, weight } = options;
  const aggregates = aggregatesIn(whole);
  if (aggregates.length === 0) throw new Error('the input has no aggregate');
  const reports = aggregates.map((named) =>
    verifyNamed(named, {
      // The time of an aggregate decides which announced keys were allowed to sign it.
      signers: options.chainSigners?.ofAggregate(signedTimeOf(named[1])) ?? options.signer ?? 'unchecked',
      serviceName,
      oracleId,
      algorithmText: algorithmText && readNamedFile(algorithmText).toString(),
      knownAlgorithms: ALGORITHM_DEFINITIONS,
      weights: Object.keys(weight).length > 0 ? weight : undefined,
    }),
  );
  for (const { assetId, verdict, signer, checks, inputs } of reports) {
    printChecks(checks, out);
    const absent = inputs === 'absent' ? shown`, inputs: absent` : shown``;
    out.write(shown`${assetId ?? 'aggregate'}: ${conclusion(verdict, checks, signer)}${absent}`);
  }
  return reports.map(({ verdict }) => verdict);
}

/**
 * Verifies the proof, if the options name one.
 * @param isFailed a check of the input failed. A log has the signed hash of an aggregate, so it would also have a forged copy with that hash
 * @returns false when the proof is invalid
 */
async function checkLog(
  text: string,
  { proof, log, policy, serviceName }: VerifyOptions,
  isFailed: boolean,
  out: LineWriter,
): Promise<boolean> {
  if (proof === undefined && log === undefined && policy === undefined) return true;
  if ((proof === undefined) === (log === undefined) || policy === undefined)
    throw new Error('a price in a log is checked with --policy and one of --proof and --log; name both');
  const payloads = payloadsIn(text);
  if (payloads === undefined)
    return isFailed || verifyLoggedText(text, { proof, log, policy }, serviceName, out);
  if (log === undefined) throw new Error('a payload has no proof file: name its node with --log');
  return verifyLoggedPayloads(payloads, { log, policy }, out);
}

function verifyPayloadText(hex: string, options: TrustOptions, out: LineWriter): AnyVerdict {
  const { taxonomyId } = options;
  const report = verifyPayload(hex, {
    signers: options.chainSigners?.ofPayload(hex) ?? options.signer ?? 'unchecked',
    taxonomyId,
  });
  const { payload, verdict, checks } = report;
  if (payload !== undefined) printContent(payload, verdict, report.signer ?? 'nobody', out);
  printChecks(checks, out);
  out.write(shown`payload: ${conclusion(verdict, checks, report.signer)}`);
  return verdict;
}

function printContent(payload: Payload, verdict: AnyVerdict, signer: string, out: LineWriter): void {
  const { layout, taxonomyId, timestampNs, assets } = payload;
  const signed = verdict === 'verified' ? shown`signed by ${signer}` : shown`recovered signer ${signer}`;
  out.write(shown`${layout} payload, taxonomy ${taxonomyId}, ${timestampNs} ns, ${signed}`);
  for (const { id, value, ...attributes } of assets) {
    const texts = attributeTexts(attributes).map((text) => `  ${text}`);
    out.write(shown`  asset ${id}: ${formatDecimalPrice(value)}${reasonText(texts.join(''))}`);
  }
}

function printChecks(checks: readonly Check[], out: LineWriter): void {
  for (const { name, status, reason } of checks) {
    const why = reason === undefined ? shown`` : shown`: ${reasonText(reason)}`;
    out.write(shown`${reasonText(status.padEnd(7))}  ${reasonText(name)}${why}`);
  }
}

function conclusion(verdict: AnyVerdict, checks: readonly Check[], signer = 'nobody'): Shown {
  if (verdict === 'verified') return shown`verified`;
  if (verdict === 'recovered') return notVerified(signer);
  const failed = checks.filter(({ status }) => status === 'failed').map(({ name }) => name);
  return shown`FAILED: ${reasonText(failed.join(', '))}`;
}

/** Returns the payloads if every line is a payload or a frame. */
function payloadsIn(text: string): string[] | undefined {
  const payloads = text
    .trim()
    .split('\n')
    .map((line) => payloadOf(line.trim()));
  return payloads.every((payload) => payload !== undefined) ? payloads : undefined;
}

/** Returns the payload in hex: the line itself, or the field `p` of a frame. */
export function payloadOf(line: string): string | undefined {
  if (/^(?:0x)?[0-9a-fA-F]+$/.test(line)) return line;
  if (!line.includes('"signed_ecdsa"')) return undefined;
  const frame = parseExactJson(line) as { p?: unknown } | undefined;
  return typeof frame?.p === 'string' ? frame.p : undefined;
}

async function readInput(input: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (input === '-') return text(stdin);
  const isText = input.startsWith('{') || input.startsWith('[') || /^(?:0x)?[0-9a-fA-F]{130,}$/.test(input);
  if (isText) return input;
  if (!existsSync(input)) throw new Error(`${input} is neither a file nor a payload or JSON text`);
  return readNamedFile(input).toString();
}

function collectWeight(argument: string, weights: Readonly<Record<string, string>>): Record<string, string> {
  const [, key, weight] = /^(0x[0-9a-fA-F]+)=(\d+(?:\.\d+)?)$/.exec(argument) ?? [];
  if (key === undefined || weight === undefined) throw new InvalidArgumentError('expected 0xKEY=WEIGHT');
  return { ...weights, [parseKey(key)]: weight };
}

function parseTaxonomyId(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > UINT16_MAX)
    throw new InvalidArgumentError('expected a uint16');
  return Number(text);
}
