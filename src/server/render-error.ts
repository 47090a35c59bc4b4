/** Renders an error as the response of an HTTP request, in the format of OpenAI's API. */
import { createErrorBody, type GatewayError } from '../core/errors/gateway-error.ts'

export function renderError({ failure, headers }: GatewayError): Response {
  return new Response(JSON.stringify(createErrorBody(failure)), {
    status: failure.status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}
