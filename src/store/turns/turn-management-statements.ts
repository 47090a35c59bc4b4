/** SQL that lists, updates and deletes turns and finds them by content. */
import { sql } from 'kysely'
import { MAX_CONTENT_HASHES, type TurnPage } from './turn-management-store-interface.ts'
import {
  createStatementCompiler,
  type CompiledStatement,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInSelection } from '../database/json-list-parameter.ts'
import { withDeletableChain } from '../deletion/deletable-chain.ts'
import { isTurnErased, selectDeletedAt } from '../deletion/erased-conditions.ts'
import { isTurnOfOwner, TURN_USER, type OwnedRowKey, type OwnerKey } from '../owner.ts'
import { deletePiecesOfEvents } from '../pieces/text-piece-statements.ts'
import { MAX_BYTES_AT_ONCE } from './read-items-in-slices.ts'
import { selectTurnColumns, STORED_SIZE_BYTES } from './turn-statements.ts'

interface TurnOfDialectKey extends OwnedRowKey {
  readonly dialect: string
}

export type TurnPageShape = Pick<TurnPage, 'order'> & {
  readonly labelCount: number
  /** True if only turns of one model are listed. */
  readonly hasModel: boolean
}

export interface TurnListQuery extends OwnerKey {
  readonly after: string
  readonly limit: number
  /** Name of the model; not used if the shape of the list has none. */
  readonly model: string
  /** Each label as in the JSON of the column, e.g. `,"topic":"cats"`. */
  readonly labels: readonly string[]
}

export type TurnManagementStatements = ReturnType<typeof createTurnManagementStatements>

export function createTurnManagementStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  const listings = new Map<string, CompiledStatement<TurnListQuery>>()
  const compileListing = (
    name: string,
    shape: TurnPageShape,
    build: (page: SqlFragment) => SqlFragment,
  ): CompiledStatement<TurnListQuery> => {
    const key = `${name}-${shape.order}-${shape.labelCount}${shape.hasModel ? '-of-model' : ''}`
    const known = listings.get(key)
    if (known !== undefined) return known
    const compiled = compile<TurnListQuery>(key, (slot) =>
      build(fromPageOfTurns(slot, shape, language)),
    )
    listings.set(key, compiled)
    return compiled
  }
  return {
    turnState: compile('turn-state', selectTurnState),
    /** Returns the items of a turn, unless they are too large to be read at once. */
    turnItems: compile<OwnedRowKey>(
      'turn-items',
      (slot) => sql`select turn_id, side, position, body, hidden from items
        where turn_id = ${slot('id')} and tenant = ${slot('tenant')}
        and exists (${selectTurnState(slot)}
          and ${STORED_SIZE_BYTES} <= ${sql.lit(MAX_BYTES_AT_ONCE)})`,
    ),
    markDeleted: compile<TurnOfDialectKey & { readonly nowMs: number }>(
      'mark-deleted',
      (slot) => sql`update turns set deleted_at = ${slot('nowMs')}
        where ${isTurnOfDialect(slot)} and state not in ('queued', 'open')`,
    ),
    deleteEvents: compile('delete-events', deleteEvents),
    deletePiecesOfEvents: compile('delete-pieces-of-events', (slot: ParameterSlot<OwnedRowKey>) =>
      deletePiecesOfEvents(selectDeletedTurn(slot)),
    ),
    deleteTurns: compile('remove-turns', deleteTurns),
    /** Replaces the metadata, and returns a row, if the turn exists. */
    updateMetadata: compile<TurnOfDialectKey & { readonly metadata: string }>(
      'relabel-turn',
      (slot) => sql`update turns set metadata = ${slot('metadata')}
        where ${isTurnOfDialect(slot)} and state in ('complete', 'incomplete') returning id`,
    ),
    findTurnsByContent: compile('content-turns', selectTurnsByContent),
    listTurns: (shape: TurnPageShape) =>
      compileListing(
        'listed-turns',
        shape,
        (page) => sql`select ${selectTurnColumns()} from turns ${page}`,
      ),
    listItems: (shape: TurnPageShape) =>
      compileListing(
        'listed-items',
        shape,
        (page) => sql`select turn_id, side, position, body, hidden from items
          where turn_id in (select turns.id from turns ${page}) and side = 'out'`,
      ),
  }
}

function selectTurnState(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`select state, dialect, ${selectDeletedAt()} as deleted_at from turns
    where turns.id = ${slot('id')} and ${isTurnOfOwner(slot)}`
}

/**
 * True for the turn with this id if it belongs to the owner, has this dialect and is not deleted.
 */
