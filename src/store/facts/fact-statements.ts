/**
 * SQL for facts. The statements for clients find only facts of one owner; others delete facts that
 * are expired, unused, or of a deleted thread or conversation. Search terms are passed as a JSON
 * list of their hashes.
 */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList, isInSelection, selectJsonList } from '../database/json-list-parameter.ts'
import { FACT_COLUMNS, type FactRow } from '../database/table-row-types.ts'
import {
  belongsToRequester,
  selectFromDeletableTurn,
  type ThreadKey,
  type UnusedRowLimit,
} from '../deletion/expiry-and-deletion-statements.ts'
import { isRowErased } from '../deletion/erased-conditions.ts'
import { isRowOfOwner, isRowOfOwnerUnindexed, type OwnedRowKey, type OwnerKey } from '../owner.ts'
import type { FactPage } from './fact-store-interface.ts'
import {
  FACT_COLUMN_LIST,
  MAX_COUNTED_FACTS,
  searchFacts,
  selectCoreFacts,
  selectInScopes,
  withHits,
  type FactTermSearch,
} from './find-facts.ts'

export interface FactTerms extends OwnedRowKey {
  readonly termHashes: string
  readonly allTermsHash: string
}

export interface FactPageKey extends OwnerKey {
  readonly after: string
  readonly limit: number
}

export interface FactTouch extends OwnerKey {
  readonly ids: string
  readonly nowMs: number
  readonly usedBeforeMs: number
}

export function createFactStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const pages = {
    asc: compile<FactPageKey>('list-facts-asc', (slot) => listFacts(slot, sql`>`, sql`asc`)),
    desc: compile<FactPageKey>('list-facts-desc', (slot) => listFacts(slot, sql`<`, sql`desc`)),
  }
  return {
    /**
     * Inserts a fact, and returns a row, unless the owner has a fact with the same scope and the
     * same terms.
     */
    insertFact: compile('insert-fact', insertFact),
    /**
     * Deletes a fact with the same terms that is being deleted anyway, so that `insertFact` finds
     * none.
     */
    removeErased: compile<FactRow>(
      'remove-erased-fact',
      (slot) => sql`delete from facts where facts.tenant = ${slot('tenant')}
        and coalesce(facts.user_id, '') = ${slot(({ user_id: user }) => user ?? '')}
        and facts.scope = ${slot('scope')} and facts.words = ${slot('words')}
        and ${isRowErased('facts')}`,
    ),
    updateFact: compile('update-fact', updateFact),
    /** Inserts the search terms of a fact, if the fact exists and has exactly these terms. */
    insertWords: compile<FactTerms>('insert-fact-words', (slot) => insertWords(language, slot)),
    removeWords: compile<FactTerms>(
      'remove-fact-words',
      (slot) => sql`delete from fact_words where fact_words.fact_id in (
        select facts.id from facts
        where ${isFactWithId(slot)} and facts.words = ${slot('allTermsHash')})`,
    ),
    findFact: compile<OwnedRowKey>(
      'find-fact',
      (slot) => sql`select ${FACT_COLUMN_LIST} from facts where ${isFactWithId(slot)}`,
    ),
    factsEnding: compile<OwnedRowKey>(
      'facts-ending',
      (slot) => sql`select ${FACT_COLUMN_LIST} from facts
        where ${isRowOfOwner('facts', slot)} and facts.id like '%' || ${slot('id')} limit 2`,
    ),
    listFacts: (order: FactPage['order']) => pages[order],
    searchFacts: compile<FactTermSearch>('search-facts', (slot) => searchFacts(language, slot)),
    /** Returns the number of facts that contain each term. */
    countWords: compile<FactTermSearch>(
      'count-fact-words',
      (slot) => sql`with ${withHits(language, slot)}
        select word, count(*) as facts from hits group by word`,
    ),
    countFacts: compile<FactTermSearch>(
      'count-facts',
      (slot) => sql`select count(*) as facts from (
        ${selectInScopes(language, slot, { columns: sql`facts.id`, condition: sql`1 = 1` })}
        limit ${sql.lit(MAX_COUNTED_FACTS)}) counted`,
    ),
    coreFacts: compile<Omit<FactTermSearch, 'termHashes'>>('core-facts', (slot) =>
      selectCoreFacts(language, slot),
    ),
    touchFacts: compile<FactTouch>('touch-facts', (slot) => touchFacts(language, slot)),
    deleteFact: compile<OwnedRowKey>(
      'delete-fact',
      (slot) => sql`delete from facts where ${isFactWithId(slot)} returning id`,
    ),
    deleteFacts: compile<OwnerKey>(
      'delete-facts',
      (slot) => sql`delete from facts where ${isRowOfOwner('facts', slot)} returning id`,
    ),
    /** Deletes the facts of a thread. This and the next statement are parts of larger deletions. */
    removeOfThread: compile<ThreadKey>('remove-facts-of-thread', (slot) =>
      removeOfThread(language, slot),
    ),
    removeOfConversation: compile<OwnedRowKey>('remove-facts-of-conversation', (slot) =>
      removeOfConversation(language, slot),
    ),
    removeUnused: compile<UnusedRowLimit>('remove-unused-facts', (slot) => {
      const since = slot('unusedSinceMs')
      return sql`delete from facts where used_at < ${since} and core = 0 and id in (
        select id from facts where core = 0 and used_at < ${since}
        order by used_at limit ${slot('limit')}) returning id`
    }),
    removeExpired: compile<{ readonly nowMs: number; readonly limit: number }>(
      'remove-expired-facts',
      (slot) => {
        const now = slot('nowMs')
        return sql`delete from facts where valid_until <= ${now} and id in (
        select id from facts where valid_until is not null and valid_until <= ${now}
        order by valid_until limit ${slot('limit')}) returning id`
      },
    ),
  }
}

