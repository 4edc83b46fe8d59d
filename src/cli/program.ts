import { Command } from 'commander';
import { registerBackup } from './backup.js';
import { registerCheckConfig } from './check_config.js';
import { registerDemoCluster } from './demo_cluster.js';
import { registerKeygen } from './keygen.js';
import { registerPublish } from './publish.js';
import { registerServe } from './serve.js';
import { registerStore } from './store.js';
import { registerSubscribe } from './subscribe.js';
import { registerToken } from './token.js';
import { registerVerify } from './verify.js';
import { programVersion } from './version.js';

/** The whole command line. */
export function createProgram(): Command {
  const program = new Command('tickseal')
    .description('Signed price data service: verify publishers’ prices, aggregate, sign, serve')
    .version(programVersion())
    .showHelpAfterError()
    // A misspelled option is quoted with its value, which may be a token or a key.
    .configureOutput({ outputError: (text, write) => write(text.replace(/(--?[\w-]+)=[^']*/g, '$1=…')) });
  registerServe(program);
  registerDemoCluster(program);
  registerCheckConfig(program);
  registerStore(program);
  registerBackup(program);
  registerKeygen(program);
  registerToken(program);
  registerPublish(program);
  registerSubscribe(program);
  registerVerify(program);
  return program;
}
