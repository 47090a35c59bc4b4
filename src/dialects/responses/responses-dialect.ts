/** The dialect of clients that use the Responses API. */
import type { Dialect } from '../../core/ports/dialect-interface.ts'
import { parseResponsesRequest } from './parse/parse-responses-request.ts'
import { createResponsesPassThroughPatcher } from './pass-through/patch-responses-pass-through.ts'
import { createResponsesStreamRenderer } from './render/render-responses-stream.ts'
import { renderResponse } from './render/render-response.ts'

export const responsesDialect: Dialect = {
  name: 'responses',
  parse: parseResponsesRequest,
  createRenderer: createResponsesStreamRenderer,
  renderBody: renderResponse,
  createPassThroughPatcher: createResponsesPassThroughPatcher,
}
