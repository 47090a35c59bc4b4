/** A request from the rows that it is told by: from the one that is there as a whole down to it. */
import { applyTextDiff } from '../../core/text/text-diff.ts'
import {
  MAX_DELTA_HOPS,
  STORED_REQUEST_PARTS,
  type DeltaChainRequest,
} from './encode-request-rows.ts'
import type {
  TurnItemRow,
  RequestChainRow,
  RequestRoundKey,
} from './upstream-request-statements.ts'
import type { SentRequest } from './upstream-request-store-interface.ts'
import { decodeCopies, restoreFromItems } from './deduplicate-against-items.ts'
import {
  readEncryptedRows,
  type RowReader,
  type RowEncryption,
} from '../encryption/read-encrypted-rows.ts'

/** `null` if there is none, or if any of them cannot be read. */
export function decodeRequestRows(
  vault: RowEncryption,
  { id, tenant, round }: Pick<RequestRoundKey, 'id' | 'tenant' | 'round'>,
  rows: readonly RequestChainRow[],
  beside: readonly TurnItemRow[],
): DeltaChainRequest | null {
  const byPlace = new Map(beside.map((row) => [nameOf(row.turn_id, row.position), row.body]))
  const byRequest = Map.groupBy(rows, (row) => nameOf(row.turn_id, row.round))
  const [{ rounds } = { rounds: 0 }] = rows
  const asked = round ?? rounds - 1
  const chain: (readonly RequestChainRow[])[] = []
  for (let next: string | null = nameOf(id, asked); next !== null;) {
    const own = byRequest.get(next)
    if (own === undefined || chain.length > MAX_DELTA_HOPS) return null
    chain.push(own)
    const { base = null, base_round: baseRound = 0 } = own[0] ?? {}
    next = base === null ? null : nameOf(base, baseRound)
  }
  const hops = chain[0]?.[0]?.hops ?? 0
  return readEncryptedRows(vault, tenant, ({ text }) => {
    const itemOf: ItemOf = (turnId, position) => {
      const body = byPlace.get(nameOf(turnId, position))
      return body === undefined ? null : text(body, { turnId, part: 'in', position })
    }
    let sent: SentRequest | null = NOTHING
    for (const own of chain.toReversed()) {
      sent = sent === null ? null : after(sent, own, { text, itemOf })
    }
    return sent === null ? null : { sent, round: asked, rounds, hops }
  })
}

const NOTHING: SentRequest = { about: '', body: '', items: '' }

/** Of a round of a turn, or of an item. */
function nameOf(turnId: string, number: number): string {
  return `${turnId} ${number}`
}

/** The turns of which a request is told by the items that stand in front of their answer. */
export function findTurnsWithCopies(rows: readonly RequestChainRow[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => (row.part === 'copies' ? row.turn_id : [])))]
}

interface Sources extends Pick<RowReader, 'text'> {
  readonly itemOf: ItemOf
}

type ItemOf = (turnId: string, position: number) => string | null

function after(
  base: SentRequest,
  rows: readonly RequestChainRow[],
  { text, itemOf }: Sources,
): SentRequest | null {
  const byPart = Map.groupBy(rows, ({ part }) => part)
  const textOf = (pieces: readonly RequestChainRow[]): string | null => {
    const texts = pieces.map(({ body, turn_id: turnId, part, piece }) =>
      text(body, { turnId, part, position: piece }),
    )
    return texts.includes(null) ? null : texts.join('')
  }
  const told: Partial<Record<keyof SentRequest, string>> = {}
  for (const part of STORED_REQUEST_PARTS) {
    const [first] = byPart.get(part) ?? []
    const left = textOf(byPart.get(part) ?? [])
    if (first === undefined || left === null) return null
    const copies = textOf(part === 'body' ? (byPart.get('copies') ?? []) : [])
    const ownItem = (position: number) => itemOf(first.turn_id, position)
    const middle = copies === null ? null : wholeOf(left, copies, ownItem)
    if (middle === null) return null
    const { prefix, suffix } = first
    told[part] = applyTextDiff(base[part], { prefix, suffix, middle })
  }
  return { ...base, ...told }
}

function wholeOf(
  left: string,
  copies: string,
  textOf: (position: number) => string | null,
): string | null {
  return copies === '' ? left : restoreFromItems({ left, copies: decodeCopies(copies) }, textOf)
}
