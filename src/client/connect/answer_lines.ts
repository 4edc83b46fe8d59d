import { ForeignFault } from './answer_limit.js';
import { LostRangeError, type ProtocolError, type UnreachableError } from './errors.js';
import { errorOf } from './refusal.js';
import type { RestService } from './rest_service.js';

/** The lines of an answer, and the answer's header `Link`. The iterator returns lines that arrive together as one list. */
export interface LineAnswer {
  readonly lines: AsyncIterable<readonly string[]>;
  readonly link: string | undefined;
}

const LOST = /"damaged":\{"from":(\d{1,19}),"to":(\d{1,19})\}/;

/**
 * Reads the lines of a long answer as they arrive.
 * @throws the errors of {@link RestService.get}, and LostRangeError
 */
export async function getLines(service: RestService, path: string): Promise<LineAnswer> {
  const answer = await service.ask(path, async (open) => open.lines(), true);
  const { body, refusal, link } = answer;
  if (body !== undefined)
    return { lines: linesUntilFault(body, (fault) => service.errorOf(path, fault)), link };
  const [, firstNs, lastNs] = LOST.exec(refusal) ?? [];
  if (firstNs === undefined || lastNs === undefined) throw service.refusal(path, answer);
  throw new LostRangeError(service.url, errorOf(refusal) ?? '', BigInt(firstNs), BigInt(lastNs));
}

async function* linesUntilFault(
  lines: AsyncIterable<readonly string[]>,
  errorOfFault: (fault: ForeignFault) => ProtocolError | UnreachableError,
): AsyncIterable<readonly string[]> {
  try {
    yield* lines;
  } catch (error) {
    const { kind, message } = error as ForeignFault;
    throw errorOfFault(
      kind === 'missing'
        ? new ForeignFault(`the answer ended early: ${message}`, kind)
        : (error as ForeignFault),
    );
  }
}
