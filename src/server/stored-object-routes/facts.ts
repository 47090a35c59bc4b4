/**
 * Routes for facts: create, list, search and delete them. A fact belongs to a user and is used in all
 * of that user's conversations, or only in one if the request names a `conversation`.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { extractSearchTerms } from '../../core/text/search-terms.ts'
import {
  asNumber,
  asString,
  createInvalidFieldError,
  readOptional,
  rejectUnknownFields,
} from '../../dialects/checks/check-json-types.ts'
import { asDecimalBetween, asTextOfLength } from '../../dialects/checks/check-value-limits.ts'
import { createNotFoundError, type GatewayError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import { requireConversation } from './conversations.ts'
import {
  FACT_CHAR_LIMITS,
  hasSearchTerms,
  saveFact,
  MAX_FACT_AREA_CHARS,
} from '../../memory/facts/save-fact.ts'
import { rankFacts } from '../../memory/facts/rank-facts.ts'
import { USER_SCOPE, type StoredFact } from '../../store/facts/fact-store-interface.ts'
import { renderList, readPaging, createUnknownCursorError } from './paging.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import { shortenForError, requireIdPrefix, type StoredObjectRoute } from './route-interface.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export const FACT_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'POST', path: '/memory/facts', handle: createFact },
  { method: 'GET', path: '/memory/facts', handle: listOrSearchFacts },
  { method: 'GET', path: '/memory/facts/:id', handle: readFact },
  { method: 'DELETE', path: '/memory/facts/:id', handle: deleteFact },
  { method: 'DELETE', path: '/memory/facts', handle: deleteAllFacts },
]

function listOrSearchFacts(
  request: AuthenticatedRequest,
  ports: Ports<'conversations' | 'facts' | 'nowMs'>,
) {
  return request.query.has('query') ? searchFacts(request, ports) : listFacts(request, ports)
}

async function readFact(request: AuthenticatedRequest, { facts }: Ports<'facts'>) {
  const id = readFactId(request)
  const fact = await queryStoreOrThrow(() => facts.findFact(request.caller, id))
  if (fact === null) throw createFactNotFoundError(id)
  return renderFact(fact)
}

async function deleteFact(request: AuthenticatedRequest, { facts }: Ports<'facts'>) {
  const id = readFactId(request)
  if (!(await queryStoreOrThrow(() => facts.deleteFact(request.caller, id))))
    throw createFactNotFoundError(id)
  return { id, object: 'memory.fact.deleted', deleted: true }
}

async function deleteAllFacts(request: AuthenticatedRequest, { facts }: Ports<'facts'>) {
  const count = await queryStoreOrThrow(() => facts.deleteFacts(request.caller))
  return { object: 'memory.facts.deleted', deleted: true, facts: count }
}

async function createFact(
  request: AuthenticatedRequest,
  ports: Ports<'conversations' | 'facts' | 'newTurnId' | 'nowMs'>,
) {
  const body = await request.readJsonObject()
  rejectUnknownFields(body, FIELDS, null)
  const text = asFactText(body['text'], 'text')
  const validUntil = readOptional(asNumber, body['valid_until'], 'valid_until')
  const fact = {
    text,
    area: readOptional(asArea, body['area'], 'area')?.trim() ?? null,
    importance: readOptional(asImportance, body['importance'], 'importance'),
    validUntilMs: validUntil === null ? null : convertToFutureMs(validUntil, ports.nowMs()),
    scope: await loadScope(body['conversation'], request, ports),
    source: null,
  }
  return renderFact(await queryStoreOrThrow(() => saveFact(fact, request.caller, ports)))
}

const FIELDS: readonly string[] = ['text', 'area', 'importance', 'valid_until', 'conversation']

const asImportance = asDecimalBetween(0, 1)
const asArea = asTextOfLength(1, MAX_FACT_AREA_CHARS)

function asFactText(value: unknown, path: string): string {
  const trimmed = typeof value === 'string' ? value.trim() : value
  const text = asTextOfLength(FACT_CHAR_LIMITS.min, FACT_CHAR_LIMITS.max)(trimmed, path)
  if (hasSearchTerms(text)) return text
  const reason = 'it contains no searchable words, so the fact could not be found again.'
  throw createInvalidFieldError(path, reason)
}

/**
 * Converts `valid_until` to milliseconds. Like all times of this API, it is in seconds since 1970.
 */
