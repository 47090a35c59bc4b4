/** SQL for media: writes them with the items that contain them, and reads them by their ids. */
import { sql } from 'kysely'
import {
  createStatementCompiler,
  type ParameterSlot,
  type SqlFragment,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList } from '../database/json-list-parameter.ts'
import { isRowErased } from '../deletion/erased-conditions.ts'

export interface MediaRow {
  readonly id: string
  readonly tenant: string
  readonly mime: string
  readonly chars: number
}

export interface UsingTurn {
  readonly turnId: string
  readonly tenant: string
}

export interface PieceRow {
  readonly media_id: string
  readonly position: number
  readonly tenant: string
  readonly body: string
  /**
   * Number of leading characters of a piece that show which key encrypted it, e.g. 6 for `s1:k1:`.
   */
  readonly keyPrefixChars: number
}

export interface NewAddressRow {
  readonly id: string
  readonly tenant: string
  readonly user: string | null
  readonly thread: string | null
  readonly mediaId: string
  readonly mime: string
  readonly nowMs: number
}

export interface MediaIdLookup {
  readonly tenant: string
  /** A JSON list of ids. */
  readonly ids: string
}

export type MediaStatements = ReturnType<typeof createMediaStatements>

export function createMediaStatements(language: Engine['language']) {
  const compile = createStatementCompiler(language)
  return {
    /** Inserts a medium, unless the turn that contains it was deleted. */
    insertMediumOfTurn: compile<MediaRow & UsingTurn>('insert-shown-medium', (slot) => {
      return sql`insert into media (id, tenant, mime, chars, created_at, used_at)
        select ${castToText(slot('id'))}, ${castToText(slot('tenant'))},
          ${castToText(slot('mime'))}, ${slot('chars')},
          turns.created_at, turns.created_at
        from turns where ${isUsingTurn(slot)}
        on conflict (id) do update set used_at = excluded.used_at`
    }),
    insertFetched: compile<MediaRow & { readonly nowMs: number }>(
      'insert-loaded-medium',
      (slot) => {
        const now = slot('nowMs')
        return sql`insert into media (id, tenant, mime, chars, created_at, used_at)
        values (${slot('id')}, ${slot('tenant')},
          ${slot('mime')}, ${slot('chars')}, ${now}, ${now})
        on conflict (id) do update set used_at = excluded.used_at`
      },
    ),
    // Replaces a piece that was encrypted with another key, because that key may be removed later.
    insertPiece: compile<PieceRow>('insert-medium-piece', (slot) => {
      const head = castToInteger(slot('keyPrefixChars'))
      return sql`insert into media_pieces (media_id, position, tenant, body)
        select media.id, ${castToInteger(slot('position'))}, media.tenant,
          ${castToText(slot('body'))}
        from media where media.id = ${slot('media_id')}
        and media.tenant || '' = ${slot('tenant')}
        on conflict (media_id, position) do update set body = excluded.body
        where substr(media_pieces.body, 1, ${head}) <> substr(excluded.body, 1, ${head})`
    }),
    insertUse: compile<UsingTurn & Pick<MediaRow, 'id'>>('insert-medium-use', (slot) => {
      return sql`insert into media_uses (media_id, turn_id)
        select media.id, turns.id from media, turns
        where media.id = ${slot('id')} and ${isUsingTurn(slot)}
        on conflict do nothing`
    }),
    insertAddress: compile<NewAddressRow>('insert-medium-address', (slot) => {
      const now = slot('nowMs')
      return sql`insert into media_addresses
          (id, tenant, user_id, thread, media_id, mime, fetched_at, used_at)
        values (${slot('id')}, ${slot('tenant')},
          ${slot('user')}, ${slot('thread')},
          ${slot('mediaId')}, ${slot('mime')}, ${now}, ${now})
        on conflict do nothing`
    }),
    /**
     * Marks a fetched medium as released if its URL has another medium already and no turn contains
     * this one. Runs after `insertAddress`.
     */
    releaseIfUnused: compile<Pick<MediaRow, 'id'>>('release-unshown-medium', (slot) => {
      return sql`update media set used_at = ${sql.lit(RELEASED_USED_AT)}
        where id = ${slot('id')} and ${isMediaUnused()}`
    }),
    /** Returns the pieces of media, in any order. */
    selectPieces: compile<MediaIdLookup>('medium-pieces', (slot) => {
      return sql`select media_id, position, body from media_pieces
        where ${isInJsonList(language, sql.ref('media_pieces.media_id'), slot('ids'))}
        and tenant || '' = ${slot('tenant')}`
    }),
    /** Returns the sizes of media, in any order. */
    selectSizes: compile<MediaIdLookup>('medium-sizes', (slot) => {
      return sql`select media.chars from media
        where ${isInJsonList(language, sql.ref('media.id'), slot('ids'))}
        and tenant || '' = ${slot('tenant')}`
    }),
    selectAddresses: compile<MediaIdLookup>('medium-addresses', (slot) => {
      return sql`select media_addresses.id as address, media_addresses.mime, media.chars,
          media_addresses.media_id, media_addresses.used_at
        from media_addresses join media on media.id = media_addresses.media_id
        where ${isInJsonList(language, sql.ref('media_addresses.id'), slot('ids'))}
        and media_addresses.tenant || '' = ${slot('tenant')}
        and not ${isRowErased('media_addresses')}`
    }),
    touchAddresses: compile<MediaIdLookup & { readonly nowMs: number; readonly dayAgoMs: number }>(
      'touch-medium-addresses',
      (slot) => {
        return sql`update media_addresses set used_at = ${slot('nowMs')}
        where ${isInJsonList(language, sql.ref('media_addresses.id'), slot('ids'))}
        and tenant || '' = ${slot('tenant')}
        and used_at + 0 < ${slot('dayAgoMs')}`
      },
    ),
  }
}

/**
 * Value of `used_at` for released media: media whose last known use was deleted, or media that were
 * fetched for a URL that has another medium already. Only released media are checked for other uses
 * and deleted. If a turn with a released medium is written at the same time, the write sets
 * `used_at` to the present, and the medium stays.
 */
export const RELEASED_USED_AT = -1

/** Marks media as released. Must run before the rows from which `ids` are selected are deleted. */
export function releaseMedia(ids: SqlFragment): SqlFragment {
  return sql`update media set used_at = ${sql.lit(RELEASED_USED_AT)} where id in (${ids})`
}

export function isMediaUnused(): SqlFragment {
  return sql`not exists (select 1 from media_uses where media_uses.media_id = media.id)
    and not exists (select 1 from media_addresses where media_addresses.media_id = media.id)`
}

/** Casts a parameter, because Postgres cannot infer its type in a select list. */
function castToText(value: string): SqlFragment {
  return sql`cast(${value} as text)`
}

function castToInteger(value: number): SqlFragment {
  return sql`cast(${value} as integer)`
}

function isUsingTurn(slot: ParameterSlot<UsingTurn & Pick<MediaRow, 'id'>>): SqlFragment {
  return sql`turns.id = ${slot('turnId')}
    and turns.tenant || '' = ${slot('tenant')}`
}
