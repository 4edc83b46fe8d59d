import { Command } from 'commander';
import { registerBackup } from './backup_command.js';
import { registerCheckConfig } from './check_config_command.js';
import { registerClusterInit } from './cluster_init_command.js';
import { registerDemoCluster } from './demo_cluster_command.js';
import { registerKeygen } from './keygen_command.js';
import { programCommit, programVersion } from './program_version.js';
import { registerPublish } from './publish_command.js';
import { registerServe } from './serve_command.js';
import { registerSources } from './sources_command.js';
import { registerStore } from './store_command.js';
import { registerSubscribe } from './subscribe_command.js';
import { registerToken } from './token_command.js';
import { registerVerify } from './verify_command.js';

/** Creates the whole command line. */
export function createProgram(): Command {
  const program = new Command('tickseal')
    .description('Signed price data service: verify publishers’ prices, aggregate, sign, serve')
    .version(`${programVersion()} commit ${programCommit()}`)
    .showHelpAfterError()
    // Hides the value of a misspelled option, because the library quotes the value and the value may be a
    // token or a key.
    .configureOutput({ outputError: (text, write) => write(text.replace(/(--?[\w-]+)=[^']*/g, '$1=…')) });
  registerServe(program);
  registerDemoCluster(program);
  registerClusterInit(program);
  registerCheckConfig(program);
  registerStore(program);
  registerBackup(program);
  registerKeygen(program);
  registerToken(program);
  registerPublish(program);
  registerSources(program);
  registerSubscribe(program);
  registerVerify(program);
  return program;
}
