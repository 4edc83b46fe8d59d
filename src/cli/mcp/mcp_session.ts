import { z } from 'zod';
import { parseExactJson, writeExactJson } from '../../client/verify/exact_json.js';
import { visibleText } from '../../wire/foreign_text.js';
import { boundedLines, TOO_LONG } from './bounded_lines.js';

// The part of the Model Context Protocol that a server with tools needs, over standard input and output. Each line is a JSON-RPC
// message. https://modelcontextprotocol.io/specification/2025-06-18

/** A tool that a model can call. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The schema of the arguments. {@link call} receives only arguments that match the schema. */
  readonly input: z.ZodObject;
  /**
   * Returns the answer. Bigints in the answer are written with all digits.
   * @throws Error with a message for the model
   */
  call(input: never): Promise<object>;
}

export interface McpSessionOptions {
  readonly name: string;
  readonly version: string;
  /** The text that explains the tools to the model. */
  readonly instructions: string;
  readonly tools: readonly McpTool[];
  write(line: string): void;
  /** Resolves when the reader has read all written output. */
  drained(): Promise<void>;
}

/** The supported versions of the protocol, newest first. Their tools differ only in optional fields. */
const PROTOCOL_VERSIONS = ['2025-06-18', '2024-11-05'];
export const LINE_CHARACTERS_MAX = 1_048_576;
/** The greatest number of characters of each text in an answer. */
const TEXT_CHARACTERS_MAX = 2_000;
/** The largest number of concurrent calls. While this many calls run, the session reads no further line. */
export const CALLS_MAX = 8;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

/** The ID of a request: a text, or an integer with all its digits. */
type RpcId = string | bigint;
type RpcFields = Readonly<Record<string, unknown>>;

interface RpcRequest {
  readonly kind: 'request';
  readonly id: RpcId;
  readonly method: string;
  readonly params: RpcFields;
}

/** The meaning of a line. */
type RpcMessage =
  | RpcRequest
  | { readonly kind: 'cancelled'; readonly id: RpcId }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'fault'; readonly id: RpcId | null; readonly code: number; readonly reason: string };

/** An error that the client of the protocol receives. */
class ProtocolFault extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Answers the messages of one client. */
export class McpSession {
  readonly #options: McpSessionOptions;
  /** The requests in progress. */
  readonly #open = new Map<RpcId, Promise<void>>();
  /** The requests in progress that the client has cancelled. A cancelled request receives no answer. */
  readonly #cancelled = new Set<RpcId>();

  constructor(options: McpSessionOptions) {
    this.#options = options;
  }

  /** Answers every line of the input. Resolves when the input has ended and all requests are answered. */
  async run(input: AsyncIterable<string>): Promise<void> {
    for await (const line of boundedLines(input, LINE_CHARACTERS_MAX)) {
      if (line === TOO_LONG)
        this.#fail(null, PARSE_ERROR, `a line has more than ${LINE_CHARACTERS_MAX} characters`);
      else if (line.trim() !== '') this.#handleLine(line);
      while (this.#open.size >= CALLS_MAX) await Promise.race(this.#open.values());
      await this.#options.drained();
    }
    await Promise.all(this.#open.values());
  }

  #handleLine(line: string): void {
    const message = readMessage(line);
    switch (message.kind) {
      case 'fault':
        this.#fail(message.id, message.code, message.reason);
        break;
      case 'cancelled':
        if (this.#open.has(message.id)) this.#cancelled.add(message.id);
        break;
      case 'request':
        this.#beginRequest(message);
    }
  }

  #beginRequest({ id, method, params }: RpcRequest): void {
    if (this.#open.has(id)) {
      this.#fail(id, INVALID_REQUEST, 'an earlier request has this id');
      return;
    }
    const answer = this.#answer(id, method, params).finally(() => {
      this.#open.delete(id);
      this.#cancelled.delete(id);
    });
    this.#open.set(id, answer);
  }

  async #answer(id: RpcId, method: string, params: RpcFields): Promise<void> {
    try {
      const result = await this.#result(method, params);
      if (!this.#cancelled.has(id)) this.#send({ id, result });
    } catch (error) {
      if (this.#cancelled.has(id)) return;
      const isFault = error instanceof ProtocolFault;
      this.#fail(
        id,
        isFault ? error.code : INTERNAL_ERROR,
        isFault ? error.message : 'a fault of this server',
      );
    }
  }

  async #result(method: string, params: RpcFields): Promise<object> {
    switch (method) {
      case 'initialize':
        return this.#greeting(params);
      case 'ping':
        return {};
      case 'tools/list':
        if (params['cursor'] !== undefined)
          throw new ProtocolFault(INVALID_PARAMS, 'cursor: there is one page');
        return { tools: this.#options.tools.map(toolDescription) };
      case 'tools/call':
        return this.#callTool(params);
      default:
        throw new ProtocolFault(METHOD_NOT_FOUND, `there is no method ${method.slice(0, 100)}`);
    }
  }

  #greeting({ protocolVersion }: RpcFields): object {
    if (typeof protocolVersion !== 'string')
      throw new ProtocolFault(INVALID_PARAMS, 'protocolVersion is not a string');
    const { name, version, instructions } = this.#options;
    return {
      protocolVersion: PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : PROTOCOL_VERSIONS[0],
      capabilities: { tools: {} },
      serverInfo: { name, version },
      instructions,
    };
  }

  /** Calls a tool. The error of a failed call is also a result, because models read results and correct their next call. */
  async #callTool({ name, arguments: given = {} }: RpcFields): Promise<object> {
    const tool = this.#options.tools.find((one) => one.name === name);
    if (tool === undefined) {
      const names = this.#options.tools.map((one) => one.name).join(', ');
      throw new ProtocolFault(
        INVALID_PARAMS,
        `there is no tool ${String(name).slice(0, 100)}, only ${names}`,
      );
    }
    const read = tool.input.safeParse(given);
    if (!read.success) return failedCall(problemsOf(read.error));
    try {
      const answer = visibleAnswer(await tool.call(read.data as never)) as object;
      const text = writeExactJson(answer);
      return { content: [{ type: 'text', text }], structuredContent: answer };
    } catch (error) {
      return failedCall((error as Error).message);
    }
  }

  #fail(id: RpcId | null, code: number, message: string): void {
    this.#send({ id, error: { code, message } });
  }

  #send(message: object): void {
    this.#options.write(writeExactJson({ jsonrpc: '2.0', ...message }));
  }
}

