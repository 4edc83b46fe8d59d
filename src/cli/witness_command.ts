import { once } from 'node:events';
import type { Command } from 'commander';
import { pino } from 'pino';
import { makeFolder, systemReason } from '../log/store/data_folder.js';
import { lockFolder } from '../log/store/folder_lock.js';
import { RunningWitness } from '../publiclog/witness/run_witness.js';
import { loadWitnessConfig, type WitnessConfig } from '../publiclog/witness/witness_config.js';
import { formatVerifierKey } from '../tlog/verifier_key.js';
import type { CommandStreams } from './client_command.js';
import { listenForMetrics } from './metrics_listener.js';
import { errorText, ownText, shown, writeLine } from './shown_line.js';
import { EXIT_BAD_FILE } from './sources_session.js';

interface WitnessFlags {
  readonly config: string;
  readonly check: boolean;
}

const DESCRIPTION = `watch public logs, and cosign their checkpoints (C2SP tlog-witness)

A witness cosigns a checkpoint only when the log continues what the witness has cosigned before. So no log that it watches can \
show two people two pasts.`;

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Adds `tickseal witness`. The exit status is 2 if the file has errors, and 1 if the witness cannot start. */
export function registerWitness(program: Command, streams: CommandStreams = process): void {
  program
    .command('witness')
    .description(DESCRIPTION)
    .requiredOption('-c, --config <file>', 'the configuration file of the witness')
    .option('--check', "check the file and its key, print the witness's verifier key, and end", false)
    .action(async ({ config: file, check }: WitnessFlags) => {
      const loaded = loadWitnessConfig(file, process.env);
      if (!loaded.ok) {
        writeLine(streams.stderr, ownText(loaded.errors.join('\n')));
        process.exitCode = EXIT_BAD_FILE;
        return;
      }
      const { key, name } = loaded.config;
      if (check) return void writeLine(streams.stdout, ownText(formatVerifierKey(key.witnessKey(name))));
      try {
        await runUntilSignal(loaded.config);
      } catch (error) {
        writeLine(streams.stderr, shown`witness: ${errorText(error)}`);
        process.exitCode = 1;
      }
    });
}

async function runUntilSignal(config: WitnessConfig): Promise<void> {
  const stop = new AbortController();
  for (const signal of STOP_SIGNALS) process.once(signal, () => stop.abort());
  const logger = pino({ level: process.env['TICKSEAL_LOG_LEVEL'] ?? 'info' });
  const lock = await claimFolder(config.folder);
  let witness: RunningWitness;
  try {
    const parts = {
      config,
      logger,
      nowMs: Date.now,
      steadyMs: () => performance.now(),
      listenForOperator: listenForMetrics,
    };
    witness = await RunningWitness.open(parts, lock);
  } catch (error) {
    await lock.release(true);
    throw error;
  }
  const { port, adminPort } = witness;
  const vkey = formatVerifierKey(config.key.witnessKey(config.name));
  logger.info({ port, adminPort, vkey, logs: config.logs.length }, 'ready');
  if (!stop.signal.aborted) await once(stop.signal, 'abort');
  logger.info('stopping');
  await witness.close();
}

/** Locks the folder, so that no other process cosigns with it. */
async function claimFolder(folder: string): ReturnType<typeof lockFolder> {
  try {
    makeFolder(folder);
    return await lockFolder(folder);
  } catch (error) {
    throw new Error(`the folder ${folder} cannot be used: ${systemReason(error)}`, { cause: error });
  }
}
