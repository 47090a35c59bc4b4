/**
 * Renders an error as the response of an HTTP request, in the format of OpenAI's API. `turnId` is the id of the request
 * (`gateway/request-id.ts`).
 */
import { createErrorBody, type GatewayError } from '../core/errors/gateway-error.ts'
import { requestId } from '../core/turn-derived-ids.ts'
import { REQUEST_ID_HEADER } from '../gateway/request-id.ts'

export function renderError({ failure, headers }: GatewayError, turnId: string): Response {
  return new Response(JSON.stringify(createErrorBody(failure)), {
    status: failure.status,
    headers: {
      'content-type': 'application/json',
      [REQUEST_ID_HEADER]: requestId(turnId),
      ...headers,
    },
  })
}
