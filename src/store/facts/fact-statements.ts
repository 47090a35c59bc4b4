/** The queries of facts. All begin with whose they are; words come in as a JSON list of their names. */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList, selectJsonList } from '../database/json-list-parameter.ts'
import { FACT_COLUMNS, type FactRow } from '../database/table-row-types.ts'
import {
  belongsToRequester,
  selectFromNamedTurn,
  type ThreadKey,
  type UserKey,
} from '../deletion/expiry-and-deletion-statements.ts'
import type { OwnerKey } from '../owner.ts'
import type { FactKey, FactWords, FactPageKey, FactWordSearch, FactTouch } from './fact-keys.ts'
import type { FactPage } from './fact-store-interface.ts'

export interface FactStatements {
  /** Returns a row if there was none of these words. */
  readonly insertFact: CompiledStatement<FactRow>
  readonly updateFact: CompiledStatement<FactRow & OwnerKey>
  /** Nothing, unless the fact is there with just these words. */
  readonly insertWords: CompiledStatement<FactWords>
  readonly removeWords: CompiledStatement<FactWords>
  readonly findFact: CompiledStatement<FactKey>
  readonly factsEnding: CompiledStatement<FactKey>
  readonly listFacts: (order: FactPage['order']) => CompiledStatement<FactPageKey>
  readonly searchFacts: CompiledStatement<FactWordSearch>
  /** In how many facts each of the words stands. */
  readonly countWords: CompiledStatement<FactWordSearch>
  readonly countFacts: CompiledStatement<FactWordSearch>
  readonly coreFacts: CompiledStatement<Omit<FactWordSearch, 'words'>>
  readonly touchFacts: CompiledStatement<FactTouch>
  readonly deleteFact: CompiledStatement<FactKey>
  readonly deleteFacts: CompiledStatement<OwnerKey>
  /** What forgetting takes along. */
  readonly removeOfUser: CompiledStatement<UserKey>
  readonly removeOfThread: CompiledStatement<ThreadKey>
  readonly removeOfConversation: CompiledStatement<FactKey>
  readonly removeUnused: CompiledStatement<{
    readonly unusedSinceMs: number
    readonly limit: number
  }>
  readonly removeExpired: CompiledStatement<{ readonly nowMs: number; readonly limit: number }>
}

/** What stands in more facts than that stands everywhere. */
const MOST_COUNTED = 200

const COLUMNS = sql.join(FACT_COLUMNS.map((name) => sql.ref(`facts.${name}`)))

export function createFactStatements(language: Engine['language']): FactStatements {
  const query = createSqlCompiler(language)
  const list = { asc: listFacts('asc'), desc: listFacts('desc') }
  const pages = {
    asc: query<FactPageKey>('list-facts-asc', list.asc),
    desc: query<FactPageKey>('list-facts-desc', list.desc),
  }
  return {
    insertFact: query('insert-fact', insertFact),
    updateFact: query('update-fact', updateFact),
    insertWords: query('insert-fact-words', (slot) => insertWords(language, slot)),
    removeWords: query(
      'remove-fact-words',
      (slot) => sql`delete from fact_words where fact_words.fact_id in (
        select facts.id from facts
        where ${isOne(slot)} and facts.words = ${slot(({ name }) => name)})`,
    ),
    findFact: query('find-fact', (slot) => sql`select ${COLUMNS} from facts where ${isOne(slot)}`),
    factsEnding: query(
      'facts-ending',
      (slot) => sql`select ${COLUMNS} from facts
        where ${isOwned(slot)} and facts.id like '%' || ${slot(({ id }) => id)} limit 2`,
    ),
    listFacts: (order) => pages[order],
    searchFacts: query('search-facts', (slot) => searchFacts(language, slot)),
    countWords: query(
      'count-fact-words',
      (slot) => sql`with ${hitsOf(language, slot)}
        select word, count(*) as facts from hits group by word`,
    ),
    countFacts: query(
      'count-facts',
      (slot) => sql`select count(*) as facts from (
        select 1 as one from facts where ${isOfScopes(language, slot)}
        limit ${sql.lit(MOST_COUNTED)}) counted`,
    ),
    coreFacts: query('core-facts', (slot) => coreFacts(language, slot)),
    touchFacts: query('touch-facts', (slot) => touchFacts(language, slot)),
    deleteFact: query(
      'delete-fact',
      (slot) => sql`delete from facts where ${isOne(slot)} returning id`,
    ),
    deleteFacts: query(
      'delete-facts',
      (slot) => sql`delete from facts where ${isOwned(slot)} returning id`,
    ),
    removeOfUser: query(
      'remove-facts-of-user',
      (slot) => sql`delete from facts where ${isOwned(slot)} and user_id is not null`,
    ),
    removeOfThread: query('remove-facts-of-thread', removeOfThread),
    removeOfConversation: query('remove-facts-of-conversation', removeOfConversation),
    removeUnused: query('remove-unused-facts', (slot) => {
      const since = slot(({ unusedSinceMs }) => unusedSinceMs)
      return sql`delete from facts where used_at < ${since} and core = 0 and id in (
        select id from facts where core = 0 and used_at < ${since}
        order by used_at limit ${slot(({ limit }) => limit)})`
    }),
    removeExpired: query('remove-expired-facts', (slot) => {
      const now = slot(({ nowMs }) => nowMs)
      return sql`delete from facts where valid_until <= ${now} and id in (
        select id from facts where valid_until is not null and valid_until <= ${now}
        order by valid_until limit ${slot(({ limit }) => limit)})`
    }),
  }
}

