#!/usr/bin/env node
import { fileHandleProblem } from '../server/uws/file_handles.js';

// Loading the program takes many file handles at once, and fails with a stack trace if they are missing.
const problem = fileHandleProblem(0);
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  // The reader of standard output may close, as in `tickseal keygen | true`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  const { createProgram } = await import('./program.js');
  await createProgram().parseAsync();
}
