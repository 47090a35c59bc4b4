/** Routes for stored chat completions: list, read, change the metadata of, and delete them. */
import { completionId, requestId, turnIdOfCompletion } from '../../core/turn-derived-ids.ts'
import { removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { chatDialect } from '../../dialects/chat/chat-dialect.ts'
import { parseRequestAndBackstoryFields } from '../../dialects/context-policy/parse-request-and-backstory-fields.ts'
import { renderMessages } from '../../dialects/chat/render/render-messages.ts'
import { renderAssistantMessage } from '../../dialects/chat/render/render-chat-completion.ts'
import { asMetadata } from '../../dialects/checks/check-value-limits.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import type { StoredTurn } from '../../store/turns/turn-store-interface.ts'
import { renderList, renderPage, readPaging, createUnknownCursorError } from './paging.ts'
import { readMetadata, shortenForError, type StoredObjectRoute } from './route-interface.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { buildOutcomeFromTurn } from '../../gateway/respond/render-stored-response.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const CHAT_COMPLETION_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'GET', path: '/chat/completions', handle: listCompletions },
  { method: 'GET', path: '/chat/completions/:id', handle: readCompletion },
  { method: 'POST', path: '/chat/completions/:id', handle: updateMetadata },
  { method: 'DELETE', path: '/chat/completions/:id', handle: deleteCompletion },
  { method: 'GET', path: '/chat/completions/:id/messages', handle: listMessages },
]

async function readCompletion(request: AuthenticatedRequest, ports: Ports<'archive'>) {
  return renderCompletion(await loadCompletion(request, ports))
}

async function updateMetadata(request: AuthenticatedRequest, ports: Ports<'archive'>) {
  const { id, turnId } = readCompletionId(request)
  const metadata = await readMetadata(request)
  const change = { ...request.caller, turnId, dialect: 'chat', metadata }
  if (!(await ports.archive.replaceMetadata(change))) throw createCompletionNotFoundError(id)
  return readCompletion(request, ports)
}

async function deleteCompletion(
  request: AuthenticatedRequest,
  { archive, nowMs }: Ports<'archive' | 'nowMs'>,
) {
  const { id, turnId } = readCompletionId(request)
  const deletion = { ...request.caller, turnId, dialect: 'chat', nowMs: nowMs() }
  if ((await archive.deleteTurn(deletion)) !== 'deleted') throw createCompletionNotFoundError(id)
  return { id, object: 'chat.completion.deleted', deleted: true }
}

async function listCompletions(request: AuthenticatedRequest, { archive }: Ports<'archive'>) {
  const { query, caller } = request
  const paging = readPaging(query, 'asc')
  const after = paging.after === null ? null : turnIdOfCompletion(paging.after)
  if (paging.after !== null && after === null) throw createUnknownCursorError(paging.after)
  const turns = await archive.listTurns({
    ...caller,
    model: query.get('model') || null,
    metadata: readMetadataFilter(query),
    after,
    limit: paging.limit + 1,
    order: paging.order,
  })
  return renderList(turns.slice(0, paging.limit).map(renderCompletion), turns.length > paging.limit)
}

/** Reads filters such as `metadata[topic]=weather` from the query. */
function readMetadataFilter(query: URLSearchParams): Readonly<Record<string, string>> {
  const entries = [...query].flatMap(([name, value]) => {
    const key = /^metadata\[(.+)\]$/s.exec(name)?.[1]
    return key === undefined ? [] : [[key, value] as const]
  })
  return asMetadata(Object.fromEntries(entries), 'metadata') as Readonly<Record<string, string>>
}

/** Lists all messages of the chat that came before the answer. */
async function listMessages(request: AuthenticatedRequest, { store }: Ports<'store'>) {
  const paging = readPaging(request.query, 'asc')
  const { id, turnId } = readCompletionId(request)
  const chain = await store.loadChain(request.caller, turnId)
  const last = requireCompletion(chain?.at(-1) ?? null, id)
  const messages = (chain ?? []).flatMap((turn) => {
    const input = renderMessages(removeGatewayToolItems(turn.input))
    return turn === last
      ? input
      : [...input, renderAssistantMessage(removeGatewayToolItems(turn.output))]
  })
  const withIds = messages.map((message, index) => ({ id: `${id}-${index}`, ...message }))
  return renderPage(withIds, paging, (message) => ({
    refusal: null,
    name: null,
    content_parts: null,
    ...message,
  }))
}

function renderCompletion(turn: StoredTurn): JsonObject {
  const { request, metadata, id: turnId, createdAtMs } = turn
  const body = { model: request['model'] ?? turn.origin.model, messages: PLACEHOLDER_MESSAGES }
  const clientRequest = parseRequestAndBackstoryFields(chatDialect, body)
  const answerContext = { clientRequest, turnId, createdAtMs, isStored: true }
  return {
    ...chatDialect.renderBody(buildOutcomeFromTurn(turn), answerContext),
    request_id: requestId(turnId),
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

const PLACEHOLDER_MESSAGES = [{ role: 'user', content: '' }]

async function loadCompletion(
  request: AuthenticatedRequest,
  { archive }: Ports<'archive'>,
): Promise<StoredTurn> {
  const { id, turnId } = readCompletionId(request)
  return requireCompletion(await archive.loadTurn(request.caller, turnId), id)
}

function readCompletionId({ getPathParameter }: AuthenticatedRequest) {
  const name = getPathParameter('id')
  const turnId = turnIdOfCompletion(name)
  if (turnId === null) throw createCompletionNotFoundError(name)
  return { id: completionId(turnId), turnId }
}

/**
 * Returns the turn. Throws an error if it is not a chat completion, was deleted, or did not end
 * successfully.
 */
function requireCompletion(turn: StoredTurn | null, id: string): StoredTurn {
  const isStored = turn !== null && turn.dialect === 'chat' && turn.deletedAtMs === null
  if (isStored && (turn.state === 'complete' || turn.state === 'incomplete')) return turn
  throw createCompletionNotFoundError(id)
}

function createCompletionNotFoundError(id: string): GatewayError {
  return createNotFoundError(`Chat completion with id '${shortenForError(id)}' not found.`)
}
