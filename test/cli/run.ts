import { Command } from 'commander';

export interface Run {
  readonly out: string;
  readonly err: string;
  readonly exitCode: number;
}

/** Runs a command in this process and captures its output. Restores the process's own exit code. */
export async function run(register: (program: Command) => void, ...args: string[]): Promise<Run> {
  const before = process.exitCode;
  process.exitCode = 0;
  let out = '';
  let err = '';
  const writeOut = (text: string) => {
    out += text;
  };
  const writeErr = (text: string) => {
    err += text;
  };
  const program = new Command('tickseal').exitOverride().configureOutput({ writeOut, writeErr });
  register(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return { out, err, exitCode: Number(process.exitCode) };
  } catch (error) {
    return { out, err, exitCode: (error as { exitCode: number }).exitCode };
  } finally {
    process.exitCode = before;
  }
}
