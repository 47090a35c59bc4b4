/**
 * How large a turn is that a query has at hand as `turns`: its items, and the media that they show.
 * It goes through all of them, and is kept in the column `bytes` when the turn ends.
 */
import { sql } from 'kysely'
import { ITEM_OVERHEAD_BYTES } from '../recall/recall-store-interface.ts'

export const TURN_SIZE_BYTES = sql<number>`(
    select coalesce(sum(octet_length(items.body) + ${sql.lit(ITEM_OVERHEAD_BYTES)}), 0)
    from items where items.turn_id = turns.id) + (
    select coalesce(sum(media.chars), 0) from media_uses
    join media on media.id = media_uses.media_id where media_uses.turn_id = turns.id)`
