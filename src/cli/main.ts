#!/usr/bin/env node
import { fileHandleProblem } from '../server/uws/file_handles.js';
import { npmKeptOption } from './npm_kept_option.js';

// Loading the program needs many file handles at once. Without this check, missing handles cause an error with a stack trace.
const problem = fileHandleProblem(0) ?? npmKeptOption(process.env);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  // The reader of standard output may close the stream, as in `tickseal keygen | true`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const { createProgram } = await import('./program.js');
  await (await createProgram(process.argv[2])).parseAsync();
}
