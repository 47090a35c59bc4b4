/** SQL for turns and their items, the same for all databases, and conditions that other statements share. */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { selectJsonList } from '../database/json-list-parameter.ts'
import {
  TURN_COLUMNS,
  type ItemRow,
  type TextPieceRow,
  type TurnRow,
} from '../database/table-row-types.ts'
import {
  isDeletedSince,
  selectUserDeletionName,
  THREAD_DELETION_PREFIX,
} from '../deletion/deleted-since-condition.ts'
import { isTurnErased, selectDeletedAt } from '../deletion/erased-conditions.ts'
import { createLeaseStatements } from '../leases/lease-statements.ts'
import { createAnswerMessageStatements } from '../recall/answer-message-statements.ts'
import { createMediaStatements } from '../media/media-statements.ts'
import {
  getTextPieceStatements,
  insertPieceFrom,
  IS_PIECE_OF_EVENTS,
} from '../pieces/text-piece-statements.ts'
import { isTurnOfOwner, TURN_TENANT, type OwnedRowKey } from '../owner.ts'
import { ITEM_OVERHEAD_BYTES } from '../recall/recall-store-interface.ts'
import type { TurnRowEnding } from './encode-turn-rows.ts'
import { amendItem, fromOpenTurn, insertItem, insertItemList } from './write-item-statements.ts'
import { MAX_BYTES_AT_ONCE } from './read-items-in-slices.ts'

/** Longer chains are not loaded: they exceed every model's context window and the memory of a Worker. */
export const MAX_CHAIN_TURNS = 10_000
export const MAX_CHAIN_ITEMS = 50_000
/** Maximum size of the texts and media of a chain, as stored; compressed texts count decompressed. */
export const MAX_CHAIN_BYTES = 128_000_000

/**
 * Computes the size of a turn: its items with their pieces and media. The expression reads all of them, so the
 * result is stored in the column `bytes` when the turn ends.
 */
export const TURN_SIZE_BYTES = sql`(
    select coalesce(sum(octet_length(items.body) + ${sql.lit(ITEM_OVERHEAD_BYTES)}), 0)
    from items where items.turn_id = turns.id) + (
    select coalesce(sum(octet_length(text_pieces.body)), 0)
    from text_pieces where text_pieces.turn_id = turns.id and not ${IS_PIECE_OF_EVENTS}) + (
    select coalesce(sum(media.chars), 0) from media_uses
    join media on media.id = media_uses.media_id where media_uses.turn_id = turns.id)`

/** The size of a turn; computed for unfinished turns and for turns that are older than the column. */
export const STORED_SIZE_BYTES = sql`cast(coalesce(turns.bytes, ${TURN_SIZE_BYTES}) as bigint)`

/** The size of the request fields of a turn, without pieces. */
export const REQUEST_SIZE_BYTES = sql`cast(octet_length(turns.request) as bigint)`

export type TurnStatements = ReturnType<typeof createTurnStatements>

export function createTurnStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    /**
     * Inserts a turn. Inserts nothing, and returns no row, if the turn exists already, or if its
     * thread or user was deleted after the turn began.
     */
    insertTurn: compile<TurnRow>('insert-turn', (slot) => insertTurn(slot)),
    /** Inserts a turn like `insertTurn`, if the turn has locked its conversation. */
    insertTurnWithLock: compile<TurnRow>('insert-turn-with-lock', (slot) =>
      insertTurn(
        slot,
        sql`and exists (select 1 from conversations
          where conversations.id = ${slot('conversation')} and tenant = ${slot('tenant')}
          and busy_by = ${slot('id')})`,
      ),
    ),
    hasTurn: compile<Pick<TurnRow, 'id' | 'tenant'>>(
      'has-turn',
      (slot) => sql`select 1 from turns where turns.id = ${slot('id')}
        and ${TURN_TENANT} = ${slot('tenant')}`,
    ),
    insertItem: compile('insert-item', insertItem),
    /** Inserts several items of one turn, whose bodies should be short. */
    insertItemList: compile<readonly ItemRow[]>('insert-item-list', (slot) =>
      insertItemList(slot, language),
    ),
    amendItem: compile<ItemRow>('amend-item', (slot) => amendItem(slot)),
    /** Inserts or replaces a piece of an amended item. */
    amendPiece: compile<TextPieceRow>('amend-piece', (slot) =>
      insertPieceFrom(slot, fromOpenTurn(slot)),
    ),
    endTurn: compile('end-turn', endTurn),
    chainTurns: compile('chain-turns', selectChainTurns),
    chainItems: compile('chain-items', selectChainItems),
    countItemsOfTurns: compile<TurnIdList>('count-items-of-turns', (slot) =>
      countItemsOfTurns(language, slot),
    ),
    /** Returns the request fields of turns. This and the next one do not check the owner: the ids come from `chainTurns`. */
    requestsOfTurns: compile<TurnIdList>(
      'requests-of-turns',
      (slot) => sql`select turns.id, turns.request
        from ${selectJsonList(language, slot('turnIds'))}
        cross join turns where turns.id = wanted.value`,
    ),
    /** Returns the items of turns. */
    itemsOfTurns: compile<TurnIdList>('items-of-turns', (slot) =>
      selectItemsOfTurns(language, slot),
    ),
    media: createMediaStatements(language),
    pieces: getTextPieceStatements(language),
    answerMessages: createAnswerMessageStatements(language),
    ...createLeaseStatements(language),
    ping: compile<null>('ping', () => sql`select 1 as pong`),
  }
}

