#!/usr/bin/env node
import { Command } from 'commander';
import { registerCheckConfig } from './check_config.js';
import { registerKeygen } from './keygen.js';
import { registerServe } from './serve.js';
import { registerToken } from './token.js';

const program = new Command('tickseal')
  .description('Signed price data service: verify publishers’ prices, aggregate, sign, serve')
  .showHelpAfterError();
registerServe(program);
registerCheckConfig(program);
registerKeygen(program);
registerToken(program);
await program.parseAsync();
