/**
 * The built-in upstream: a model that is no model, needs no key, and always says the same to the
 * same. Its wire is the gateway's own vocabulary, which makes this the shortest provider to read.
 */
import type { StreamEvent } from '../../conversation/event.ts'
import { isObject, type JsonObject } from '../../conversation/json.ts'
import { failureOf } from '../../errors.ts'
import type { Provider } from '../provider.ts'
import { count } from '../quirk.ts'
import { decode } from './decode.ts'
import { ignored, NOTES } from './ignored.ts'

export const demo: Provider = {
  wire: 'demo',
  speaks: () => null,
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
    notes: ignored(params),
    unsentStops: params.stop,
  }),
  headers: () => ({}),
  notes: NOTES,
  quirks: { delayMs: count('Milliseconds between two pieces of an answer; 12 if not said.') },
  decode,
  decodeWhole: (body) => body['events'] as unknown as readonly StreamEvent[],
  failure: (status, body) => failureOf('upstream_broken', messageOf(body), { status }),
}

function messageOf(body: JsonObject | string): string {
  if (!isObject(body)) return body
  return typeof body['message'] === 'string' ? body['message'] : 'The demo upstream refuses.'
}
