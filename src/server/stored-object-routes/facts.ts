/**
 * Facts that are kept for later conversations: written, listed, searched and deleted by whose they
 * are. With a conversation a fact is for that one alone.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { wordsOf } from '../../core/text/search-terms.ts'
import { asNumber, asString, maybe, refuseOthers } from '../../dialects/checks/check-json-types.ts'
import { asDecimalIn, asTextIn } from '../../dialects/checks/check-value-limits.ts'
import { GatewayError, notFound } from '../../core/errors/gateway-error.ts'
import { askMemory } from '../../store/query-store-or-throw.ts'
import { unknownConversation } from '../../gateway/history/lock-conversation.ts'
import { FACT_CHARS, hasWords, keepFact, MOST_AREA_CHARS } from '../../memory/facts/save-fact.ts'
import { rankFacts } from '../../memory/facts/rank-facts.ts'
import { USER_SCOPE, type StoredFact } from '../../store/facts/fact-store-interface.ts'
import type { Caller } from '../../core/client/caller.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { listOf, pagingIn, unknownCursor, type Paging } from './paging.ts'
import { shortened, withPrefix, type Resource, type ResourceRequest } from './route-interface.ts'

export const FACTS: readonly Resource[] = [
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
      const fact = await askMemory(() => facts.findFact(ownerOf(asked), id))
      if (fact === null) throw unknownFact(id)
      return shown(fact)
    },
  },
  {
    method: 'DELETE',
    path: '/memory/facts/:id',
    async answer(asked, { facts }) {
      const id = idIn(asked)
      if (!(await askMemory(() => facts.deleteFact(ownerOf(asked), id)))) throw unknownFact(id)
      return { id, object: 'memory.fact.deleted', deleted: true }
    },
  },
  {
    method: 'DELETE',
    path: '/memory/facts',
    async answer(asked, { facts }) {
      const count = await askMemory(() => facts.deleteFacts(ownerOf(asked)))
      return { object: 'memory.facts.deleted', deleted: true, facts: count }
    },
  },
]

async function createFact(asked: ResourceRequest, world: World): Promise<JsonObject> {
  const said = await asked.body()
  refuseOthers(said, FIELDS, null)
  const text = asFactText(said['text'], 'text')
  const validUntil = maybe(asNumber, said['valid_until'], 'valid_until')
  const fact = {
    text,
    area: maybe(asArea, said['area'], 'area')?.trim() ?? null,
    importance: maybe(asImportance, said['importance'], 'importance'),
    validUntilMs: validUntil === null ? null : untilMs(validUntil, world.nowMs()),
    scope: await scopeIn(said['conversation'], asked, world),
    source: null,
  }
  return shown(await askMemory(() => keepFact(fact, ownerOf(asked), world)))
}

const FIELDS: readonly string[] = ['text', 'area', 'importance', 'valid_until', 'conversation']

const asImportance = asDecimalIn(0, 1)
const asArea = asTextIn(1, MOST_AREA_CHARS)

function asFactText(value: unknown, path: string): string {
  const text = asTextIn(FACT_CHARS.least, FACT_CHARS.most)(
    typeof value === 'string' ? value.trim() : value,
    path,
  )
  if (hasWords(text)) return text
  throw invalid(path, 'there are no words in it, and by those a fact is found.')
}

/** Times are told in seconds, as everywhere in this API. */
function untilMs(seconds: number, nowMs: number): number {
  const ms = Math.floor(seconds * 1000)
  if (ms > nowMs && Number.isSafeInteger(ms)) return ms
  throw invalid('valid_until', 'expected a time to come, in seconds since 1970.')
}

async function scopeIn(value: unknown, asked: ResourceRequest, world: World): Promise<string> {
  const id = maybe(asString, value, 'conversation')
  if (id === null) return USER_SCOPE
  const conversation = withPrefix(id, 'conv', 'conversation')
  const found = await askMemory(() =>
    world.conversations.findConversation(ownerOf(asked), conversation),
  )
  if (found === null) throw unknownConversation(conversation, 'conversation')
  return conversation
}

async function listFacts(asked: ResourceRequest, { facts }: World): Promise<JsonObject> {
  const { after, limit, order }: Paging = pagingIn(asked.query, 'desc')
  const owner = ownerOf(asked)
  if (after !== null) {
    const last = await askMemory(() => facts.findFact(owner, after))
    if (last === null) throw unknownCursor(after)
  }
  const page = await askMemory(() => facts.listFacts(owner, { after, order, limit: limit + 1 }))
  return listOf(page.slice(0, limit).map(shown), page.length > limit)
}

/** The best first, in one page: as a model would be told them. */
async function searchFacts(asked: ResourceRequest, world: World): Promise<JsonObject> {
  const { query } = asked
  const words = wordsOf(query.get('query') ?? '', MOST_WORDS)
  if (words.length === 0) throw invalid('query', 'there are no words in it.')
  if (query.has('after')) throw invalid('after', 'what is searched for is one page.')
  const { limit } = pagingIn(query, 'desc')
  const scope = await scopeIn(query.get('conversation'), asked, world)
  const nowMs = world.nowMs()
  const search = { scopes: [scope], words, nowMs, limit: MOST_CANDIDATES }
  const found = await askMemory(() => world.facts.searchFacts(ownerOf(asked), search))
  return listOf(rankFacts(found, { words, nowMs, most: limit }).map(shown), false)
}

const MOST_WORDS = 64
const MOST_CANDIDATES = 100

function idIn({ named }: ResourceRequest): string {
  return withPrefix(named('id'), 'fact', 'id')
}

function ownerOf({ caller: { tenant, user } }: ResourceRequest): Caller {
  return { tenant, user }
}

function unknownFact(id: string): GatewayError {
  return notFound(`Fact with id '${shortened(id)}' not found.`)
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