function readMessage(line: string): RpcMessage {
  const message = parseExactJson(line) as RpcFields | null | undefined;
  const fault = (code: number, reason: string, id: RpcId | null = null): RpcMessage => ({
    kind: 'fault',
    id,
    code,
    reason,
  });
  if (message === undefined) return fault(PARSE_ERROR, 'the line is not JSON');
  if (!isFields(message)) return fault(INVALID_REQUEST, 'the line is not a JSON-RPC message');
  const { id, method, jsonrpc, params = {} } = message;
  // The message is an answer, although this server sends no requests.
  if (method === undefined && ('result' in message || 'error' in message)) return { kind: 'ignored' };
  const isId = typeof id === 'string' || typeof id === 'bigint';
  const answered = isId ? id : null;
  if (jsonrpc !== '2.0') return fault(INVALID_REQUEST, 'jsonrpc is not "2.0"', answered);
  if (typeof method !== 'string') return fault(INVALID_REQUEST, 'method is not a string', answered);
  if (!('id' in message)) return notice(method, params);
  if (!isId) return fault(INVALID_REQUEST, 'id is neither a string nor an integer');
  if (!isFields(params)) return fault(INVALID_PARAMS, 'params is not an object', id);
  return { kind: 'request', id, method, params };
}

/** Returns the meaning of a message that has no answer. */
function notice(method: string, params: unknown): RpcMessage {
  const id = isFields(params) ? params['requestId'] : undefined;
  return method === 'notifications/cancelled' && id !== undefined
    ? { kind: 'cancelled', id: id as RpcId }
    : { kind: 'ignored' };
}

function isFields(value: unknown): value is RpcFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toolDescription({ name, title, description, input }: McpTool): object {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' });
  const annotations = { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true };
  return { name, title, description, inputSchema, annotations };
}

function failedCall(text: string): object {
  return { content: [{ type: 'text', text: visibleText(text, TEXT_CHARACTERS_MAX) }], isError: true };
}

/** Returns an answer whose texts have no invisible characters and a bounded length, because the model also reads the service's texts in it. */
function visibleAnswer(value: unknown): unknown {
  if (typeof value === 'string') return visibleText(value, TEXT_CHARACTERS_MAX);
  if (Array.isArray(value)) return value.map(visibleAnswer);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, visibleAnswer(one)]));
}

function problemsOf({ issues }: z.ZodError): string {
  const problems = issues.map(
    ({ path, message }) => `${path.map((step) => `${String(step)}: `).join('')}${message}`,
  );
  // Integers are bigints here, and numbers in JSON.
  return problems.join('; ').replaceAll('received bigint', 'received number');
}