function convertToFutureMs(seconds: number, nowMs: number): number {
  const ms = Math.floor(seconds * 1000)
  if (ms > nowMs && Number.isSafeInteger(ms)) return ms
  const reason = 'expected a time in the future, in seconds since 1970.'
  throw createInvalidFieldError('valid_until', reason)
}

async function loadScope(
  value: unknown,
  request: AuthenticatedRequest,
  ports: Ports<'conversations'>,
): Promise<string> {
  const id = readOptional(asString, value, 'conversation')
  if (id === null) return USER_SCOPE
  const conversation = requireIdPrefix(id, 'conv', 'conversation')
  await requireConversation(conversation, 'conversation', request.caller, ports)
  return conversation
}

async function listFacts(request: AuthenticatedRequest, { facts }: Ports<'facts'>) {
  const { after, limit, order } = readPaging(request.query, 'desc')
  const owner = request.caller
  if (after !== null) {
    const last = await queryStoreOrThrow(() => facts.findFact(owner, after))
    if (last === null) throw createUnknownCursorError(after)
  }
  const options = { after, order, limit: limit + 1 }
  const page = await queryStoreOrThrow(() => facts.listFacts(owner, options))
  return renderList(page.slice(0, limit).map(renderFact), page.length > limit)
}

/** Returns one page of matching facts, in the order in which a model would be sent them. */
async function searchFacts(
  request: AuthenticatedRequest,
  ports: Ports<'conversations' | 'facts' | 'nowMs'>,
) {
  const { query } = request
  const terms = extractSearchTerms(query.get('query') ?? '', MAX_SEARCH_TERMS)
  if (terms.length === 0) throw createInvalidFieldError('query', 'it contains no searchable words.')
  if (query.has('after')) throw createInvalidFieldError('after', 'a search returns only one page.')
  const { limit } = readPaging(query, 'desc')
  const scope = await loadScope(query.get('conversation'), request, ports)
  const nowMs = ports.nowMs()
  const search = {
    scopes: [scope],
    words: terms,
    nowMs,
    limit: MAX_CANDIDATES,
    rule: 'fail',
  } as const
  const found = await queryStoreOrThrow(() => ports.facts.searchFacts(request.caller, search))
  const ranked = rankFacts(found, { searchTerms: terms, nowMs, maxFacts: limit })
  return renderList(ranked.map(renderFact), false)
}

const MAX_SEARCH_TERMS = 64
const MAX_CANDIDATES = 100

function readFactId({ getPathParameter }: AuthenticatedRequest): string {
  return requireIdPrefix(getPathParameter('id'), 'fact', 'id')
}

function createFactNotFoundError(id: string): GatewayError {
  return createNotFoundError(`Fact with id '${shortenForError(id)}' not found.`)
}

function renderFact(fact: StoredFact): JsonObject {
  const { id, area, text, importance, scope, source, useCount } = fact
  return {
    id,
    object: 'memory.fact',
    created_at: convertToSeconds(fact.createdAtMs),
    text,
    area,
    importance,
    scope: scope === USER_SCOPE ? 'user' : 'conversation',
    conversation: scope.startsWith('conv_') ? scope : null,
    valid_until: fact.validUntilMs === null ? null : convertToSeconds(fact.validUntilMs),
    used_at: convertToSeconds(fact.usedAtMs),
    use_count: useCount,
    source: source === null ? null : { ...source },
  }
}

function convertToSeconds(ms: number): number {
  return Math.floor(ms / 1000)
}
