import { setTimeout } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { type Evidence, parseEvidence } from '../client/verify/evidence_file.js';
import { verifyEvidence } from '../client/verify/log_evidence.js';
import { ServedLog } from '../client/verify/served_log.js';
import { readNamedFile } from '../config/unreadable_file.js';
import { makeFolder, systemReason } from '../log/store/data_folder.js';
import { AuditFolder } from '../publiclog/witness/audit_folder.js';
import { LogAudit } from '../publiclog/witness/log_audit.js';
import { logFileReader } from '../publiclog/witness/log_file_reader.js';
import { OriginChanged } from '../publiclog/witness/origin_change.js';
import type { AuditFinding } from '../publiclog/witness/price_deadlines.js';
import { promisedDelayMs } from '../publiclog/witness/promised_delay.js';
import { verifyByNode } from '../tlog/ed25519_key.js';
import { type LogPolicy, parsePolicy } from '../tlog/log_policy.js';
import { nodeSha256 } from '../tlog/node_sha256.js';
import { TlogError } from '../tlog/tlog_error.js';
import { AggregateListener } from './aggregate_listener.js';
import { type CommandStreams, EXIT_NOT_VERIFIED, notVerified, SIGNER_OPTION } from './client_command.js';
import { registerNewOrigin } from './new_origin_command.js';
import { parseOracleId, parseWebUrl } from './option_forms.js';
import { errorText, LineWriter, ownText, reasonText, type Shown, shown, writeLine } from './shown_line.js';

interface AuditFlags {
  readonly policy: string;
  readonly folder?: string;
  readonly payloads: boolean;
  readonly stream: boolean;
  readonly once: boolean;
  readonly every: number;
  readonly token?: string;
}

interface EvidenceFlags {
  readonly policy?: string;
  readonly signer?: readonly string[];
  readonly oracleId: string;
}

/** The number of consecutive failures after which `--once` stops. */
const FAULTS_MAX = 5;
const FOLDER = './tickseal-audit';
const PAYLOADS_FOLDER = './tickseal-audit-payloads';
/** The delay of a log whose service promises none. */
const PROMISED_MS_DEFAULT = 120_000;
/** The time that a log may be late before the audit says so: this time, and some looks at the log. */
const SLACK_MS = 5_000;
const SLACK_LOOKS = 2;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Adds `tickseal log`: `audit` watches a public log, `verify` checks the evidence that an audit found, and `new-origin` replaces a
 * lost log.
 */
export function registerLog(program: Command, streams: CommandStreams = process): void {
  const log = program
    .command('log')
    .description('audit a public log of signed prices, prove what an audit has found, and end a lost log');
  registerNewOrigin(log, streams);
  log
    .command('audit')
    .description(
      'follow the log of a service, recompute every batch, and compare it with the prices that the service shows',
    )
    .argument('<url>', 'the address of the service, https://…', parseWebUrl)
    .requiredOption('--policy <file>', 'the logs and witnesses that you trust (tlog-policy)')
    .option(
      '--folder <dir>',
      `the folder of the state and of the evidence (default: ${FOLDER}, with --payloads ${PAYLOADS_FOLDER})`,
    )
    .option(
      '--payloads',
      'audit the log of the streaming payloads that the node at this address signs',
      false,
    )
    .option(
      '--stream',
      'listen to the streams of signed prices, with the token, and compare them with the log',
      false,
    )
    .option('--once', 'end when the newest checkpoint is checked', false)
    .option('--every <seconds>', 'the time between two looks at the log', Number, 5)
    .addOption(new Option('--token <token>', 'the access token for --stream').env('TICKSEAL_TOKEN'))
    .action(async (url: string, flags: AuditFlags) => {
      try {
        process.exitCode = await new AuditRun(url, flags, streams).run();
      } catch (error) {
        writeLine(streams.stderr, shown`log audit: ${errorText(error)}`);
        process.exitCode = 2;
      }
    });
  log
    .command('verify')
    .description('prove from an evidence file alone what a service or its log has done; offline')
    .argument('<evidence>', 'the evidence file of an audit or of a client')
    .option(
      '--policy <file>',
      'the logs and witnesses that you trust (tlog-policy), for evidence about a log',
    )
    .option(...SIGNER_OPTION)
    .option(
      '--oracle-id <id>',
      "the service's oracle ID, which its Stark signatures cover",
      parseOracleId,
      'servc',
    )
    .action(async (file: string, flags: EvidenceFlags) => {
      try {
        const evidence = parseEvidence(readNamedFile(file).toString());
        process.exitCode = await proveEvidence(evidence, flags, new LineWriter(streams.stdout, () => {}));
      } catch (error) {
        writeLine(streams.stderr, shown`log verify: ${errorText(error)}`);
        process.exitCode = 1;
      }
    });
}

