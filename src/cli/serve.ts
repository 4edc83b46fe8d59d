import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { pino } from 'pino';
import { systemClock } from '../clock.js';
import { loadKeys } from '../config/keys.js';
import { loadConfig } from '../config/load.js';
import { startService } from '../service.js';

export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve a configuration, or without one a demo with simulated prices')
    .option('-c, --config <file>', 'the configuration file')
    .action(async ({ config }: { config?: string }) => {
      await serve(config!, false);
    });
}

async function serve(file: string, simulation: boolean): Promise<void> {
  const loaded = loadConfig(file);
  if (!loaded.ok) {
    process.stderr.write(`${loaded.errors.join('\n')}\n`);
    process.exitCode = 2;
    return;
  }
  const { config } = loaded;
  const keys = loadKeys(config, dirname(resolve(file)), process.env);
  if (!keys.ok) {
    process.stderr.write(`${keys.errors.map(({ message }) => message).join('\n')}\n`);
    process.exitCode = 2;
    return;
  }
  const logger = pino();
  const service = await startService({
    config,
    keys: keys.keys,
    clock: systemClock(),
    logger,
    env: process.env,
    simulation,
  });
  logger.info({ port: service.port, adminPort: service.adminPort, evmAddress: service.evmAddress }, 'ready');
  const stop = async () => {
    await service.stop();
    logger.flush();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
}
