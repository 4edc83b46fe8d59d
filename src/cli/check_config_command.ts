import type { Command } from 'commander';
import { outputOf, ownText, shown, writeLine } from './shown_line.js';
import { damageOf, hostProblems, readForStart, startProblem } from './start_checks.js';

/**
 * Adds `check-config FILE`, which runs the checks of `serve` without serving, and checks everything in the data folder. Warnings
 * do not change the exit status. The exit status is 2 when the file has errors or the data folder is damaged. The status is 1 when
 * the service cannot run on this machine.
 */
export function registerCheckConfig(program: Command): void {
  const command = program
    .command('check-config')
    .description(
      'check a configuration file as serve does, with its keys, TLS files and data folder, and this machine',
    )
    .argument('<file>', 'the configuration file');
  command.action(async (file: string) => {
    const { out, err } = outputOf(command);
    const problem = startProblem();
    if (problem !== undefined) {
      writeLine(err, ownText(problem));
      process.exitCode = 1;
    }
    const result = readForStart(file);
    if (!result.ok) {
      writeLine(err, ownText(result.errors.join('\n')));
      process.exitCode = 2;
      return;
    }
    for (const warning of result.warnings) writeLine(err, ownText(`warning: ${warning}`));
    const damage = await damageOf(file, result.config);
    const unusable = result.describe(await hostProblems(result.config));
    for (const line of [...damage, ...unusable]) writeLine(err, ownText(line));
    if (damage.length > 0) process.exitCode = 2;
    else if (unusable.length > 0) process.exitCode = 1;
    else writeLine(out, shown`${file}: ok`);
  });
}
