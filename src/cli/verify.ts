import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type Command, InvalidArgumentError } from 'commander';
import type { Check } from '../client/checks.js';
import { formatDecimalPrice } from '../client/decimal_price.js';
import { parseExactJson } from '../client/exact_json.js';
import type { Payload } from '../client/payload.js';
import { type AggregateExpectations, verifyAggregate } from '../client/verify_aggregate.js';
import { type PayloadExpectations, verifyPayload } from '../client/verify_payload.js';
import { UINT16_MAX } from '../wire/asset.js';
import { type CommandStreams, LineWriter, SIGNER_OPTION } from './client_command.js';

interface VerifyOptions {
  readonly signer?: string;
  readonly taxonomyId?: number;
  readonly algorithmText?: string;
  readonly oracleId: string;
  readonly weight: Readonly<Record<string, string>>;
}

const DESCRIPTION = `check signatures offline and say which check failed

The input is a signed_ecdsa payload (hex, or the whole frame), an aggregated signed price, or a whole REST response: a \
file, the text itself, or - for standard input.`;

/** Adds `tickseal verify`. Exit status 1: a check failed, or the input cannot be read. */
export function registerVerify(program: Command, streams: CommandStreams = process): void {
  program
    .command('verify')
    .description(DESCRIPTION)
    .argument('[input]', 'file, hex, JSON text, or - for standard input', '-')
    .option(...SIGNER_OPTION)
    .option('--taxonomy-id <id>', 'the taxonomy ID that a payload must carry', parseTaxonomyId)
    .option(
      '--algorithm-text <file>',
      "the aggregation algorithm's definition, whose checksum an aggregate carries",
    )
    .option('--oracle-id <id>', "the service's oracle ID, which its Stark signatures cover", 'servc')
    .option(
      '--weight <key=weight>',
      "a publisher's weight in a weighted average; once for each",
      collectWeight,
      {},
    )
    .action(async (input: string, options: VerifyOptions) => {
      const out = new LineWriter(streams.stdout, () => {});
      try {
        const isOk = verifyText(await readInput(input, streams.stdin), options, out);
        if (!isOk) process.exitCode = 1;
      } catch (error) {
        // Files that cannot be read, and options that are wrong.
        streams.stderr.write(`verify: ${(error as Error).message}\n`);
        process.exitCode = 1;
      }
    });
}

/** Verifies every non-empty line when the input is many payloads or frames, and the whole text otherwise. */
function verifyText(input: string, options: VerifyOptions, out: LineWriter): boolean {
  const whole = input.trim();
  const lines = whole.split('\n').map((line) => line.trim());
  const payloads = lines.map(payloadOf);
  if (payloads.every((payload) => payload !== undefined)) {
    return payloads.map((payload) => printPayload(payload, options, out)).every(Boolean);
  }
  const expected: AggregateExpectations = {
    publicKey: options.signer,
    oracleId: options.oracleId,
    algorithmText: options.algorithmText && readFileSync(options.algorithmText, 'utf8'),
    weights: Object.keys(options.weight).length > 0 ? options.weight : undefined,
  };
  const reports = verifyAggregate(whole, expected);
  for (const { assetId, checks } of reports) printChecks(assetId ?? 'aggregate', checks, out);
  return reports.every(({ ok }) => ok);
}

function printPayload(
  payload: string,
  { signer, taxonomyId }: PayloadExpectations,
  out: LineWriter,
): boolean {
  const report = verifyPayload(payload, { signer, taxonomyId });
  if (report.payload !== undefined) printContent(report.payload, report.signer, out);
  printChecks('payload', report.checks, out);
  return report.ok;
}

function printContent(
  { layout, taxonomyId, timestampNs, assets }: Payload,
  signer = 'nobody',
  out: LineWriter,
): void {
  out.write(`${layout} payload, taxonomy ${taxonomyId}, ${timestampNs} ns, signed by ${signer}`);
  for (const { id, value, marketStatus } of assets) {
    const status = marketStatus === undefined ? '' : `  market status ${marketStatus ?? 'none'}`;
    out.write(`  asset ${id}: ${formatDecimalPrice(value)}${status}`);
  }
}

function printChecks(subject: string, checks: readonly Check[], out: LineWriter): void {
  for (const { name, status, reason } of checks) {
    out.write(`${status.padEnd(7)}  ${name}${reason === undefined ? '' : `: ${reason}`}`);
  }
  const failed = checks.filter(({ status }) => status === 'failed').map(({ name }) => name);
  out.write(failed.length === 0 ? `${subject}: verified` : `${subject}: FAILED: ${failed.join(', ')}`);
}

/** The hex of a payload: the text itself, or `p` of a frame. */
function payloadOf(line: string): string | undefined {
  if (/^(?:0x)?[0-9a-fA-F]+$/.test(line)) return line;
  if (!line.includes('"signed_ecdsa"')) return undefined;
  const frame = parseExactJson(line) as { p?: unknown } | undefined;
  return typeof frame?.p === 'string' ? frame.p : undefined;
}

async function readInput(input: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (input === '-') return text(stdin);
  const isText = input.startsWith('{') || input.startsWith('[') || /^(?:0x)?[0-9a-fA-F]{130,}$/.test(input);
  return isText ? input : readFileSync(input, 'utf8');
}

function collectWeight(argument: string, weights: Readonly<Record<string, string>>): Record<string, string> {
  const [, key, weight] = /^(0x[0-9a-fA-F]+)=(.+)$/.exec(argument) ?? [];
  if (key === undefined || weight === undefined) throw new InvalidArgumentError('expected 0xKEY=WEIGHT');
  return { ...weights, [key]: weight };
}

function parseTaxonomyId(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > UINT16_MAX)
    throw new InvalidArgumentError('expected a uint16');
  return Number(text);
}
