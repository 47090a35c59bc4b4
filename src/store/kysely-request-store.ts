/**
 * Requests over any engine. What was kept or read lately is at hand, because the next turn of the
 * conversation is told from it; without that, each would begin with a read.
 */
import { deltaOf, withDelta } from '../conversation/delta.ts'
import { toColumn } from './column.ts'
import type { Engine, Query } from './engine.ts'
import { referencesIn, type TakenMedium } from './item-media.ts'
import { insertMedia, mediaOf, type ReadPiece } from './media-rows.ts'
import { createMediaStatements } from './media-statements.ts'
import { ownerKey, type Owner } from './owner.ts'
import { createRequestStatements, MAX_REQUEST_ROWS } from './request-statements.ts'
import type { RequestStore, SentRequest } from './request-store.ts'
import type { RequestRow } from './tables.ts'
import { putBackInto, takenOutOf } from './text-media.ts'
import { OPEN_VAULT, reading, type Vault } from './vault.ts'

export function createRequestStore(engine: Engine, vault: Vault = OPEN_VAULT): RequestStore {
  const sql = createRequestStatements(engine.language)
  const media = createMediaStatements(engine.language)
  const lately = latelySeen(CACHED_CHARS)
  const underWay = new Map<string, Promise<void>>()
  /** Told from what cannot be read any more is nothing: the next is whole again. */
  const quiet: Vault = { ...vault, onUnreadable: () => {} }

  const load = async (owner: Owner, turnId: string, read = vault): Promise<Placed | null> => {
    const name = nameOf(owner, turnId)
    // What fails is told to who keeps it.
    await underWay.get(name)?.catch(() => undefined)
    const known = lately.get(name)
    if (known !== undefined) return known
    const key = { ...ownerKey(owner), id: toColumn(turnId) }
    const [rows = []] = await engine.read([sql.requestChain(key)])
    const placed = restored(read, key, rows as readonly RequestRow[])
    if (placed !== null) lately.put(name, placed)
    return placed
  }
  /** With the media that its body shows. */
  const whole = async (sent: SentRequest, tenant: string): Promise<SentRequest | null> => {
    const wanted = referencesIn(sent.body)
    if (wanted.length === 0) return sent
    const ids = JSON.stringify([...new Set(wanted)])
    const [pieces = []] = await engine.read([media.pieces({ tenant, ids })])
    const shown = mediaOf(tenant, pieces as readonly ReadPiece[], vault.sealer)
    const body = putBackInto(sent.body, shown)
    if (body === null) vault.onUnreadable(1)
    return body === null ? null : { ...sent, body }
  }
  return {
    keepRequest({ tenant, user }, turnId, tell) {
      if (underWay.size >= MAX_UNDER_WAY) return Promise.reject(new Error(TOO_MANY))
      const owner = { tenant, user }
      const keeping = async (): Promise<void> => {
        const request = await tell()
        if (request === null) return
        const { sent, base } = request
        const before = base === null ? null : await load(owner, base, quiet)
        const isWhole = before === null || before.hops + 1 > MAX_HOPS
        const from = isWhole || base === null ? null : { ...before, id: toColumn(base) }
        const place = { tenant: toColumn(tenant), turnId: toColumn(turnId) }
        const bare = takenOutOf(place.tenant, sent.body)
        const placed = {
          sent: { ...sent, body: bare.text },
          hops: from === null ? 0 : from.hops + 1,
        }
        const rows = rowsOf(placed, from, place, vault)
        const fresh = unlessIn(from?.sent.body ?? '', bare.media)
        const queries: Query[] = [...insertMedia(media, place, fresh, vault.sealer)]
        for (let at = 0; at < rows.length; at += MAX_REQUEST_ROWS) {
          const chunk = rows.slice(at, at + MAX_REQUEST_ROWS)
          queries.push(sql.insertRequests(chunk.length)(chunk))
        }
        await engine.write(queries, 'kill')
        lately.put(name, placed)
      }
      const name = nameOf(owner, turnId)
      const work = keeping().finally(() => underWay.delete(name))
      underWay.set(name, work)
      return work
    },
    async loadRequest(owner, turnId) {
      const placed = await load(owner, turnId)
      return placed === null ? null : whole(placed.sent, toColumn(owner.tenant))
    },
    async allKept() {
      await Promise.allSettled(underWay.values())
    },
  }
}

/** A text is whole in the database at least once in so many turns. */
const MAX_HOPS = 32

/** Each holds its request. Where a database does not keep up with its answers, some are not explained. */
const MAX_UNDER_WAY = 1_000
const TOO_MANY = 'Too many wait to be kept already.'

