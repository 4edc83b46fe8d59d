import type { Command } from 'commander';
import { createEmptyProgram } from './empty_program.js';
import { registerSources } from './sources_command.js';

/** Creates the command line with `sources` alone. */
export function createSourcesProgram(): Command {
  const program = createEmptyProgram();
  registerSources(program);
  return program;
}
