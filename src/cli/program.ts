import type { Command } from 'commander';
import { registerBackup } from './backup_command.js';
import { registerCheckConfig } from './check_config_command.js';
import { registerClusterInit } from './cluster_init_command.js';
import { registerDemoCluster } from './demo_cluster_command.js';
import { createEmptyProgram } from './empty_program.js';
import { registerKeygen } from './keygen_command.js';
import { registerPublish } from './publish_command.js';
import { registerServe } from './serve_command.js';
import { registerSources } from './sources_command.js';
import { registerStore } from './store_command.js';
import { registerSubscribe } from './subscribe_command.js';
import { registerToken } from './token_command.js';
import { registerVerify } from './verify_command.js';
import { registerWitness } from './witness_command.js';

/** Creates the whole command line. */
export function createProgram(): Command {
  const program = createEmptyProgram();
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
  registerWitness(program);
  return program;
}
