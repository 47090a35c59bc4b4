/**
 * The rows of turns with their sizes. If the request fields of a chain are large, they are read in slices, like the
 * items, after their memory is claimed.
 */
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import type { TurnRow } from '../database/table-row-types.ts'
import type { SizedTurn } from './read-items-in-slices.ts'
import type { TurnIdList } from './turn-statements.ts'

/** `bytes`: the size of the items; computed if the column of the turn is empty. */
export type SizedTurnRow = Omit<TurnRow, 'request'> &
  SizedTurn & {
    /** Null if it was too large to be read with the sizes. */
    readonly request: string | null
    readonly request_bytes: number
  }

/** Adds the size of the request fields to that of the items. */
export function addRequestSize(turn: SizedTurnRow): SizedTurnRow {
  return { ...turn, bytes: turn.bytes + turn.request_bytes }
}

/** Reads the request fields of a slice of a chain, if its rows have none. */
export async function readRequests(
  { read }: Pick<Engine, 'read'>,
  { requestsOfTurns }: { readonly requestsOfTurns: (list: TurnIdList) => SqlQuery },
  turns: readonly SizedTurnRow[],
): Promise<readonly SizedTurnRow[]> {
  if (turns.every(hasRequest)) return turns
  const [rows = []] = await read([
    requestsOfTurns({ turnIds: JSON.stringify(turns.map(({ id }) => id)) }),
  ])
  const found = rows as readonly Pick<TurnRow, 'id' | 'request'>[]
  const requests = new Map(found.map(({ id, request }) => [id, request]))
  // A turn that was deleted meanwhile has no request.
  return turns.map((turn) => ({ ...turn, request: requests.get(turn.id) ?? null }))
}

/** False if the request fields were too large to be read with the sizes. */
export function hasRequest({ request }: SizedTurnRow): boolean {
  return request !== null
}
