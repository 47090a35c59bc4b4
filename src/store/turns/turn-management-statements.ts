/** The queries of the archive. What follows chains of turns is written in SQL, where it is shortest. */
import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely'
import { MAX_CONTENT_HASHES, type TurnPage } from './turn-management-store-interface.ts'
import {
  compileStatement,
  createQueryBuilder,
  toCompilable,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import type { OwnerKey } from '../owner.ts'
import { isTurnOfOwner, TURN_TENANT, TURN_USER } from './turn-statements.ts'
import { TURN_COLUMNS, type Tables } from '../database/table-row-types.ts'

export interface TurnManagementStatements {
  readonly turnState: CompiledStatement<OwnedTurnKey>
  readonly turnItems: CompiledStatement<OwnedTurnKey>
  readonly markDeleted: CompiledStatement<TurnDeletionMark>
  readonly forgetEvents: CompiledStatement<OwnedTurnKey>
  readonly removeTurns: CompiledStatement<OwnedTurnKey>
  /** Returns a row if there is such a turn. */
  readonly relabelTurn: CompiledStatement<TurnMetadataUpdate>
  readonly contentTurns: CompiledStatement<ContentHashSearch>
  readonly listedTurns: (shape: TurnPageShape) => CompiledStatement<TurnListQuery>
  readonly listedItems: (shape: TurnPageShape) => CompiledStatement<TurnListQuery>
}

export interface OwnedTurnKey extends OwnerKey {
  readonly id: string
}

export interface TurnDeletionMark extends OwnedTurnKey {
  readonly dialect: string
  readonly nowMs: number
}

export interface TurnMetadataUpdate extends OwnedTurnKey {
  readonly dialect: string
  readonly metadata: string
}

export interface ContentHashSearch extends OwnerKey {
  readonly hashes: readonly string[]
}

export type TurnPageShape = Pick<TurnPage, 'order'> & { readonly labels: number }

export interface TurnListQuery extends OwnerKey {
  readonly after: string
  readonly limit: number
  /** Empty for any. */
  readonly model: string
  /** Each as it stands in the JSON of labels, behind a comma. */
  readonly labels: readonly string[]
}

export function createTurnManagementStatements(
  language: Engine['language'],
): TurnManagementStatements {
  const db = createQueryBuilder(language)
  const listings = new Map<string, CompiledStatement<TurnListQuery>>()
  const listing = (
    name: string,
    shape: TurnPageShape,
    build: (slot: ParameterSlot<TurnListQuery>, page: RawBuilder<unknown>) => RawBuilder<unknown>,
  ): CompiledStatement<TurnListQuery> => {
    const key = `${name}-${shape.order}-${shape.labels}`
    const known = listings.get(key)
    if (known !== undefined) return known
    const made = compileStatement<TurnListQuery>(key, (slot) =>
      toCompilable(db, build(slot, pageOfTurns(slot, shape, language))),
    )
    listings.set(key, made)
    return made
  }
  return {
    turnState: compileStatement('turn-state', (slot) => turnState(db, slot)),
    turnItems: compileStatement('turn-items', (slot) => turnItems(db, slot)),
    markDeleted: compileStatement('mark-deleted', (slot) => markDeleted(db, slot)),
    forgetEvents: compileStatement('forget-events', (slot) => toCompilable(db, forgetEvents(slot))),
    removeTurns: compileStatement('remove-turns', (slot) => toCompilable(db, removeTurns(slot))),
    relabelTurn: compileStatement('relabel-turn', (slot) => relabelTurn(db, slot)),
    contentTurns: compileStatement('content-turns', (slot) => contentTurns(db, slot)),
    listedTurns: (shape) =>
      listing(
        'listed-turns',
        shape,
        (_, page) => sql`select ${columns('turns', TURN_COLUMNS)} from turns ${page}`,
      ),
    listedItems: (shape) =>
      listing(
        'listed-items',
        shape,
        (_, page) => sql`select turn_id, side, position, body, hidden from items
          where turn_id in (select turns.id from turns ${page}) and side = 'out'`,
      ),
  }
}

function columns(table: string, names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(`${table}.${name}`)))
}

const idOf = ({ id }: OwnedTurnKey): string => id
const tenantOf = ({ tenant }: OwnerKey): string => tenant
const userOf = ({ user }: OwnerKey): string => user

function turnState(db: Kysely<Tables>, slot: ParameterSlot<OwnedTurnKey>) {
  return db
    .selectFrom('turns')
    .select(['state', 'dialect', 'deleted_at'])
    .where('id', '=', slot(idOf))
    .where(isTurnOfOwner(slot))
}

