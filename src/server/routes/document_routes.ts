import { z } from 'zod';
import { DOCUMENT_PATHS } from '../../wire/paths.js';
import { ASYNCAPI_VERSION, asyncApiDocument } from '../documents/asyncapi.js';
import { writeLlmsText } from '../documents/llms_text.js';
import { OPENAPI_VERSION, openApiDocument } from '../documents/openapi.js';
import { openRoute, type Route } from '../rest/route.js';

/**
 * Makes the routes of the API's documents for programs. The documents also describe these routes.
 * @param described all other routes
 * @param serviceName the configuration's `service.name`
 */
export function documentRoutes(
  described: readonly [string, Route][],
  serviceName: string,
): [string, Route][] {
  const routes: [string, Route][] = [
    [
      DOCUMENT_PATHS.openApi,
      openRoute({
        summary: 'The OpenAPI document of the REST API',
        response: z.looseObject({ openapi: z.literal(OPENAPI_VERSION) }),
        raw: 'application/json',
        handle: () => ({ data: documents().openApi }),
      }),
    ],
    [
      DOCUMENT_PATHS.asyncApi,
      openRoute({
        summary: 'The AsyncAPI document of the WebSockets',
        response: z.looseObject({ asyncapi: z.literal(ASYNCAPI_VERSION) }),
        raw: 'application/json',
        handle: () => ({ data: documents().asyncApi }),
      }),
    ],
    [
      DOCUMENT_PATHS.llms,
      openRoute({
        summary: 'Both documents as a short text for language models',
        response: z.string(),
        raw: 'text/plain',
        handle: () => ({ data: documents().llms }),
      }),
    ],
  ];
  let texts: Documents | undefined;
  // Making the documents takes 0.1 s. The first request makes them, because readers wait for prices during the start.
  function documents(): Documents {
    texts ??= writeDocuments(new Map([...described, ...routes]), serviceName);
    return texts;
  }
  return routes;
}

interface Documents {
  readonly openApi: string;
  readonly asyncApi: string;
  readonly llms: string;
}

function writeDocuments(routes: ReadonlyMap<string, Route>, serviceName: string): Documents {
  const openApi = openApiDocument(routes);
  const asyncApi = asyncApiDocument(serviceName);
  return {
    openApi: JSON.stringify(openApi),
    asyncApi: JSON.stringify(asyncApi),
    llms: writeLlmsText(openApi, asyncApi),
  };
}