/**
 * Prints the conclusion that the evidence proves.
 * @returns the exit status
 */
async function proveEvidence(
  evidence: Evidence,
  { policy, signer, oracleId }: EvidenceFlags,
  out: LineWriter,
): Promise<number> {
  const signers = signer ?? 'unchecked';
  try {
    const fault = await verifyEvidence(evidence, {
      policy: policy === undefined ? undefined : readPolicy(policy),
      signers,
      oracleId,
      verifyEd25519: verifyByNode,
    });
    const isProven = fault.verdict === 'verified';
    const statement = reasonText(fault.statement);
    out.write(isProven ? shown`PROVEN: ${statement}` : shown`${statement}: ${notVerified(fault.signer!)}`);
    return isProven ? 0 : EXIT_NOT_VERIFIED;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    out.write(shown`NOT PROVEN: ${errorText(error)}`);
    return 1;
  }
}

/** A run of `log audit`. A signal, a failure of the log, or the end of `--once` ends the run. */
class AuditRun {
  readonly #url: string;
  readonly #dir: string;
  readonly #flags: AuditFlags;
  readonly #out: LineWriter;
  readonly #streams: CommandStreams;
  readonly #stop = new AbortController();
  readonly #folder: AuditFolder;
  #received: Evidence | undefined;
  /** The number of looks at the log that had each kind of finding. */
  readonly #findings = new Map<AuditFinding['kind'], number>();

  constructor(url: string, flags: AuditFlags, streams: CommandStreams) {
    if (!(flags.every >= 0.1 && flags.every <= 3_600)) throw new Error('--every is 0.1 to 3600 seconds');
    if (flags.stream && flags.token === undefined)
      throw new Error('--stream needs a token: set TICKSEAL_TOKEN');
    if (flags.stream && flags.payloads)
      throw new Error('--stream compares prices, and the log of payloads has none: leave out one of them');
    this.#url = url;
    this.#flags = flags;
    this.#streams = streams;
    this.#out = new LineWriter(streams.stdout, () => this.#stop.abort());
    this.#dir = flags.folder ?? (flags.payloads ? PAYLOADS_FOLDER : FOLDER);
    this.#folder = new AuditFolder(this.#dir);
  }