function turnItems(db: Kysely<Tables>, slot: ParameterSlot<OwnedTurnKey>) {
  return db
    .selectFrom('items')
    .select(['turn_id', 'side', 'position', 'body', 'hidden'])
    .where('turn_id', '=', slot(idOf))
    .where('tenant', '=', slot(tenantOf))
    .where((build) => build.exists(turnState(db, slot)))
}

function markDeleted(db: Kysely<Tables>, slot: ParameterSlot<TurnDeletionMark>) {
  return db
    .updateTable('turns')
    .set({ deleted_at: slot(({ nowMs }) => nowMs) })
    .where(isTheirs(slot))
    .where('state', 'not in', ['queued', 'open'])
}

/** The turn is its owner's, of the dialect that it is asked for in, and not deleted. */
function isTheirs<Input extends OwnedTurnKey & { readonly dialect: string }>(
  slot: ParameterSlot<Input>,
): RawBuilder<SqlBool> {
  return sql`turns.id = ${slot(idOf)} and ${isTurnOfOwner(slot)}
    and turns.dialect = ${slot(({ dialect }) => dialect)} and turns.deleted_at is null`
}

/** Nobody can follow a run that is not there any more. */
function forgetEvents(slot: ParameterSlot<OwnedTurnKey>): RawBuilder<unknown> {
  return sql`delete from stream_events where turn_id = ${slot(idOf)} and exists (
    select 1 from turns where turns.id = ${slot(idOf)} and ${isTurnOfOwner(slot)}
    and turns.deleted_at is not null)`
}

/**
 * From a deleted turn upwards, all that is deleted and has nobody else standing on it. Items go with
 * their turns.
 */
function removeTurns(slot: ParameterSlot<OwnedTurnKey>): RawBuilder<unknown> {
  return sql`with recursive doomed(id, parent) as (
      select turns.id, turns.parent from turns
      where turns.id = ${slot(idOf)} and ${isTurnOfOwner(slot)}
      and turns.deleted_at is not null
      and not exists (select 1 from turns child where child.parent = turns.id)
      and not exists (select 1 from conversations where conversations.head = turns.id)
    union
      select turns.id, turns.parent from doomed join turns on turns.id = doomed.parent
      where ${TURN_TENANT} = ${slot(tenantOf)}
      and turns.deleted_at is not null
      and not exists (
        select 1 from turns child where child.parent = turns.id and child.id <> doomed.id)
      and not exists (select 1 from conversations where conversations.head = turns.id)
    )
    delete from turns where id in (select doomed.id from doomed)`
}

function relabelTurn(db: Kysely<Tables>, slot: ParameterSlot<TurnMetadataUpdate>) {
  return db
    .updateTable('turns')
    .set({ metadata: slot(({ metadata }) => metadata) })
    .where(isTheirs(slot))
    .where('state', 'in', ['complete', 'incomplete'])
    .returning('id')
}

/** The newest first: of one hash there may be many, if a client asks the same again and again. */
function contentTurns(db: Kysely<Tables>, slot: ParameterSlot<ContentHashSearch>) {
  const hashes = Array.from({ length: MAX_CONTENT_HASHES }, (_, at) =>
    slot(({ hashes }) => hashes[at] ?? ''),
  )
  return db
    .selectFrom('turns')
    .select(['id', 'thread', 'depth', 'digests', 'content_hash'])
    .where('content_hash', 'in', hashes)
    .where(isTurnOfOwner(slot))
    .where('deleted_at', 'is', null)
    .orderBy('id', 'desc')
    .limit(2 * MAX_CONTENT_HASHES)
}

/**
 * Labels are looked for in their JSON, where a quote that belongs to a text is always escaped. What was
 * only remembered, and not asked to be stored, has no hash of its content.
 */
function pageOfTurns(
  slot: ParameterSlot<TurnListQuery>,
  { order, labels }: TurnPageShape,
  language: Engine['language'],
): RawBuilder<unknown> {
  const find = sql.raw(language === 'postgres' ? 'strpos' : 'instr')
  const after = slot((listing) => listing.after)
  const model = slot((listing) => listing.model)
  const labelled = Array.from({ length: labels }, (_, at) => {
    const label = slot((listing) => listing.labels[at] ?? '')
    return sql` and ${find}(',' || substr(turns.metadata, 2), ${label}) > 0`
  })
  return sql`where turns.tenant = ${slot(tenantOf)} and ${TURN_USER} = ${slot(userOf)}
    and turns.dialect = 'chat'
    and turns.state in ('complete', 'incomplete') and turns.deleted_at is null
    and turns.content_hash is not null
    and turns.id ${sql.raw(order === 'asc' ? '>' : '<')} ${after}
    and (${model} in ('', turns.model, turns.served_model))${sql.join(labelled, sql``)}
    order by turns.id ${sql.raw(order)} limit ${slot((listing) => listing.limit)}`
}
