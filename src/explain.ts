/** A dry run told in words: what would be sent for this request, what would not, and why. */
import { isObject, type JsonObject } from './conversation/json.ts'
import { chat } from './dialect/chat/chat.ts'
import { asOneOf, maybe } from './dialect/check.ts'
import type { Dialect } from './dialect/dialect.ts'
import { responses } from './dialect/responses/responses.ts'
import { prepare, upstreamRequest, type Prepared } from './prepare.ts'
import type { Caller } from './keys.ts'
import type { World } from './world.ts'

export async function explain(
  request: JsonObject,
  caller: Caller,
  world: World,
): Promise<JsonObject> {
  const { api, ...body } = request
  const dialect = dialectOf(maybe(asOneOf(['chat', 'responses']), api, 'api'), body)
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const prepared = await prepare(dialect.parse(body, bytes), caller, world)
  const sent = upstreamRequest(prepared)
  return {
    object: 'context.explanation',
    api: dialect.name,
    upstream: {
      name: prepared.account.name,
      wire: prepared.account.wire,
      method: sent.method,
      url: sent.url,
      unchanged: prepared.encoded.body instanceof Uint8Array,
      body: sentBody(prepared),
    },
    items: {
      given: prepared.inbound.items.length,
      remembered: prepared.history.items.length,
      sent: prepared.prompt.items.length,
    },
    size: { sent: sizeOf(sent.body), full_replay: sizeOf(fullReplay(prepared)) },
    notes: prepared.notes.map((note) => ({ ...note })),
  }
}

/** By shape: `input` is a word of Responses, `messages` one of Chat Completions. */
function dialectOf(api: 'chat' | 'responses' | null, body: JsonObject): Dialect {
  if (api !== null) return api === 'chat' ? chat : responses
  return 'messages' in body ? chat : responses
}

function sentBody({ encoded: { body } }: Prepared): JsonObject {
  const json: unknown =
    body instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(body)) : body
  return isObject(json) ? json : {}
}

function fullReplay({ provider, prompt, items, account }: Prepared): string | Uint8Array {
  const { body } = provider.encode({ ...prompt, items }, account)
  return body instanceof Uint8Array ? body : JSON.stringify(body)
}

/** Tokens are estimated at four characters each; the upstream's own count is in its usage. */
function sizeOf(body: string | Uint8Array | null): JsonObject {
  const bytes =
    typeof body === 'string' ? new TextEncoder().encode(body).length : (body?.length ?? 0)
  return { bytes, estimated_tokens: Math.ceil(bytes / 4) }
}