function insertTurn(slot: ParameterSlot<TurnRow>, condition: SqlFragment = sql``): SqlFragment {
  const wasDeleted = isDeletedSince(
    sql`${slot('tenant')}`,
    [selectUserDeletionName(slot), sql`${slot(({ thread }) => THREAD_DELETION_PREFIX + thread)}`],
    slot('created_at'),
  )
  return sql`insert into turns (${sql.join(TURN_COLUMNS.map((name) => sql.ref(name)))}, shortcut)
    select ${sql.join(TURN_COLUMNS.map((name) => slot(name)))}, ${selectShortcut(slot('parent'))}
    where not ${wasDeleted} ${condition} on conflict do nothing returning id`
}

/**
 * Selects the shortcut of a new turn: the parent, or an ancestor twice as far away as the last two shortcuts
 * before it, if these are equally long (a skew-binary jump pointer).
 */
function selectShortcut(parent: string | null): SqlFragment {
  return sql`(select case when parent.depth - near.depth = near.depth - far.depth
      then far.id else parent.id end
    from turns parent left join turns near on near.id = parent.shortcut
    left join turns far on far.id = near.shortcut where parent.id = ${parent})`
}

const ENDING_COLUMNS = [
  'state',
  'wire',
  'account',
  'model',
  'ended_at',
  'usage',
  'failure',
  'finish',
  'served_model',
  'content_hash',
  'prefix_hash',
  'fingerprint',
  'reasoning_refused_by',
] as const satisfies readonly (keyof TurnRowEnding)[]

/** Sets the columns of an ended turn. Must run after the turn's last items are inserted. */
export function assignTurnEnding(slot: ParameterSlot<TurnRowEnding>): SqlFragment {
  const assignments = ENDING_COLUMNS.map((name) => sql`${sql.ref(name)} = ${slot(name)}`)
  return sql`${sql.join(assignments)}, bytes = ${TURN_SIZE_BYTES}`
}

function endTurn(slot: ParameterSlot<TurnRowEnding>): SqlFragment {
  return sql`update turns set ${assignTurnEnding(slot)} where turns.id = ${slot('id')}
    and ${TURN_TENANT} = ${slot('tenant')} and state in ('queued', 'open')
    and not ${isTurnErased()} returning id`
}

/** Selects the columns `TURN_COLUMNS` of the table `turns`. */
export function selectTurnColumns(request = sql.ref('turns.request')): SqlFragment {
  const columns = TURN_COLUMNS.map((name) => {
    if (name === 'deleted_at') return sql`${selectDeletedAt()} as deleted_at`
    return name === 'request' ? sql`${request} as request` : sql.ref(`turns.${name}`)
  })
  return sql.join(columns)
}

/**
 * Selects the columns of the turns in the common table `chain` with their sizes. `request` is null if the request fields
 * of all of them are too large to be read at once.
 */
export function selectSizedTurnColumns(): SqlFragment {
  const request = sql`case when (select sum(chain.request_bytes) from chain)
    <= ${sql.lit(MAX_BYTES_AT_ONCE)} then turns.request end`
  return sql`${selectTurnColumns(request)}, chain.bytes, chain.request_bytes`
}

/** Selects the turns of a chain unsorted; the caller orders them by their parents. */
function selectChainTurns(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`${withChain(slot)} select ${selectSizedTurnColumns()}
    from chain cross join turns where turns.id = chain.id limit ${sql.lit(MAX_CHAIN_TURNS + 1)}`
}

const CHAIN_ITEM_COLUMNS = sql`items.turn_id, items.side, items.position, items.body, items.hidden`

/**
 * Selects the items of a chain, unless they are too large to be read at once. They are unsorted: the
 * database would sort complete rows with long bodies, but the caller sorts only positions.
 */
function selectChainItems(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`${withChain(slot)} select ${CHAIN_ITEM_COLUMNS}
    from chain cross join items where items.turn_id = chain.id
    and (select sum(chain.bytes) from chain) <= ${sql.lit(MAX_BYTES_AT_ONCE)}
    limit ${sql.lit(MAX_CHAIN_ITEMS + 1)}`
}

export interface TurnIdList {
  /** A JSON list of ids. */
  readonly turnIds: string
}

export function countItemsOfTurns(
  language: Engine['language'],
  slot: ParameterSlot<TurnIdList>,
): SqlFragment {
  return sql`select count(items.turn_id) as items
    from ${selectJsonList(language, slot('turnIds'))}
    left join items on items.turn_id = wanted.value`
}

function selectItemsOfTurns(
  language: Engine['language'],
  slot: ParameterSlot<TurnIdList>,
): SqlFragment {
  return sql`select ${CHAIN_ITEM_COLUMNS}
    from ${selectJsonList(language, slot('turnIds'))}
    cross join items where items.turn_id = wanted.value`
}

/**
 * Selects a turn and its ancestors of the same owner. With `cross join`, here and above, SQLite begins with the chain,
 * whatever its statistics are. `union` instead of `union all` ends the recursion if the parents form a cycle.
 */
function withChain(slot: ParameterSlot<OwnedRowKey>): SqlFragment {
  return sql`with recursive chain(id, parent, bytes, request_bytes) as (
      select turns.id, turns.parent, ${STORED_SIZE_BYTES}, ${REQUEST_SIZE_BYTES} from turns
      where turns.id = ${slot('id')} and ${isTurnOfOwner(slot)}
    union
      select turns.id, turns.parent, ${STORED_SIZE_BYTES}, ${REQUEST_SIZE_BYTES}
      from chain cross join turns
      where turns.id = chain.parent and ${isTurnOfOwner(slot)}
    )`
}
