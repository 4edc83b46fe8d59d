import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { DATA_FILE } from '../store/data_folder.js';
import { damageOf, readForStart, startProblem } from './start_checks.js';

/**
 * Adds `check-config FILE`, which makes the checks of `serve` without serving, and checks every record of the data folder. The exit
 * status is 2 when the file has errors or the data folder is damaged, and 1 when the service cannot run on this machine. Warnings do
 * not change the exit status.
 */
export function registerCheckConfig(program: Command): void {
  const command = program
    .command('check-config')
    .description(
      'check a configuration file as serve does, with its keys, TLS files and data folder, and this machine',
    )
    .argument('<file>', 'the configuration file');
  command.action((file: string) => {
    const { writeOut, writeErr } = command.configureOutput();
    const problem = startProblem();
    if (problem !== undefined) {
      writeErr?.(`${problem}\n`);
      process.exitCode = 1;
    }
    const result = readForStart(file);
    const finish = (errors: readonly string[]) => {
      if (result.ok) for (const warning of result.warnings) writeErr?.(`warning: ${warning}\n`);
      if (errors.length === 0) writeOut?.(`${file}: ok\n`);
      else {
        writeErr?.(`${errors.join('\n')}\n`);
        process.exitCode = 2;
      }
    };
    if (!result.ok) return finish(result.errors);
    const hasData = existsSync(join(result.config.storage.dir, DATA_FILE));
    return hasData && problem === undefined ? damageOf(file, result.config).then(finish) : finish([]);
  });
}
