import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { registerCheckConfig } from './check_config.js';
import { registerKeygen } from './keygen.js';
import { registerPublish } from './publish.js';
import { registerServe } from './serve.js';
import { registerSubscribe } from './subscribe.js';
import { registerToken } from './token.js';
import { registerVerify } from './verify.js';

/** The whole command line. */
export function createProgram(): Command {
  const program = new Command('tickseal')
    .description('Signed price data service: verify publishers’ prices, aggregate, sign, serve')
    .version(readVersion())
    .showHelpAfterError()
    // A misspelled option is quoted with its value, which may be a token or a key.
    .configureOutput({ outputError: (text, write) => write(text.replace(/(--?[\w-]+)=[^']*/g, '$1=…')) });
  registerServe(program);
  registerCheckConfig(program);
  registerKeygen(program);
  registerToken(program);
  registerPublish(program);
  registerSubscribe(program);
  registerVerify(program);
  return program;
}

/** The version of the installed package. */
function readVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