function isOwned<Key extends OwnerKey>(slot: ParameterSlot<Key>): RawBuilder<unknown> {
  return sql`facts.tenant = ${slot(({ tenant }) => tenant)}
    and coalesce(facts.user_id, '') = ${slot(({ user }) => user)}`
}

/** Found by its id; whose it is is only compared. */
function isOne<Key extends FactKey>(slot: ParameterSlot<Key>): RawBuilder<unknown> {
  return sql`facts.id = ${slot(({ id }) => id)} and facts.tenant || '' = ${slot(({ tenant }) => tenant)}
    and coalesce(facts.user_id, '') || '' = ${slot(({ user }) => user)}`
}

function isOfScopes(
  language: Engine['language'],
  slot: ParameterSlot<Omit<FactWordSearch, 'words'>>,
): RawBuilder<unknown> {
  const scopes = slot((search) => search.scopes)
  return sql`${isOwned(slot)} and ${isInJsonList(language, sql`facts.scope`, scopes)}`
}

/**
 * The facts that have the words: of a word that stands nearly everywhere the newest only, so that what
 * a search takes does not grow with all there is.
 */
function hitsOf(
  language: Engine['language'],
  slot: ParameterSlot<FactWordSearch>,
): RawBuilder<unknown> {
  const [tenant, user] = [slot((search) => search.tenant), slot((search) => search.user)]
  const words = slot((search) => search.words)
  const scopes = slot((search) => search.scopes)
  const isOwn = sql`fact_words.tenant = ${tenant} and fact_words.user_key = ${user}`
  return sql`sought as (
      select words.value as word, scopes.value as scope, coalesce((
        select fact_words.fact_id from fact_words where ${isOwn}
        and fact_words.scope = scopes.value and fact_words.word = words.value
        order by fact_words.fact_id desc limit 1 offset ${sql.lit(MOST_COUNTED - 1)}), '') as first
      from ${listAs(language, words, 'words')} cross join ${listAs(language, scopes, 'scopes')}
    ), hits as (
      select fact_words.fact_id, fact_words.word from sought cross join fact_words
      where ${isOwn} and fact_words.scope = sought.scope and fact_words.word = sought.word
      and fact_words.fact_id >= sought.first
    )`
}

function listAs(
  language: Engine['language'],
  list: string,
  name: 'words' | 'scopes',
): RawBuilder<unknown> {
  return language === 'postgres'
    ? sql`jsonb_array_elements_text(cast(${list} as jsonb)) as ${sql.ref(name)}(value)`
    : sql`json_each(${list}) as ${sql.ref(name)}`
}

/** What has run out is as good as gone, even before it is removed. */
function isValid(slot: ParameterSlot<Omit<FactWordSearch, 'words'>>): RawBuilder<unknown> {
  return sql`(facts.valid_until is null or facts.valid_until > ${slot(({ nowMs }) => nowMs)})`
}

function insertFact(slot: ParameterSlot<FactRow>): RawBuilder<unknown> {
  const values = FACT_COLUMNS.map((name) => slot((row) => row[name]))
  return sql`insert into facts (${sql.join(FACT_COLUMNS.map((name) => sql.ref(name)))})
    values (${sql.join(values)}) on conflict do nothing returning id`
}

const CHANGING = [
  'body',
  'importance',
  'core',
  'words',
  'word_key',
  'valid_until',
  'changed_at',
  'used_at',
  'use_count',
] as const