  async run(): Promise<number> {
    const { policy, stream, token = '' } = this.#flags;
    const audit = await this.#openAudit(readPolicy(policy));
    const onSignal = () => this.#stop.abort();
    for (const signal of STOP_SIGNALS) process.once(signal, onSignal);
    const listener = stream
      ? await AggregateListener.open(this.#url, token, {
          onAggregate: (text) => this.#receivePrice(audit, text),
          onDown: (reason) => this.#warn(reason),
        })
      : undefined;
    try {
      return await this.#followLog(audit);
    } finally {
      for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
      listener?.close();
    }
  }

  async #openAudit(policy: LogPolicy): Promise<LogAudit> {
    const { payloads, every } = this.#flags;
    try {
      makeFolder(this.#dir);
    } catch (error) {
      throw new Error(`the folder ${this.#dir} cannot be used: ${systemReason(error)}`, { cause: error });
    }
    const log = new ServedLog(
      logFileReader(`${this.#url}/tlog/${payloads ? 'streams/' : ''}`, this.#stop.signal),
      nodeSha256,
    );
    const keep = (state: Parameters<AuditFolder['write']>[0]) => this.#folder.write(state);
    const nowNs = () => BigInt(Date.now()) * 1_000_000n;
    const has = payloads ? 'hashes' : 'prices';
    const onUnsigned = (reason: string) =>
      this.#warn(shown`a price of the stream is left out: ${reasonText(reason)}`);
    const promisedMs = await promisedDelayMs(logFileReader(this.#url, this.#stop.signal), payloads);
    const slackMs = SLACK_MS + SLACK_LOOKS * every * 1_000;
    const delay = {
      steadyMs: () => performance.now(),
      promisedMs: promisedMs ?? PROMISED_MS_DEFAULT,
      slackMs,
    };
    if (promisedMs === undefined)
      this.#warn(
        shown`the service promises no delay of its log; the audit allows ${PROMISED_MS_DEFAULT / 1_000} s`,
      );
    const onFinding = (finding: AuditFinding) => this.#countFinding(finding);
    const options = { log, policy, has, keep, nowNs, delay, onFinding, onUnsigned } as const;
    return new LogAudit(options, await this.#folder.read());
  }

  async #followLog(audit: LogAudit): Promise<number> {
    let faults = 0;
    let { size } = audit;
    let isSaid = false;
    let lastFault = '';
    while (!this.#stop.signal.aborted) {
      try {
        const step = await audit.step();
        const evidence = this.#received ?? step.evidence;
        if (evidence !== undefined) return await this.#reportEvidence(evidence);
        faults = 0;
        lastFault = '';
        if (step.size !== size || !isSaid) this.#out.write(auditSummary(audit, this.#flags, this.#findings));
        isSaid = true;
        size = step.size;
        if (this.#flags.once) break;
      } catch (error) {
        if (this.#stop.signal.aborted) break;
        if (error instanceof OriginChanged) {
          this.#out.write(shown`ORIGIN CHANGED: ${errorText(error)}`);
          return 2;
        }
        faults = audit.size > size && !this.#findings.has('files withheld') ? 0 : faults + 1;
        if (audit.size > size) this.#out.write(auditSummary(audit, this.#flags, this.#findings));
        size = audit.size;
        const { message } = error as Error;
        if (message !== lastFault) this.#warn(errorText(error));
        lastFault = message;
        if (this.#flags.once && faults >= FAULTS_MAX) return 2;
      }
      await setTimeout(this.#flags.every * 1_000, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
    if (this.#findings.size > 0) this.#out.write(auditSummary(audit, this.#flags, this.#findings));
    return [...this.#findings.keys()].some((kind) => kind !== 'smaller checkpoint') ? 1 : 0;
  }

  /** Writes the first finding of each kind. The summaries count the others. */
  #countFinding({ kind, text }: AuditFinding): void {
    const count = this.#findings.get(kind) ?? 0;
    this.#findings.set(kind, count + 1);
    if (count === 0) this.#out.write(shown`FINDING: ${reasonText(text)}`);
  }

  #receivePrice(audit: LogAudit, text: string): void {
    try {
      this.#received ??= audit.receive(text);
    } catch (error) {
      this.#warn(shown`a price of the stream cannot be read: ${errorText(error)}`);
    }
  }

  async #reportEvidence(evidence: Evidence): Promise<number> {
    const file = await this.#folder.writeEvidence(evidence, Date.now());
    const found = 'found' in evidence ? shown`: ${reasonText(evidence.found)}` : shown``;
    this.#out.write(shown`FAULT: ${evidence.kind}${found}; the evidence is in ${file}`);
    return 1;
  }

  #warn(text: Shown): void {
    writeLine(this.#streams.stderr, shown`log audit: ${text}`);
  }
}

function auditSummary(
  { size, found, unchecked }: LogAudit,
  { payloads }: Pick<AuditFlags, 'payloads'>,
  findings: ReadonlyMap<AuditFinding['kind'], number>,
): Shown {
  const missing = unchecked === 0n ? '' : `, ${unchecked} without records`;
  const prices = payloads ? '' : `, ${found} received prices found`;
  const counts = [...findings].map(([kind, count]) => `, ${kind}: ${count} looks`);
  return ownText(`${size} batches checked${missing}${prices}${counts.join('')}`);
}

function readPolicy(file: string): LogPolicy {
  return parsePolicy(readNamedFile(file));
}
