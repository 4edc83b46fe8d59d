import { PassThrough, Readable } from 'node:stream';
import { Command } from 'commander';
import type { CommandStreams } from '../../src/cli/client_command.js';

export interface CommandResult {
  readonly stdout: string[];
  readonly stderr: string;
  readonly exitCode: number;
}

export interface CommandInput {
  readonly stdin?: Iterable<string> | AsyncIterable<string>;
  /** Called with the command's standard output before the command starts. */
  readonly onStdout?: (stdout: PassThrough) => void;
}

/** Runs a command in this process, like the entry point does, and restores the process's exit status. */
export async function runCommand(
  register: (program: Command, streams: CommandStreams) => void,
  args: readonly string[],
  { stdin = [], onStdout = () => {} }: CommandInput = {},
): Promise<CommandResult> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const written: string[] = [];
  const problems: string[] = [];
  stdout.on('data', (chunk) => written.push(String(chunk)));
  stderr.on('data', (chunk) => problems.push(String(chunk)));
  onStdout(stdout);
  const program = new Command().exitOverride().configureOutput({
    writeOut: (text) => written.push(text),
    writeErr: (text) => problems.push(text),
  });
  register(program, { stdin: Readable.from(stdin), stdout, stderr });
  const before = process.exitCode;
  process.exitCode = 0;
  let exitCode = 0;
  try {
    await program.parseAsync(args, { from: 'user' });
    exitCode = Number(process.exitCode);
  } catch (error) {
    exitCode = (error as { exitCode: number }).exitCode;
  } finally {
    process.exitCode = before;
  }
  await new Promise(setImmediate);
  const lines = written.join('').split('\n');
  return { stdout: lines.slice(0, -1), stderr: problems.join(''), exitCode };
}

/** Runs a command as {@link runCommand}, and returns its output as text. */
export async function run(register: Parameters<typeof runCommand>[0], ...args: string[]) {
  const { stdout, stderr: err, exitCode } = await runCommand(register, args);
  return { out: stdout.map((line) => `${line}\n`).join(''), err, exitCode };
}