/** Some dozen long requests. */
const CACHED_CHARS = 8_000_000

/** What fits into a row of any database, even if each character takes three bytes and is sealed. */
const PIECE_CHARS = 400_000

/** Its body is without its media. */
interface Placed {
  readonly sent: SentRequest
  readonly hops: number
}

const PARTS = ['about', 'body', 'items'] as const satisfies readonly (keyof SentRequest)[]

/** Those that the request before shows are kept with that. */
function unlessIn(before: string, media: readonly TakenMedium[]): readonly TakenMedium[] {
  if (media.length === 0) return media
  const known = new Set(referencesIn(before))
  return media.filter(({ id }) => !known.has(id) && known.add(id))
}

function nameOf({ tenant, user }: Owner, turnId: string): string {
  return JSON.stringify([tenant, user, turnId])
}

function rowsOf(
  { sent, hops }: Placed,
  base: (Placed & { readonly id: string }) | null,
  { tenant, turnId }: Pick<RequestRow, 'tenant'> & { readonly turnId: string },
  { sealer }: Vault,
): readonly RequestRow[] {
  return PARTS.flatMap((part) => {
    const delta = deltaOf(base?.sent[part] ?? '', sent[part])
    const { prefix, suffix } = delta
    return piecesOf(delta.middle).map((text, piece) => ({
      turn_id: turnId,
      tenant,
      part,
      piece,
      base: base?.id ?? null,
      hops,
      prefix,
      suffix,
      body: sealer.seal(text, { tenant, turnId, part, position: piece }),
    }))
  })
}

/** At least one, and no character is cut in half. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  let at = 0
  do {
    const end = at + PIECE_CHARS
    const code = text.charCodeAt(end)
    const next = code >= 0xdc00 && code <= 0xdfff ? end - 1 : end
    pieces.push(text.slice(at, next))
    at = next
  } while (at < text.length)
  return pieces
}

/** From the one that is there as a whole down to the one that is asked for. */
function restored(
  vault: Vault,
  { id, tenant }: { readonly id: string; readonly tenant: string },
  rows: readonly RequestRow[],
): Placed | null {
  const byTurn = Map.groupBy(rows, (row) => row.turn_id)
  const chain: (readonly RequestRow[])[] = []
  for (let next: string | null = id; next !== null;) {
    const own = byTurn.get(next)
    if (own === undefined || chain.length > MAX_HOPS) return null
    chain.push(own)
    next = own[0]?.base ?? null
  }
  const [newest] = chain[0] ?? []
  if (newest === undefined) return null
  return reading(vault, tenant, ({ text }) => {
    let sent: SentRequest | null = NOTHING
    for (const own of chain.toReversed()) {
      sent = sent === null ? null : after(sent, own, text)
    }
    return sent === null ? null : { sent, hops: newest.hops }
  })
}

const NOTHING: SentRequest = { about: '', body: '', items: '' }

function after(
  base: SentRequest,
  rows: readonly RequestRow[],
  text: (
    column: string,
    place: { turnId: string; part: RequestRow['part']; position: number },
  ) => string | null,
): SentRequest | null {
  const byPart = Map.groupBy(rows, ({ part }) => part)
  const told: Partial<Record<keyof SentRequest, string>> = {}
  for (const part of PARTS) {
    const pieces = byPart.get(part) ?? []
    const texts = pieces.map(({ body, turn_id: turnId, piece }) =>
      text(body, { turnId, part, position: piece }),
    )
    const [first] = pieces
    if (first === undefined || texts.includes(null)) return null
    const { prefix, suffix } = first
    told[part] = withDelta(base[part], { prefix, suffix, middle: texts.join('') })
  }
  return { ...base, ...told }
}

/** The least lately used goes first. */
function latelySeen(maxChars: number) {
  const entries = new Map<string, Placed>()
  let chars = 0
  const drop = (name: string, placed: Placed): void => {
    entries.delete(name)
    chars -= sizeOf(placed)
  }
  return {
    get(name: string): Placed | undefined {
      const placed = entries.get(name)
      if (placed === undefined) return undefined
      entries.delete(name)
      entries.set(name, placed)
      return placed
    },
    put(name: string, placed: Placed): void {
      const before = entries.get(name)
      if (before !== undefined) drop(name, before)
      if (sizeOf(placed) > maxChars / 4) return
      entries.set(name, placed)
      chars += sizeOf(placed)
      for (const [oldest, entry] of entries) {
        if (chars <= maxChars) break
        drop(oldest, entry)
      }
    },
  }
}

function sizeOf({ sent: { about, body, items } }: Placed): number {
  return about.length + body.length + items.length
}
