import { Command } from 'commander';
import { programCommit, programVersion } from './program_version.js';

/** Creates the command line without any command. */
export function createEmptyProgram(): Command {
  return (
    new Command('tickseal')
      .description('Signed price data service: verify publishers’ prices, aggregate, sign, serve')
      .version(`${programVersion()} commit ${programCommit()}`)
      .showHelpAfterError()
      // Hides the values of options. The library quotes a wrong value, which may be a token, a key or an address with a password.
      .configureOutput({
        outputError: (text, write) =>
          write(
            text
              .replace(/(--?[\w-]+)=[^']*/g, '$1=…')
              .replace(/ argument '[\s\S]*' is invalid\./, ' is invalid:'),
          ),
      })
  );
}