/** Not in the place of another one of these words, which is there already then. */
function updateFact(slot: ParameterSlot<FactRow & OwnerKey>): RawBuilder<unknown> {
  const values = CHANGING.map((name) => sql`${sql.ref(name)} = ${slot((row) => row[name])}`)
  return sql`update facts set ${sql.join(values)} where ${isOne(slot)} and not exists (
    select 1 from facts other where other.tenant = facts.tenant
    and coalesce(other.user_id, '') = coalesce(facts.user_id, '') and other.scope = facts.scope
    and other.words = ${slot(({ words }) => words)} and other.id <> facts.id)`
}

function insertWords(
  language: Engine['language'],
  slot: ParameterSlot<FactWords>,
): RawBuilder<unknown> {
  const words = slot((fact) => fact.words)
  return sql`insert into fact_words (tenant, user_key, scope, word, fact_id)
    select facts.tenant, coalesce(facts.user_id, ''), facts.scope, wanted.value, facts.id
    from facts, ${selectJsonList(language, words)}
    where ${isOne(slot)} and facts.words = ${slot(({ name }) => name)} on conflict do nothing`
}

function listFacts(order: FactPage['order']) {
  return (slot: ParameterSlot<FactPageKey>): RawBuilder<unknown> => {
    const after = slot((page) => page.after)
    const isBehind = order === 'asc' ? sql`facts.id > ${after}` : sql`facts.id < ${after}`
    return sql`select ${COLUMNS} from facts where ${isOwned(slot)} and ${isBehind}
      order by facts.id ${order === 'asc' ? sql`asc` : sql`desc`} limit ${slot(({ limit }) => limit)}`
  }
}

/** The weight of a word is what it tells: the fewer facts have it, the more. */
function searchFacts(
  language: Engine['language'],
  slot: ParameterSlot<FactWordSearch>,
): RawBuilder<unknown> {
  return sql`with ${hitsOf(language, slot)}, weights as (
      select word, 1.0 / count(*) as weight from hits group by word
    ), best as (
      select hits.fact_id, sum(weights.weight) as weight
      from hits join weights on weights.word = hits.word join facts on facts.id = hits.fact_id
      where ${isValid(slot)} group by hits.fact_id
      order by weight desc, hits.fact_id desc limit ${slot(({ limit }) => limit)}
    )
    select ${COLUMNS} from best join facts on facts.id = best.fact_id
    order by best.weight desc, facts.id desc`
}

function coreFacts(
  language: Engine['language'],
  slot: ParameterSlot<Omit<FactWordSearch, 'words'>>,
): RawBuilder<unknown> {
  return sql`select ${COLUMNS} from facts
    where ${isOfScopes(language, slot)} and facts.core = 1 and ${isValid(slot)}
    order by facts.importance desc, facts.id limit ${slot(({ limit }) => limit)}`
}

function touchFacts(
  language: Engine['language'],
  slot: ParameterSlot<FactTouch>,
): RawBuilder<unknown> {
  const ids = slot((touch) => touch.ids)
  return sql`update facts set used_at = ${slot(({ nowMs }) => nowMs)}, use_count = use_count + 1
    where ${isInJsonList(language, sql`facts.id`, ids)} and facts.tenant || '' = ${slot(({ tenant }) => tenant)}
    and coalesce(facts.user_id, '') || '' = ${slot(({ user }) => user)}
    and facts.used_at + 0 < ${slot(({ beforeMs }) => beforeMs)}`
}

/** To be asked while the turn is there. */
function removeOfThread(slot: ParameterSlot<ThreadKey>): RawBuilder<unknown> {
  const thread = selectFromNamedTurn(slot, sql`turns.thread`)
  const conversation = selectFromNamedTurn(slot, sql`turns.conversation`)
  return sql`delete from facts where facts.tenant || '' = ${slot(({ tenant }) => tenant)}
    and facts.scope <> 'user' and facts.scope in (${thread} union all ${conversation})
    and ${belongsToRequester(slot, sql`facts.user_id`)}`
}

/** Once the conversation is gone, and only then, and while its turns are there. */
function removeOfConversation(slot: ParameterSlot<FactKey>): RawBuilder<unknown> {
  const id = slot((key) => key.id)
  return sql`delete from facts where facts.scope <> 'user' and facts.scope in (
      select turns.thread from turns where turns.conversation = ${id} union all select ${id})
    and facts.tenant || '' = ${slot(({ tenant }) => tenant)}
    and coalesce(facts.user_id, '') || '' = ${slot(({ user }) => user)}
    and not exists (select 1 from conversations where conversations.id = ${id})`
}
