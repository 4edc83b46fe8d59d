import { Command } from 'commander';
import { programCommit, programVersion } from './program_version.js';

/** Creates the command line without any command. */
export function createEmptyProgram(): Command {
  return (
    new Command('tickseal')
      .description('Signed price data service: verify publishers’ prices, aggregate, sign, serve')
      .version(`${programVersion()} commit ${programCommit()}`)
      .showHelpAfterError()
      // Hides the value of a misspelled option. The library quotes the value, which may be a token or a key.
      .configureOutput({ outputError: (text, write) => write(text.replace(/(--?[\w-]+)=[^']*/g, '$1=…')) })
  );
}
