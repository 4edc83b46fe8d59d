#!/usr/bin/env node
import { fileHandleProblem } from '../server/uws/file_handles.js';
import { npmKeptOption } from './npm_kept_option.js';

// Loading the program needs many file handles at once. Without this check, missing handles cause an error
// with a stack trace.
const problem = fileHandleProblem(0) ?? npmKeptOption(process.env);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  // The reader of standard output may close the stream, as in `tickseal keygen | true`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  // The code of all other commands would take 20 MiB of the memory of a process that runs for months.
  if (process.argv[2] === 'sources') {
    const { createSourcesProgram } = await import('./sources_program.js');
    await createSourcesProgram().parseAsync();
  } else {
    const { createProgram } = await import('./program.js');
    await createProgram().parseAsync();
  }
}
