/** Chat completions that were asked to be kept: listed, read, labelled and deleted. */
import { completionId, turnIdOfCompletion } from '../../core/turn-derived-ids.ts'
import { removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { chatDialect } from '../../dialects/chat/chat-dialect.ts'
import { parseRequestWithOverrides } from '../../dialects/context-policy/parse-request-with-overrides.ts'
import { renderMessages } from '../../dialects/chat/render/render-messages.ts'
import { renderAssistantMessage } from '../../dialects/chat/render/render-chat-completion.ts'
import { readOptional, createMissingFieldError } from '../../dialects/checks/check-json-types.ts'
import { asMetadata } from '../../dialects/checks/check-value-limits.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { renderList, cutPage, readPaging, createUnknownCursorError } from './paging.ts'
import {
  shortenForError,
  type StoredObjectRoute,
  type StoredObjectRequest,
} from './route-interface.ts'
import { outcomeFromTurn } from '../../gateway/respond/render-stored-response.ts'

export const CHAT_COMPLETION_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'GET', path: '/chat/completions', answer: listCompletions },
  {
    method: 'GET',
    path: '/chat/completions/:id',
    answer: async (asked, world) => completionOf(await loaded(asked, world)),
  },
  {
    method: 'POST',
    path: '/chat/completions/:id',
    async answer(asked, world) {
      const { id, turnId } = idIn(asked)
      const { metadata: given } = await asked.body()
      if (given === undefined) throw createMissingFieldError('metadata')
      const metadata = readOptional(asMetadata, given, 'metadata') ?? {}
      const labels = { ...asked.caller, turnId, dialect: 'chat', metadata }
      if (!(await world.archive.relabelTurn(labels))) throw completionNotFound(id)
      return completionOf(await loaded(asked, world))
    },
  },
  {
    method: 'DELETE',
    path: '/chat/completions/:id',
    async answer(asked, { archive, nowMs }) {
      const { id, turnId } = idIn(asked)
      const deletion = { ...asked.caller, turnId, dialect: 'chat', nowMs: nowMs() }
      if ((await archive.deleteTurn(deletion)) !== 'deleted') throw completionNotFound(id)
      return { id, object: 'chat.completion.deleted', deleted: true }
    },
  },
  { method: 'GET', path: '/chat/completions/:id/messages', answer: listMessages },
]

async function listCompletions(
  asked: StoredObjectRequest,
  { archive }: GatewayDependencies,
): Promise<JsonObject> {
  const { query, caller } = asked
  const paging = readPaging(query, 'asc')
  const after = paging.after === null ? null : turnIdOfCompletion(paging.after)
  if (paging.after !== null && after === null) throw createUnknownCursorError(paging.after)
  const turns = await archive.listTurns({
    ...caller,
    model: query.get('model') || null,
    metadata: labelsIn(query),
    after,
    limit: paging.limit + 1,
    order: paging.order,
  })
  return renderList(turns.slice(0, paging.limit).map(completionOf), turns.length > paging.limit)
}

/** As in `metadata[topic]=weather`. */
function labelsIn(query: URLSearchParams): Readonly<Record<string, string>> {
  const labels = [...query].flatMap(([name, value]) => {
    const key = /^metadata\[(.+)\]$/s.exec(name)?.[1]
    return key === undefined ? [] : [[key, value] as const]
  })
  return asMetadata(Object.fromEntries(labels), 'metadata') as Readonly<Record<string, string>>
}

/** What was said in the whole chat up to the answer, the answer itself not being among it. */
async function listMessages(
  asked: StoredObjectRequest,
  { store }: GatewayDependencies,
): Promise<JsonObject> {
  const paging = readPaging(asked.query, 'asc')
  const { id, turnId } = idIn(asked)
  const chain = await store.loadChain(asked.caller, turnId)
  const last = known(chain?.at(-1) ?? null, id)
  const messages = (chain ?? []).flatMap((turn) => {
    const asked = renderMessages(removeGatewayToolItems(turn.input))
    return turn === last
      ? asked
      : [...asked, renderAssistantMessage(removeGatewayToolItems(turn.output))]
  })
  const named = messages.map((message, at) => ({ id: `${id}-${at}`, ...message }))
  const { entries, hasMore } = cutPage(named, paging)
  return renderList(
    entries.map((message) => ({ refusal: null, name: null, content_parts: null, ...message })),
    hasMore,
  )
}

function completionOf(turn: StoredTurn): JsonObject {
  const { request, metadata, id: turnId, createdAtMs } = turn
  const body = { model: request['model'] ?? turn.origin.model, messages: ANY_MESSAGES }
  const clientRequest = parseRequestWithOverrides(chatDialect, body)
  return {
    ...chatDialect.renderBody(outcomeFromTurn(turn), {
      clientRequest,
      turnId,
      createdAtMs,
      stored: true,
    }),
    request_id: `req_${turnId}`,
    metadata: metadata ?? {},
    temperature: request['temperature'] ?? 1,
    top_p: request['top_p'] ?? 1,
    presence_penalty: request['presence_penalty'] ?? 0,
    frequency_penalty: request['frequency_penalty'] ?? 0,
    seed: request['seed'] ?? null,
    service_tier: request['service_tier'] ?? 'default',
    input_user: request['user'] ?? null,
  }
}

const ANY_MESSAGES = [{ role: 'user', content: '' }]

async function loaded(
  asked: StoredObjectRequest,
  { archive }: GatewayDependencies,
): Promise<StoredTurn> {
  const { id, turnId } = idIn(asked)
  return known(await archive.loadTurn(asked.caller, turnId), id)
}

function idIn({ named }: StoredObjectRequest): { readonly id: string; readonly turnId: string } {
  const given = named('id')
  const turnId = turnIdOfCompletion(given)
  if (turnId === null) throw completionNotFound(given)
  return { id: completionId(turnId), turnId }
}

/** An answer that failed or is not over is no completion. */
function known(turn: StoredTurn | null, id: string): StoredTurn {
  const isThere = turn !== null && turn.dialect === 'chat' && turn.deletedAtMs === null
  if (isThere && (turn.state === 'complete' || turn.state === 'incomplete')) return turn
  throw completionNotFound(id)
}

function completionNotFound(id: string): GatewayError {
  return createNotFoundError(`Chat completion with id '${shortenForError(id)}' not found.`)
}
