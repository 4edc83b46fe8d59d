import type { Command } from 'commander';
import { test } from 'tap';
import type { CommandStreams } from '../../src/cli/client_command.js';
import { registerExport } from '../../src/cli/export_command.js';
import { registerKeys } from '../../src/cli/keys_command.js';
import { registerLog } from '../../src/cli/log_command.js';
import { registerMcp } from '../../src/cli/mcp_command.js';
import { registerPrice } from '../../src/cli/price_command.js';
import { registerPublish } from '../../src/cli/publish_command.js';
import { registerSubscribe } from '../../src/cli/subscribe_command.js';
import { registerVerify } from '../../src/cli/verify_command.js';
import { runCommand } from './run_command.js';

// Each address, key, address of a service and time on the command line is checked for its form, before anything is asked or verified.

const ADDRESS = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
const STARK_KEY = `0x${'1'.repeat(62)}`;
type Register = (program: Command, streams: CommandStreams) => void;
/** A command, and the arguments that it needs beside the option. */
type Door = readonly [Register, ...string[]];

const price: Door = [registerPrice, 'price', 'A'];
const exported: Door = [registerExport, 'export', 'A', '--from', '2026-01-01', '-o', '/nowhere/a.csv'];
const subscribe: Door = [registerSubscribe, 'subscribe', 'A'];
const mcp: Door = [registerMcp, 'mcp'];
const publish: Door = [registerPublish, 'publish', 'A=1'];
const verify: Door = [registerVerify, 'verify', '{}'];
const logVerify: Door = [registerLog, 'log', 'verify', '/nowhere'];
const audit: Door = [registerLog, 'log', 'audit', '--policy', '/nowhere'];
const announce: Door = [registerKeys as Register, 'keys', 'announce', '--chain', '/nowhere/c'];
const revoke: Door = [registerKeys as Register, 'keys', 'revoke', '--chain', '/nowhere/c'];

const CUT = ['0x7e5f', 'alice', ADDRESS.slice(2), `${ADDRESS} `, `0x${'g'.repeat(40)}`];
const KEYS = [...CUT, `${ADDRESS}0`, `0x${'f'.repeat(64)}`, `0x${'0'.repeat(64)}`, `0x${'1'.repeat(65)}`];
const WRONG_CHECKSUM = '0x7e5F4552091A69125d5DfCb7b8C2659029395Bdf';
const CHECKSUM = new RegExp(`checksum .* write ${ADDRESS} or only small letters`);
const URLS = ['127.0.0.1:8080', 'ftp://a.example', 'ws://user:word@a.example', 'https://a.example?x=y'];
const TIMES = ['noon', '1763640000000', '-1'];

/** An option (or none, for an argument), the commands that have it, wrong values and the reason of their refusal. */
const TABLE: readonly (readonly [option: string, doors: Door[], wrong: string[], reason: RegExp])[] = [
  ['--signer', [price, exported, subscribe, mcp, verify, logVerify], KEYS, /neither an address/],
  ['', [revoke], KEYS, /neither an address/],
  ['--root', [[...verify, '--chain', '/nowhere']], [...CUT, STARK_KEY], /is not an address/],
  ['--next-root', [announce], [...CUT, STARK_KEY], /is not an address/],
  ['--signer', [price, verify], [WRONG_CHECKSUM], CHECKSUM],
  ['--next-root', [announce], [WRONG_CHECKSUM], CHECKSUM],
  ['', [revoke], [WRONG_CHECKSUM], CHECKSUM],
  ['--url', [price, exported, subscribe, mcp, publish], URLS, /expected an address such as/],
  ['--log', [verify], URLS, /expected an address such as/],
  ['', [audit], URLS, /expected an address such as/],
  ['--at', [price], TIMES, /expected a time/],
  ['--from', [exported], TIMES, /expected a time/],
  ['--to', [exported], TIMES, /expected a time/],
  ['--oracle-id', [price, exported, mcp, publish, verify, logVerify], ['abc', 'abcdé'], /expected 5 ASCII/],
  ['--service-name', [verify], ['A', 'a b', ''], /expected a word/],
  ['--weight', [verify], ['0x1=2', `${ADDRESS}=x`], /expected 0xKEY=WEIGHT|neither an address/],
  ['--taxonomy-id', [verify], ['70000', 'x', '-1'], /expected a uint16/],
];

process.env['TICKSEAL_TOKEN'] = 'token';

test('a wrong form is refused with its option, before anything is asked', async (t) => {
  for (const [option, doors, wrong, reason] of TABLE)
    for (const [register, ...args] of doors)
      for (const value of wrong) {
        const given = option === '' ? ['--', value] : [`${option}=${value}`];
        const problems: string[] = [];
        const listening: Register = (program, streams) =>
          register(program.configureOutput({ writeErr: (text) => problems.push(text) }), streams);
        const { exitCode, stderr, stdout } = await runCommand(listening, [...args, ...given]);
        const said = problems.join('') + stderr;
        const name = `${args.slice(0, 2).join(' ')} ${given.join(' ')}`;
        t.same([exitCode, stdout], [1, []], name);
        t.match(said, reason, name);
        if (option !== '') t.match(said, option, name);
      }
});

test('right forms of keys pass', async (t) => {
  for (const key of [ADDRESS, ADDRESS.toLowerCase(), `0x${ADDRESS.slice(2).toUpperCase()}`, STARK_KEY]) {
    const { stderr } = await runCommand(registerVerify, ['verify', '{}', '--signer', key]);
    t.equal(stderr, '', key);
  }
});