function isTurnOfDialect(slot: ParameterSlot<TurnOfDialectKey>): SqlFragment {
  return sql`turns.id = ${slot('id')} and ${isTurnOfOwner(slot)}
    and turns.dialect = ${slot('dialect')} and ${selectDeletedAt()} is null`
}

/** Deletes the events of a deleted turn, because no client can read them any more. */
function deleteEvents(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`delete from stream_events where turn_id in (${selectDeletedTurn(slot)})`
}

function selectDeletedTurn(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`select turns.id from turns where turns.id = ${slot('id')} and ${isTurnOfOwner(slot)}
    and turns.deleted_at is not null`
}

/**
 * Deletes a turn that is marked as deleted, then its parent if the parent is marked too, and so on,
 * up to a turn that another turn or a conversation needs, or to the limit of one transaction. Items are deleted with
 * their turns.
 */
function deleteTurns(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`${withDeletableChain(slot, isTurnOfOwner(slot))}
    delete from turns where id in (select deletable.id from deletable where deletable.is_next = 0)`
}

/**
 * Selects the latest turn with each hash. Each is looked up alone, because many turns have the same hash if
 * a client repeats a request. Outer joins force planners to start with the hashes, even without statistics.
 * A hash without a turn returns a row of nulls.
 */
function selectTurnsByContent(
  slot: ParameterSlot<OwnerKey & { readonly hashes: readonly string[] }>,
): SqlFragment {
  const hashes = Array.from(
    { length: MAX_CONTENT_HASHES },
    (_, index) => sql`(${slot(({ hashes }) => hashes[index] ?? '')})`,
  )
  return sql`with wanted(hash) as (values ${sql.join(hashes)})
    select turns.id, turns.thread, turns.depth, turns.digests, turns.content_hash from wanted
    left join turns on turns.id = (
      select same.id from turns same where same.content_hash = wanted.hash
      and same.tenant = ${slot('tenant')} and coalesce(same.user_id, '') = ${slot('user')}
      and same.deleted_at is null and ${selectDeletedAt('same')} is null
      and not ${isTurnErased('same')} order by same.id desc limit 1)`
}

/**
 * Selects a page of completed turns. Each label is searched as `,"topic":"cats"` in the JSON text
 * of the metadata. A label's value cannot be mistaken for another label, because quotes in it are
 * escaped. Turns without a content hash are not listed: they were recorded for recall only.
 */
function fromPageOfTurns(
  slot: ParameterSlot<TurnListQuery>,
  { order, labelCount, hasModel }: TurnPageShape,
  language: Engine['language'],
): SqlFragment {
  const findText = sql.raw(language === 'postgres' ? 'strpos' : 'instr')
  const hasLabels = Array.from({ length: labelCount }, (_, index) => {
    const label = slot((listing) => listing.labels[index] ?? '')
    return sql`and ${findText}(',' || substr(turns.metadata, 2), ${label}) > 0`
  })
  // The condition of the index on labelled turns; with a model, the index on models is used.
  const isLabelled = labelCount > 0 && !hasModel ? sql`and turns.metadata <> '{}'` : sql``
  const sorted = sql`order by turns.id ${sql.raw(order)} limit ${slot('limit')}`
  const isOnPage = sql`${isListedTurn(slot)}
    and turns.id ${sql.raw(order === 'asc' ? '>' : '<')} ${slot('after')}
    ${isLabelled} ${sql.join(hasLabels, sql` `)}`
  if (!hasModel) return sql`where ${isOnPage} ${sorted}`
  const model = slot('model')
  const selectPage = (isModel: SqlFragment) => sql`select * from (
    select turns.id from turns where ${isOnPage} and ${isModel} ${sorted}) page`
  const pages = sql`${selectPage(hasModelName(sql`turns.model`, model))}
    union all
    ${selectPage(sql`${hasModelName(sql`turns.served_model`, model)} and turns.served_model <> turns.model`)}`
  return sql`where ${isInSelection(language, sql`turns.id`, pages)} ${sorted}`
}

/** The condition of the indexes on listed turns, on rows of the owner. */
function isListedTurn(slot: ParameterSlot<OwnerKey>): SqlFragment {
  return sql`turns.tenant = ${slot('tenant')} and ${TURN_USER} = ${slot('user')}
    and turns.dialect = 'chat' and turns.content_hash is not null and turns.deleted_at is null
    and turns.state in ('complete', 'incomplete')
    and ${selectDeletedAt()} is null and not ${isTurnErased()}`
}

/** Compares the complete name, and its beginning, which is in the index. */
function hasModelName(column: SqlFragment, model: string): SqlFragment {
  return sql`substr(${column}, 1, 200) = substr(cast(${model} as text), 1, 200) and ${column} = ${model}`
}
