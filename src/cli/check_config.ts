import type { Command } from 'commander';
import { loadConfig } from '../config/load.js';

/** Adds `check-config FILE`: the validation of `serve`, without serving. Exit status 2 when the file has errors. */
export function registerCheckConfig(program: Command): void {
  const command = program
    .command('check-config')
    .description('check a configuration file as serve does, with its keys and TLS files')
    .argument('<file>', 'the configuration file');
  command.action((file: string) => {
    const { writeOut, writeErr } = command.configureOutput();
    const result = loadConfig(file);
    if (result.ok) {
      writeOut?.(`${file}: ok\n`);
    } else {
      writeErr?.(`${result.errors.join('\n')}\n`);
      process.exitCode = 2;
    }
  });
}
