/**
 * Restores a request from its rows: starts with the last complete request before it, and applies
 * the differences one after the other.
 */
import { applyTextDiffs, type TextDiff } from '../../core/text/text-diff.ts'
import { MAX_DELTA_HOPS, type DeltaChainRequest } from './encode-request-rows.ts'
import type {
  InputItemRow,
  RequestChainRow,
  RequestRoundKey,
} from './upstream-request-statements.ts'
import type { DecryptedRows } from '../pieces/decrypt-long-texts.ts'
import type { SentRequest } from './upstream-request-store-interface.ts'
import { decodeCopies, restoreFromItems } from './deduplicate-against-items.ts'
import {
  decryptRows,
  type RowEncryption,
  type RowReader,
  type UndecryptableRule,
} from '../encryption/decrypt-rows.ts'

/**
 * Restores the request of a tool round from rows in any order. Returns `null` if there is none, or if one of the earlier
 * requests that are needed to restore it cannot be read.
 */
export function decodeRequestRows(
  encryption: RowEncryption,
  { id, tenant, user, round }: Pick<RequestRoundKey, 'id' | 'tenant' | 'user' | 'round'>,
  rows: readonly RequestChainRow[],
  itemTexts: DecryptedRows<InputItemRow>,
  rule: UndecryptableRule,
): DeltaChainRequest | null {
  const textsByItem = new Map(
    itemTexts.rows.map((row) => [formatKey(row.turn_id, row.position), row.text]),
  )
  const sorted = rows.toSorted((one, other) => one.piece - other.piece)
  const byRequest = Map.groupBy(sorted, (row) => formatKey(row.turn_id, row.round))
  const [{ rounds } = { rounds: 0 }] = rows
  const requestedRound = round ?? rounds - 1
  const chain: (readonly RequestChainRow[])[] = []
  for (let next: string | null = formatKey(id, requestedRound); next !== null;) {
    const roundRows = byRequest.get(next)
    if (roundRows === undefined || chain.length > MAX_DELTA_HOPS) return null
    chain.push(roundRows)
    const { base = null, base_round: baseRound = 0 } = roundRows[0] ?? {}
    next = base === null ? null : formatKey(base, baseRound)
  }
  const hops = chain[0]?.[0]?.hops ?? 0
  const read = ({ decryptText }: RowReader): DeltaChainRequest | null => {
    const readItem: ReadItemText = (turnId, position) =>
      textsByItem.get(formatKey(turnId, position)) ?? null
    const diffs: RequestDiff[] = []
    for (const roundRows of chain.toReversed()) {
      const diff = decodeDifference(roundRows, { decryptText, readItem })
      if (diff === null) return null
      diffs.push(diff)
    }
    const restore = (part: keyof SentRequest) => applyTextDiffs(diffs.map((diff) => diff[part]))
    const sent = { about: restore('about'), body: restore('body'), items: restore('items') }
    return { sent, round: requestedRound, roundCount: rounds, hops }
  }
  return decryptRows(encryption, { tenant, user }, read, { rule, failures: itemTexts.failures })
}

/** The differences of a request to the one before it. */
type RequestDiff = Readonly<Record<keyof SentRequest, TextDiff>>

/** Formats a key of a map: a turn id, and the number of a round or the position of an item. */
function formatKey(turnId: string, number: number): string {
  return `${turnId} ${number}`
}

/**
 * Returns the ids of turns whose input items are needed to restore their requests: strings that the
 * items contain as well are left out of the stored bodies.
 */
export function findTurnsWithCopies(rows: readonly RequestChainRow[]): readonly string[] {
  return [...new Set(rows.flatMap((row) => (row.part === 'copies' ? row.turn_id : [])))]
}

interface Sources extends Pick<RowReader, 'decryptText'> {
  readonly readItem: ReadItemText
}

type ReadItemText = (turnId: string, position: number) => string | null

/** Decodes the rows of one round; null if one of its texts cannot be read. */
function decodeDifference(
  rows: readonly RequestChainRow[],
  { decryptText, readItem }: Sources,
): RequestDiff | null {
  const byPart = Map.groupBy(rows, ({ part }) => part)
  const decryptPieces = (pieces: readonly RequestChainRow[]): string | null => {
    const texts = pieces.map(({ body, turn_id: turnId, part, piece }) =>
      decryptText(body, { rowId: turnId, part, position: piece }),
    )
    return texts.includes(null) ? null : texts.join('')
  }
  const decodePart = (part: keyof SentRequest): TextDiff | null => {
    const [first] = byPart.get(part) ?? []
    const remaining = decryptPieces(byPart.get(part) ?? [])
    if (first === undefined || remaining === null) return null
    const copies = decryptPieces(part === 'body' ? (byPart.get('copies') ?? []) : [])
    const readOwnItem = (position: number) => readItem(first.turn_id, position)
    const middle =
      copies === null
        ? null
        : restoreFromItems({ remaining, copies: decodeCopies(copies) }, readOwnItem)
    return middle === null ? null : { prefix: first.prefix, suffix: first.suffix, middle }
  }
  const [about, body, items] = [decodePart('about'), decodePart('body'), decodePart('items')]
  return about === null || body === null || items === null ? null : { about, body, items }
}
