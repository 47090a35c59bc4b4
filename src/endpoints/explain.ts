/** A dry run told in words: what would be sent for this request, what would not, and why. */
import { isObject, type JsonObject } from '../conversation/json.ts'
import type { Note } from '../conversation/note.ts'
import { estimateTokens } from '../conversation/tokens.ts'
import { isCompactionDue } from '../upstream/compact.ts'
import { chat } from '../dialect/chat/chat.ts'
import { asOneOf, maybe } from '../dialect/check.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { responses } from '../dialect/responses/responses.ts'
import { tokensOf } from '../upstream/budget.ts'
import { fit } from '../upstream/fit.ts'
import { prepare, upstreamRequest, type Prepared } from '../upstream/prepare.ts'
import type { Exchange } from '../edge/exchange.ts'
import type { Caller } from '../keys.ts'
import { understand } from '../understand.ts'
import { sentenceOf } from '../upstream/unsupported.ts'
import type { World } from '../world.ts'

export async function explain(
  request: JsonObject,
  caller: Caller,
  world: World,
  _exchange: Exchange,
  headers: Headers,
): Promise<JsonObject> {
  const { api, ...body } = request
  const dialect = dialectOf(maybe(asOneOf(['chat', 'responses']), api, 'api'), body)
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const inbound = understand(dialect, body, bytes, headers, world.settings)
  const prepared = readiedDry(await prepare(inbound, caller, world), world)
  const sent = upstreamRequest(prepared)
  const { items: asked, given = asked } = prepared.inbound
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
      given: given.length,
      remembered: prepared.history.items.length + prepared.notes.filter(isRecalled).length,
      sent: prepared.prompt.items.length,
    },
    size: {
      sent: { bytes: bytesOf(sent.body), estimated_tokens: tokensOf(prepared) },
      full_replay: fullReplay(prepared),
    },
    notes: prepared.notes.map((note) => ({ ...note, detail: sentenceOf(note, prepared) })),
  }
}

function isRecalled({ did, why }: Note): boolean {
  return did === 'added' && why === 'recalled'
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

/** To be compacted takes a model, which a dry run does not ask. */
function readiedDry(prepared: Prepared, world: World): Prepared {
  if (!isCompactionDue(prepared)) return fit(prepared, world)
  const due: Note = {
    did: 'changed',
    why: 'compaction-due',
    detail:
      'The conversation is over its threshold: a summary will be made first and sent instead.',
  }
  return { ...prepared, notes: [...prepared.notes, due] }
}

function fullReplay({ provider, prompt, items, account }: Prepared): JsonObject {
  const { body } = provider.encode({ ...prompt, items }, account)
  const isUnchanged = body instanceof Uint8Array
  return {
    bytes: bytesOf(isUnchanged ? body : JSON.stringify(body)),
    estimated_tokens: estimateTokens(isUnchanged ? prompt.source.body : body),
  }
}

function bytesOf(body: string | Uint8Array | null): number {
  return typeof body === 'string' ? new TextEncoder().encode(body).length : (body?.length ?? 0)
}