function isFactWithId(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`facts.id = ${slot('id')} and ${isRowOfOwnerUnindexed('facts', slot)}`
}

function insertFact(slot: ParameterSlot<FactRow>): SqlFragment {
  const values = FACT_COLUMNS.map((name) => slot(name))
  return sql`insert into facts (${sql.join(FACT_COLUMNS.map((name) => sql.ref(name)))})
    values (${sql.join(values)}) on conflict do nothing returning id`
}

const UPDATED_COLUMNS = [
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

/** Updates a fact, unless the owner has another fact with the same scope and the same terms. */
function updateFact(slot: ParameterSlot<FactRow & OwnerKey>): SqlFragment {
  const values = UPDATED_COLUMNS.map((name) => sql`${sql.ref(name)} = ${slot(name)}`)
  return sql`update facts set ${sql.join(values)} where ${isFactWithId(slot)} and not exists (
    select 1 from facts other where other.tenant = facts.tenant
    and coalesce(other.user_id, '') = coalesce(facts.user_id, '') and other.scope = facts.scope
    and other.words = ${slot('words')} and other.id <> facts.id)`
}

function insertWords(language: Engine['language'], slot: ParameterSlot<FactTerms>): SqlFragment {
  return sql`insert into fact_words (tenant, user_key, scope, word, fact_id)
    select facts.tenant, coalesce(facts.user_id, ''), facts.scope, wanted.value, facts.id
    from facts, ${selectJsonList(language, slot('termHashes'))}
    where ${isFactWithId(slot)} and facts.words = ${slot('allTermsHash')} on conflict do nothing`
}

function listFacts(
  slot: ParameterSlot<FactPageKey>,
  comparison: SqlFragment,
  order: SqlFragment,
): SqlFragment {
  return sql`select ${FACT_COLUMN_LIST} from facts
    where ${isRowOfOwner('facts', slot)} and facts.id ${comparison} ${slot('after')}
    order by facts.id ${order} limit ${slot('limit')}`
}

function touchFacts(language: Engine['language'], slot: ParameterSlot<FactTouch>): SqlFragment {
  const ids = slot('ids')
  return sql`update facts set used_at = ${slot('nowMs')}, use_count = use_count + 1
    where ${isInJsonList(language, sql`facts.id`, ids)} and ${isRowOfOwnerUnindexed('facts', slot)}
    and facts.used_at + 0 < ${slot('usedBeforeMs')}`
}

/** Deletes the facts of a deleted thread. Must run before the turn `turnId` is deleted. */
function removeOfThread(language: Engine['language'], slot: ParameterSlot<ThreadKey>): SqlFragment {
  const thread = selectFromDeletableTurn(slot, sql`turns.thread`)
  const conversation = selectFromDeletableTurn(slot, sql`turns.conversation`)
  return sql`delete from facts where facts.tenant || '' = ${slot('tenant')}
    and facts.scope <> 'user'
    and ${isInSelection(language, sql`facts.scope`, sql`${thread} union all ${conversation}`)}
    and ${belongsToRequester(slot, sql`facts.user_id`)}`
}

/** Deletes the facts of a deleted conversation. Must run before its turns are deleted. */
function removeOfConversation(
  language: Engine['language'],
  slot: ParameterSlot<OwnedRowKey>,
): SqlFragment {
  const id = slot('id')
  const scopes = sql`select turns.thread from turns where turns.conversation = ${id}
    union all select ${id}`
  return sql`delete from facts where facts.scope <> 'user'
    and ${isInSelection(language, sql`facts.scope`, scopes)}
    and ${isRowOfOwnerUnindexed('facts', slot)}
    and not exists (select 1 from conversations where conversations.id = ${id})`
}
