import type { Command } from 'commander';
import { findNatsServer } from './demo/find_nats_server.js';
import { DEMO_ROLES } from './demo/prepare_cluster.js';
import { runCluster } from './demo/run_cluster.js';
import { parsePort } from './port_option.js';
import { ownText, writeLine } from './shown_line.js';
import { startProblem } from './start_checks.js';

interface DemoClusterOptions {
  readonly data: string;
  readonly port: number;
}

const LAST_PORT = 65_535;
const NO_SERVER =
  'there is no nats-server: `bash scripts/nats_server.sh` fetches one, or TICKSEAL_NATS_SERVER names one';

/** Adds `tickseal demo-cluster`. The exit status is 1 if the cluster cannot start. */
export function registerDemoCluster(program: Command): void {
  program
    .command('demo-cluster')
    .description('serve a demo of a cluster: two aggregators and two edges over three NATS servers')
    .option('--data <folder>', 'the folder of its tokens and publishers', './data')
    .option(
      '--port <port>',
      'the port of node 1, the others have the next three; 0 picks free ones',
      parsePort,
      8080,
    )
    .action(async (options: DemoClusterOptions) => {
      try {
        await demoCluster(options);
      } catch (error) {
        writeLine(process.stderr, ownText((error as Error).message));
        process.exitCode = 1;
      }
    });
}

async function demoCluster({ data, port }: DemoClusterOptions): Promise<void> {
  const binary = findNatsServer();
  const problem = binary === undefined ? NO_SERVER : startProblem();
  if (binary === undefined || problem !== undefined) throw new Error(problem);
  if (port > LAST_PORT - DEMO_ROLES.length + 1)
    throw new RangeError(`--port: ${DEMO_ROLES.length} ports from ${port} on are needed`);
  const stop = new AbortController();
  // The system sends SIGHUP when the terminal is closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  const write = (text: string) => writeLine(process.stdout, ownText(text));
  await runCluster({ binary, dataDir: data, port, write, stopSignal: stop.signal });
}
