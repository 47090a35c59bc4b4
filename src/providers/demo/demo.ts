/**
 * The built-in upstream: a scripted model without a key that gives equal prompts equal answers. Its
 * wire consists of the gateway's own events, which makes it the shortest provider to read.
 */
import type { StreamEvent } from '../../core/stream-event.ts'
import { isObject, type JsonObject } from '../../core/json/json.ts'
import { createFailure } from '../../core/errors/gateway-error.ts'
import type { Provider } from '../provider-interface.ts'
import { countQuirk } from '../quirks/quirk-value-kinds.ts'
import { decodeStream } from './decode-stream.ts'
import { noteIgnoredParameters, NOTES } from './encoding-notes.ts'

export const demo: Provider = {
  wire: 'demo',
  getPassThroughDialect: () => null,
  encode: ({ items, params, stream }, account) => ({
    path: '/answers',
    body: {
      model: params.model,
      instructions: params.instructions,
      items: items as unknown as JsonObject[],
      tools: params.tools as unknown as JsonObject[],
      toolChoice: params.toolChoice,
      stream,
      delayMs: account.quirks['delayMs'] ?? 12,
    },
    notes: noteIgnoredParameters(params),
    unsentStopSequences: params.stop,
  }),
  createHeaders: () => ({}),
  notes: NOTES,
  quirks: { delayMs: countQuirk('Milliseconds between two pieces of an answer. Default: 12.') },
  createDecoder: decodeStream,
  decodeBody: (body) => body['events'] as unknown as readonly StreamEvent[],
  parseErrorResponse: (status, body) =>
    createFailure('upstream_broken', readMessage(body), { status }),
}

function readMessage(body: JsonObject | string): string {
  if (!isObject(body)) return body
  return typeof body['message'] === 'string' ? body['message'] : 'The demo upstream refuses.'
}
