import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Runs a program to its end. @returns its output. @throws Error with the program's messages when its status is not 0 */
export async function runProgram(program: string, args: readonly string[], cwd?: string): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, maxBuffer: OUTPUT_BYTES_MAX });
  return stdout;
}

const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
