/** A request from the rows that it is told by: from the one that is there as a whole down to it. */
import { withDelta } from '../conversation/delta.ts'
import { MAX_HOPS, PARTS, type PlacedRequest } from './request-rows.ts'
import type { ChainRow, RoundKey } from './request-statements.ts'
import type { SentRequest } from './request-store.ts'
import { reading, type Reading, type Vault } from './vault.ts'

/** `null` if there is none, or if any of them cannot be read. */
export function restoredRequest(
  vault: Vault,
  { id, tenant, round }: Pick<RoundKey, 'id' | 'tenant' | 'round'>,
  rows: readonly ChainRow[],
): PlacedRequest | null {
  const byRequest = Map.groupBy(rows, (row) => nameOf(row.turn_id, row.round))
  const [{ rounds } = { rounds: 0 }] = rows
  const asked = round ?? rounds - 1
  const chain: (readonly ChainRow[])[] = []
  for (let next: string | null = nameOf(id, asked); next !== null;) {
    const own = byRequest.get(next)
    if (own === undefined || chain.length > MAX_HOPS) return null
    chain.push(own)
    const { base = null, base_round: baseRound = 0 } = own[0] ?? {}
    next = base === null ? null : nameOf(base, baseRound)
  }
  const hops = chain[0]?.[0]?.hops ?? 0
  return reading(vault, tenant, ({ text }) => {
    let sent: SentRequest | null = NOTHING
    for (const own of chain.toReversed()) sent = sent === null ? null : after(sent, own, text)
    return sent === null ? null : { sent, round: asked, rounds, hops }
  })
}

const NOTHING: SentRequest = { about: '', body: '', items: '' }

function nameOf(turnId: string, round: number): string {
  return `${turnId} ${round}`
}

function after(
  base: SentRequest,
  rows: readonly ChainRow[],
  text: Reading['text'],
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
