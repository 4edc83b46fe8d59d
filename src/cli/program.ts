import type { Command } from 'commander';
import { createEmptyProgram } from './empty_program.js';

/**
 * The functions that load each command's modules, in the order of the help. The commands share few modules, and loading all modules
 * takes 0.7 s of CPU time.
 */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  serve: async () => (await import('./serve_command.js')).registerServe,
  init: async () => (await import('./init_command.js')).registerInit,
  'demo-cluster': async () => (await import('./demo_cluster_command.js')).registerDemoCluster,
  'cluster-init': async () => (await import('./cluster_init_command.js')).registerClusterInit,
  'check-config': async () => (await import('./check_config_command.js')).registerCheckConfig,
  reload: async () => (await import('./reload_command.js')).registerReload,
  store: async () => (await import('./store_command.js')).registerStore,
  backup: async () => (await import('./backup_command.js')).registerBackup,
  keygen: async () => (await import('./keygen_command.js')).registerKeygen,
  keys: async () => (await import('./keys_command.js')).registerKeys,
  token: async () => (await import('./token_command.js')).registerToken,
  publish: async () => (await import('./publish_command.js')).registerPublish,
  sources: async () => (await import('./sources_command.js')).registerSources,
  subscribe: async () => (await import('./subscribe_command.js')).registerSubscribe,
  price: async () => (await import('./price_command.js')).registerPrice,
  export: async () => (await import('./export_command.js')).registerExport,
  verify: async () => (await import('./verify_command.js')).registerVerify,
  mcp: async () => (await import('./mcp_command.js')).registerMcp,
  log: async () => (await import('./log_command.js')).registerLog,
  witness: async () => (await import('./witness_command.js')).registerWitness,
};

/** The arguments that work without a command. */
const VERSION = ['--version', '-V'];

/**
 * Creates the command line with the command that the first argument names. If it names no command, the command line has all
 * commands.
 */
export async function createProgram(first: string | undefined): Promise<Command> {
  const program = createEmptyProgram();
  if (VERSION.includes(first ?? '')) return program;
  const named = Object.entries(COMMANDS).filter(([name]) => name === first);
  for (const [, load] of named.length > 0 ? named : Object.entries(COMMANDS)) (await load())(program);
  return program;
}
