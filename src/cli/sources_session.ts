import { dirname, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { scheduleTimeout } from '../client/connect/platform.js';
import { systemClock } from '../clock/clock.js';
import { steadyClock } from '../clock/steady_clock.js';
import { NS_PER_MS } from '../model/time.js';
import { decisionTable, faultLines, type TableSize } from '../sources/decision_table.js';
import { Recorder } from '../sources/markets/recorder.js';
import { sourceMetricsText } from '../sources/markets/source_metrics.js';
import { SourceRun } from '../sources/markets/source_run.js';
import type { SourcesResult } from '../sources/parse_sources.js';
import { planRemarks } from '../sources/plan_remarks.js';
import { faultProblems, type SourceFault } from '../sources/source_fault.js';
import type { CommandStreams } from './client_command.js';
import { listenForMetrics, type MetricsListener } from './metrics_listener.js';
import {
  errorText,
  LineWriter,
  ownText,
  reasonText,
  type Shown,
  shown,
  tellScreen,
  writeLine,
} from './shown_line.js';
import type { MetricsAddress, SourcesFlags } from './sources_options.js';

/** The exit status for a file with errors. After this status, systemd does not restart the program. */
export const EXIT_BAD_FILE = 2;

export interface SourcesTiming {
  /** The duration of `--check`. */
  readonly checkMs: number;
  readonly tableMs: number;
}

const TIMING: SourcesTiming = { checkMs: 10_000, tableMs: 500 };
/** The largest number of warnings below the table; the newest are shown. */
const SHOWN_WARNINGS_MAX = 5;
/** The number of rows of a terminal without a place for warnings. */
const WARNINGS_ROWS_MIN = 12;
/** The signals that end a run. A closed terminal sends SIGHUP only to this process group, not to the groups of commands. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** A run of `tickseal sources` until a signal. The run prints lines, a table, or the result of a check. */
export class SourcesSession {
  readonly #result: SourcesResult & { readonly ok: true };
  readonly #flags: SourcesFlags;
  readonly #streams: CommandStreams;
  readonly #timing: SourcesTiming;
  readonly #stop = new AbortController();
  readonly #clock = systemClock();
  readonly #steady = steadyClock();
  readonly #out: LineWriter;
  readonly #isTable: boolean;
  readonly #recorder: Recorder | undefined;
  readonly #run: SourceRun;
  /** The newest warnings, for the table. */
  readonly #warnings: Shown[] = [];

  /** @throws Error when the recording cannot be opened */
  constructor(
    file: string,
    result: SourcesResult & { readonly ok: true },
    flags: SourcesFlags,
    streams: CommandStreams,
    timing: SourcesTiming = TIMING,
  ) {
    this.#result = result;
    this.#flags = flags;
    this.#streams = streams;
    this.#timing = timing;
    const { check, record } = flags;
    const { stdout } = streams;
    this.#out = new LineWriter(stdout, () => this.#stop.abort());
    this.#isTable = !check && (stdout as { readonly isTTY?: boolean }).isTTY === true;
    const warn = (text: string) => this.#warn(text);
    const onFailure = (reason: string) => warn(`the recording ends: ${record} refuses it (${reason})`);
    this.#recorder = record === undefined ? undefined : new Recorder(record, { onFailure });
    this.#run = new SourceRun({
      plan: result.plan,
      clock: this.#clock,
      steady: this.#steady,
      schedule: scheduleTimeout,
      random: Math.random,
      env: process.env,
      folder: dirname(resolve(file)),
      write: (line) => {
        if (!check && !this.#isTable) this.#out.json(line);
      },
      warn,
      recorder: this.#recorder,
    });
  }

  /**
   * Runs until a signal or until the end of the check.
   * @returns the exit status
   */
  async run(): Promise<number> {
    const onSignal = () => this.#stop.abort();
    for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
    const { stdin } = this.#streams;
    if (this.#flags.endWithInput) stdin.resume().once('close', onSignal);
    let listener: MetricsListener | undefined;
    try {
      listener = await this.#listen(this.#flags.metrics);
      for (const sentence of planRemarks(this.#result.plan)) this.#warn(sentence);
      const opened = Promise.race([this.#run.open(), this.#stopped().then((): SourceFault[] => [])]);
      if (this.#flags.check) return await this.#checkPlan(await opened);
      const table = this.#isTable ? this.#showTable() : undefined;
      const faults = this.#faultTexts(await opened);
      const mustEnd = faults.length > 0 && !this.#flags.skipMissing;
      if (mustEnd) this.#stop.abort();
      await (mustEnd ? table : undefined);
      for (const fault of faults) this.#show(reasonText(fault));
      await this.#stopped();
      return mustEnd ? EXIT_BAD_FILE : 0;
    } catch (error) {
      writeLine(this.#streams.stderr, shown`sources: ${errorText(error)}`);
      return 1;
    } finally {
      if (this.#flags.endWithInput) stdin.pause();
      listener?.close();
      this.#run.close();
      this.#recorder?.close();
      // A second signal must not end the process before the recording has its last lines.
      for (const signal of STOP_SIGNALS) process.off(signal, onSignal);
    }
  }

  async #checkPlan(faults: readonly SourceFault[]): Promise<number> {
    await this.#waitFor(this.#timing.checkMs);
    const decisions = this.#run.decisions();
    this.#out.write(ownText(decisionTable(decisions, false)));
    const wrong = [...this.#faultTexts(faults), ...faultLines(decisions)];
    for (const line of wrong) this.#out.write(shown`wrong: ${reasonText(line)}`);
    return wrong.length === 0 ? 0 : 1;
  }

  async #showTable(): Promise<void> {
    const isColoured = (process.env['NO_COLOR'] ?? '') === '';
    while (await this.#waitFor(this.#timing.tableMs)) {
      const { columns = 80, rows = 24 } = this.#streams.stdout as Partial<TableSize>;
      // Below the table are an empty line, the warnings, and the line of the cursor.
      const places = Math.max(0, rows - WARNINGS_ROWS_MIN);
      const warnings = places === 0 ? [] : this.#warnings.slice(-places);
      const size = { columns, rows: rows - (warnings.length > 0 ? warnings.length + 1 : 0) - 1 };
      const table = decisionTable(this.#run.decisions(), isColoured, size);
      tellScreen(this.#streams.stdout, table, warnings, columns);
    }
  }

  /** Serves metrics, if the options have an address. */
  async #listen(address: MetricsAddress | undefined): Promise<MetricsListener | undefined> {
    if (address === undefined) return undefined;
    try {
      const listener = await listenForMetrics(address.host, address.port, () => this.#metricsText());
      if (address.port === 0) this.#warn(`metrics are on port ${listener.port}`);
      return listener;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(`--metrics: ${address.text} cannot be used (${code})`);
    }
  }

  #metricsText(): string {
    const { user, system } = process.cpuUsage();
    const recorder = this.#recorder;
    return sourceMetricsText({
      meter: this.#run.meter,
      decisions: this.#run.decisions(),
      nowMs: Number(this.#steady.nowNs() / NS_PER_MS),
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      recording: recorder === undefined ? undefined : { bytes: recorder.bytes, isFailed: recorder.isFailed },
    });
  }

  /** Describes faults with their places in the file. */
  #faultTexts(faults: readonly SourceFault[]): string[] {
    const { plan, describe } = this.#result;
    return describe(faults.flatMap((fault) => faultProblems(plan, fault)));
  }

  #warn(text: string): void {
    this.#show(shown`sources: ${reasonText(text)}`);
  }

  /** Shows a line on standard error or below the table. */
  #show(line: Shown): void {
    if (!this.#isTable || this.#stop.signal.aborted) writeLine(this.#streams.stderr, line);
    this.#warnings.push(line);
    if (this.#warnings.length > SHOWN_WARNINGS_MAX) this.#warnings.shift();
  }

  /** Resolves with `true` after the time, or with `false` if a signal comes first. */
  async #waitFor(ms: number): Promise<boolean> {
    await setTimeout(ms, undefined, { signal: this.#stop.signal }).catch(() => {});
    return !this.#stop.signal.aborted;
  }

  async #stopped(): Promise<void> {
    const { signal } = this.#stop;
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
}
