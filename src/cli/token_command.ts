import type { Command } from 'commander';
import { tokenName } from '../config/schema.js';
import { createToken, hashToken } from '../config/token_hash.js';
import { outputOf, ownText, writeLine } from './shown_line.js';

/**
 * Adds `token --name N`, which prints a new token and its entry for the configuration file. The command does not store the token.
 */
export function registerToken(program: Command): void {
  const command = program
    .command('token')
    .description('make an access token and its entry for the configuration file')
    .requiredOption('--name <name>', 'what the token is called in the configuration file');
  command.action(({ name }: { name: string }) => {
    const { out, err } = outputOf(command);
    const checked = tokenName.safeParse(name);
    if (!checked.success) {
      writeLine(err, ownText(`--name: ${checked.error.issues[0]!.message}`));
      process.exitCode = 2;
      return;
    }
    const token = createToken();
    // JSON text is valid YAML. So a name may contain any characters.
    writeLine(
      out,
      ownText(`# For the client, as "Authorization: Basic <token>"; it cannot be shown again:
${token}
# For the configuration file:
tokens:
  - name: ${JSON.stringify(name)}
    sha256: "${hashToken(token).toString('hex')}"
    scopes: [rest, stream]`),
    );
  });
}
