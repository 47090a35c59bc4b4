/**
 * Facts that are kept for later conversations: written, listed, searched and deleted by whose they
 * are. With a conversation a fact is for that one alone.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { extractSearchTerms } from '../../core/text/search-terms.ts'
import {
  asNumber,
  asString,
  readOptional,
  rejectUnknownFields,
} from '../../dialects/checks/check-json-types.ts'
import { asDecimalBetween, asTextOfLength } from '../../dialects/checks/check-value-limits.ts'
import { GatewayError, createNotFoundError } from '../../core/errors/gateway-error.ts'
import { queryStoreOrThrow } from '../../store/query-store-or-throw.ts'
import { createConversationNotFoundError } from '../../gateway/history/lock-conversation.ts'
import {
  FACT_CHAR_LIMITS,
  hasSearchTerms,
  saveFact,
  MAX_AREA_CHARS,
} from '../../memory/facts/save-fact.ts'
import { rankFacts } from '../../memory/facts/rank-facts.ts'
import { USER_SCOPE, type StoredFact } from '../../store/facts/fact-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { renderList, readPaging, createUnknownCursorError, type Paging } from './paging.ts'
import {
  shortenForError,
  requireIdPrefix,
  type StoredObjectRoute,
  type StoredObjectRequest,
} from './route-interface.ts'

export const FACT_ROUTES: readonly StoredObjectRoute[] = [
  { method: 'POST', path: '/memory/facts', answer: createFact },
  {
    method: 'GET',
    path: '/memory/facts',
    answer: (asked, world) =>
      asked.query.has('query') ? searchFacts(asked, world) : listFacts(asked, world),
  },
  {
    method: 'GET',
    path: '/memory/facts/:id',
    async answer(asked, { facts }) {
      const id = idIn(asked)
      const fact = await queryStoreOrThrow(() => facts.findFact(ownerOf(asked), id))
      if (fact === null) throw unknownFact(id)
      return shown(fact)
    },
  },
  {
    method: 'DELETE',
    path: '/memory/facts/:id',
    async answer(asked, { facts }) {
      const id = idIn(asked)
      if (!(await queryStoreOrThrow(() => facts.deleteFact(ownerOf(asked), id))))
        throw unknownFact(id)
      return { id, object: 'memory.fact.deleted', deleted: true }
    },
  },
  {
    method: 'DELETE',
    path: '/memory/facts',
    async answer(asked, { facts }) {
      const count = await queryStoreOrThrow(() => facts.deleteFacts(ownerOf(asked)))
      return { object: 'memory.facts.deleted', deleted: true, facts: count }
    },
  },
]

async function createFact(
  asked: StoredObjectRequest,
  world: GatewayDependencies,
): Promise<JsonObject> {
  const said = await asked.body()
  rejectUnknownFields(said, FIELDS, null)
  const text = asFactText(said['text'], 'text')
  const validUntil = readOptional(asNumber, said['valid_until'], 'valid_until')
  const fact = {
    text,
    area: readOptional(asArea, said['area'], 'area')?.trim() ?? null,
    importance: readOptional(asImportance, said['importance'], 'importance'),
    validUntilMs: validUntil === null ? null : untilMs(validUntil, world.nowMs()),
    scope: await scopeIn(said['conversation'], asked, world),
    source: null,
  }
  return shown(await queryStoreOrThrow(() => saveFact(fact, ownerOf(asked), world)))
}

const FIELDS: readonly string[] = ['text', 'area', 'importance', 'valid_until', 'conversation']

const asImportance = asDecimalBetween(0, 1)
const asArea = asTextOfLength(1, MAX_AREA_CHARS)

function asFactText(value: unknown, path: string): string {
  const text = asTextOfLength(FACT_CHAR_LIMITS.least, FACT_CHAR_LIMITS.most)(
    typeof value === 'string' ? value.trim() : value,
    path,
  )
  if (hasSearchTerms(text)) return text
  throw invalid(path, 'there are no words in it, and by those a fact is found.')
}

/** Times are told in seconds, as everywhere in this API. */
function untilMs(seconds: number, nowMs: number): number {
  const ms = Math.floor(seconds * 1000)
  if (ms > nowMs && Number.isSafeInteger(ms)) return ms
  throw invalid('valid_until', 'expected a time to come, in seconds since 1970.')
}

async function scopeIn(
  value: unknown,
  asked: StoredObjectRequest,
  world: GatewayDependencies,
): Promise<string> {
  const id = readOptional(asString, value, 'conversation')
  if (id === null) return USER_SCOPE
  const conversation = requireIdPrefix(id, 'conv', 'conversation')
  const found = await queryStoreOrThrow(() =>
    world.conversations.findConversation(ownerOf(asked), conversation),
  )
  if (found === null) throw createConversationNotFoundError(conversation, 'conversation')
  return conversation
}

async function listFacts(
  asked: StoredObjectRequest,
  { facts }: GatewayDependencies,
): Promise<JsonObject> {
  const { after, limit, order }: Paging = readPaging(asked.query, 'desc')
  const owner = ownerOf(asked)
  if (after !== null) {
    const last = await queryStoreOrThrow(() => facts.findFact(owner, after))
    if (last === null) throw createUnknownCursorError(after)
  }
  const page = await queryStoreOrThrow(() =>
    facts.listFacts(owner, { after, order, limit: limit + 1 }),
  )
  return renderList(page.slice(0, limit).map(shown), page.length > limit)
}

/** The best first, in one page: as a model would be told them. */
async function searchFacts(
  asked: StoredObjectRequest,
  world: GatewayDependencies,
): Promise<JsonObject> {
  const { query } = asked
  const words = extractSearchTerms(query.get('query') ?? '', MOST_WORDS)
  if (words.length === 0) throw invalid('query', 'there are no words in it.')
  if (query.has('after')) throw invalid('after', 'what is searched for is one page.')
  const { limit } = readPaging(query, 'desc')
  const scope = await scopeIn(query.get('conversation'), asked, world)
  const nowMs = world.nowMs()
  const search = { scopes: [scope], words, nowMs, limit: MOST_CANDIDATES }
  const found = await queryStoreOrThrow(() => world.facts.searchFacts(ownerOf(asked), search))
  return renderList(rankFacts(found, { words, nowMs, most: limit }).map(shown), false)
}

const MOST_WORDS = 64
const MOST_CANDIDATES = 100

function idIn({ named }: StoredObjectRequest): string {
  return requireIdPrefix(named('id'), 'fact', 'id')
}

function ownerOf({ caller: { tenant, user } }: StoredObjectRequest): Caller {
  return { tenant, user }
}

function unknownFact(id: string): GatewayError {
  return createNotFoundError(`Fact with id '${shortenForError(id)}' not found.`)
}

function invalid(param: string, why: string): GatewayError {
  return new GatewayError('invalid_value', `Invalid '${param}': ${why}`, { param })
}

function shown(fact: StoredFact): JsonObject {
  const { id, area, text, importance, scope, source, useCount } = fact
  return {
    id,
    object: 'memory.fact',
    created_at: seconds(fact.createdAtMs),
    text,
    area,
    importance,
    scope: scope === USER_SCOPE ? 'user' : 'conversation',
    conversation: scope.startsWith('conv_') ? scope : null,
    valid_until: fact.validUntilMs === null ? null : seconds(fact.validUntilMs),
    used_at: seconds(fact.usedAtMs),
    use_count: useCount,
    source: source === null ? null : { ...source },
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
