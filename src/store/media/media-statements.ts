/** The queries of media: written with the items that show them, and read by what stands in their place. */
import { sql, type RawBuilder } from 'kysely'
import {
  createSqlCompiler,
  type ParameterSlot,
  type CompiledStatement,
} from '../database/compile-statement.ts'
import type { Engine } from '../database/engine-interface.ts'
import { isInJsonList } from '../database/json-list-parameter.ts'

export interface MediaStatements {
  /** Of a turn that is gone, nothing is written. */
  readonly insertShown: CompiledStatement<MediaRow & ShowingTurn>
  readonly insertLoaded: CompiledStatement<MediaRow & { readonly nowMs: number }>
  readonly insertPiece: CompiledStatement<PieceRow>
  readonly insertUse: CompiledStatement<ShowingTurn & Pick<MediaRow, 'id'>>
  readonly insertAddress: CompiledStatement<AddressRow>
  /** Behind that: another address had come first, and nobody shows the medium. */
  readonly releaseUnshown: CompiledStatement<Pick<MediaRow, 'id'>>
  /** In any order. */
  readonly pieces: CompiledStatement<MediaIdLookup>
  readonly addresses: CompiledStatement<MediaIdLookup>
  readonly touchAddresses: CompiledStatement<
    MediaIdLookup & { readonly nowMs: number; readonly dayAgoMs: number }
  >
}

export interface MediaRow {
  readonly id: string
  readonly tenant: string
  readonly mime: string
  readonly chars: number
}

export interface ShowingTurn {
  readonly turnId: string
  readonly tenant: string
}

export interface PieceRow {
  readonly media_id: string
  readonly position: number
  readonly tenant: string
  readonly body: string
  /** So much of its beginning tells by which key it is sealed. */
  readonly headChars: number
}

export interface AddressRow {
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

export function createMediaStatements(language: Engine['language']): MediaStatements {
  const query = createSqlCompiler(language)
  return {
    insertShown: query('insert-shown-medium', (slot) => {
      return sql`insert into media (id, tenant, mime, chars, created_at, used_at)
        select ${text(slot(({ id }) => id))}, ${text(slot(({ tenant }) => tenant))},
          ${text(slot(({ mime }) => mime))}, ${slot(({ chars }) => chars)},
          turns.created_at, turns.created_at
        from turns where ${ofTurn(slot)}
        on conflict (id) do update set used_at = excluded.used_at`
    }),
    insertLoaded: query('insert-loaded-medium', (slot) => {
      const now = slot(({ nowMs }) => nowMs)
      return sql`insert into media (id, tenant, mime, chars, created_at, used_at)
        values (${slot(({ id }) => id)}, ${slot(({ tenant }) => tenant)},
          ${slot(({ mime }) => mime)}, ${slot(({ chars }) => chars)}, ${now}, ${now})
        on conflict (id) do update set used_at = excluded.used_at`
    }),
    // One that another key has sealed is written anew: that key may be gone.
    insertPiece: query('insert-medium-piece', (slot) => {
      const head = integer(slot(({ headChars }) => headChars))
      return sql`insert into media_pieces (media_id, position, tenant, body)
        select media.id, ${integer(slot(({ position }) => position))}, media.tenant,
          ${text(slot(({ body }) => body))}
        from media where media.id = ${slot(({ media_id }) => media_id)}
        and media.tenant || '' = ${slot(({ tenant }) => tenant)}
        on conflict (media_id, position) do update set body = excluded.body
        where substr(media_pieces.body, 1, ${head}) <> substr(excluded.body, 1, ${head})`
    }),
    insertUse: query('insert-medium-use', (slot) => {
      return sql`insert into media_uses (media_id, turn_id)
        select media.id, turns.id from media, turns
        where media.id = ${slot(({ id }) => id)} and ${ofTurn(slot)}
        on conflict do nothing`
    }),
    insertAddress: query('insert-medium-address', (slot) => {
      const now = slot(({ nowMs }) => nowMs)
      return sql`insert into media_addresses
          (id, tenant, user_id, thread, media_id, mime, fetched_at, used_at)
        values (${slot(({ id }) => id)}, ${slot(({ tenant }) => tenant)},
          ${slot(({ user }) => user)}, ${slot(({ thread }) => thread)},
          ${slot(({ mediaId }) => mediaId)}, ${slot(({ mime }) => mime)}, ${now}, ${now})
        on conflict do nothing`
    }),
    releaseUnshown: query('release-unshown-medium', (slot) => {
      return sql`update media set used_at = ${sql.lit(RELEASED_USED_AT)}
        where id = ${slot(({ id }) => id)} and ${isMediaUnused()}`
    }),
    pieces: query('medium-pieces', (slot) => {
      return sql`select media_id, position, body from media_pieces
        where ${isInJsonList(
          language,
          sql.ref('media_pieces.media_id'),
          slot(({ ids }) => ids),
        )}
        and tenant || '' = ${slot(({ tenant }) => tenant)}`
    }),
    addresses: query('medium-addresses', (slot) => {
      return sql`select media_addresses.id as address, media_addresses.mime, media.chars,
          media_addresses.media_id, media_addresses.used_at
        from media_addresses join media on media.id = media_addresses.media_id
        where ${isInJsonList(
          language,
          sql.ref('media_addresses.id'),
          slot(({ ids }) => ids),
        )}
        and media_addresses.tenant || '' = ${slot(({ tenant }) => tenant)}`
    }),
    touchAddresses: query('touch-medium-addresses', (slot) => {
      return sql`update media_addresses set used_at = ${slot(({ nowMs }) => nowMs)}
        where ${isInJsonList(
          language,
          sql.ref('media_addresses.id'),
          slot(({ ids }) => ids),
        )}
        and tenant || '' = ${slot(({ tenant }) => tenant)}
        and used_at < ${slot(({ dayAgoMs }) => dayAgoMs)}`
    }),
  }
}

/**
 * When a medium was last used that somebody shows no more, or that was loaded in vain, for an address that
 * has another one: whether anybody is left who shows it is asked of those alone when they are removed.
 * Whoever shows it again at the same moment says that it is needed, and it stays.
 */
export const RELEASED_USED_AT = -1

/** To be asked while it is known of which media that is. */
export function releaseMedia(ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update media set used_at = ${sql.lit(RELEASED_USED_AT)} where id in (${ids})`
}

export function isMediaUnused(): RawBuilder<unknown> {
  return sql`not exists (select 1 from media_uses where media_uses.media_id = media.id)
    and not exists (select 1 from media_addresses where media_addresses.media_id = media.id)`
}

/** In a list of columns Postgres does not tell the type of a value. */
function text(value: string): RawBuilder<unknown> {
  return sql`cast(${value} as text)`
}

function integer(value: number): RawBuilder<unknown> {
  return sql`cast(${value} as integer)`
}

function ofTurn(slot: ParameterSlot<ShowingTurn & Pick<MediaRow, 'id'>>): RawBuilder<unknown> {
  return sql`turns.id = ${slot(({ turnId }) => turnId)}
    and turns.tenant || '' = ${slot(({ tenant }) => tenant)}`
}
