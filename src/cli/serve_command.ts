import { fileURLToPath } from 'node:url';
import { type Command, Option } from 'commander';
import { parsePort } from './port_option.js';
import type { ServeOptions } from './serve_main.js';
import { loadProgram } from './stored_code.js';

/** Adds `tickseal serve`. The exit status is 2 if the configuration is invalid, and 1 if the service cannot start. */
export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve a configuration file, or without one a demo with simulated prices')
    .option('-c, --config <file>', 'the configuration file')
    .option('--data <folder>', "the demo's folder", './data')
    .option('--port <port>', "the demo's port; 0 picks a free one", parsePort, 8080)
    .option('--admin-port <port>', "the demo's admin port; 0 picks a free one", parsePort, 9090)
    .option(
      '--live [file]',
      'a demo with real prices of BTC, ETH, SOL, XRP, DOGE and USDT, or of a file of sources',
    )
    .option('--take-over', 'take the data folder and the ports over from a service that runs on them')
    .addOption(new Option('--simulated', 'say that all prices are simulated').hideHelp())
    .action(async (options: ServeOptions) => {
      try {
        const { exports, storeCode } = loadProgram<typeof import('./serve_main.js')>(PROGRAM, STORED_CODE);
        await exports.serve(options, storeCode);
      } catch (error) {
        process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
        process.exitCode = 1;
      }
    });
}

const PROGRAM = fileURLToPath(new URL('./serve_main.cjs', import.meta.url));
/** The folder for the compiled code of the program, inside the folder that `main.ts` gives to Node. */
const STORED_CODE = fileURLToPath(new URL('../../compile-cache/serve', import.meta.url));
