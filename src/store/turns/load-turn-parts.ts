/**
 * Loads one turn, or a slice of a chain, without the turns before it. Each takes a constant number of round trips
 * unless the items are large.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { ClaimMemory } from '../../core/ports/claim-memory.ts'
import { parseItemId } from '../../core/turn-derived-ids.ts'
import {
  decodeColumnText,
  encodeColumnText,
  encodeKeyColumn,
} from '../database/encode-column-text.ts'
import type { Engine, SqlQuery } from '../database/engine-interface.ts'
import { decryptRows, type RowEncryption } from '../encryption/decrypt-rows.ts'
import { encodeOwnedRowKey, encodeOwner, type OwnedRowKey } from '../owner.ts'
import { decryptLongTexts } from '../pieces/decrypt-long-texts.ts'
import {
  createChainSliceStatements,
  MAX_TURNS_PER_ITEM_ID,
  type InheritedFieldRow,
  type TurnOfItemRow,
} from './chain-slice-statements.ts'
import {
  decodeOrderedTurns,
  decodeSeparateTurns,
  listInheritedDigests,
  orderChain,
  type DecryptedTurnRow,
  type ItemBodyRow,
} from './decode-turn-rows.ts'
import { decryptTurnRows } from './decrypt-turn-rows.ts'
import { claimItemMemory, readInSlices, sumBytes } from './read-items-in-slices.ts'
import { addRequestSize, readRequests, type SizedTurnRow } from './sized-turn-row.ts'
import { createTurnManagementStatements } from './turn-management-statements.ts'
import type { TurnManagementStore } from './turn-management-store-interface.ts'
import { createTurnStatements } from './turn-statements.ts'

export function createTurnPartLoader(
  engine: Engine,
  encryption: RowEncryption,
): Pick<TurnManagementStore, 'loadTurn' | 'loadChainSlice' | 'findTurnsOfItems'> {
  const sql = createChainSliceStatements(engine.language)
  const turnSql = createTurnStatements(engine.language)
  const management = createTurnManagementStatements(engine.language)
  const readRows = async <Row>(query: SqlQuery) =>
    ((await engine.read([query]))[0] ?? []) as readonly Row[]
  const countItems = async (turnIds: string): Promise<number> => {
    const [row] = await readRows<{ readonly items: number }>(turnSql.countItemsOfTurns({ turnIds }))
    return row?.items ?? 0
  }
  /** Reads the request fields that a turn shares with its parent. */
  const loadInheritedFields = async (
    turn: DecryptedTurnRow,
    key: OwnedRowKey,
    claimMemory: ClaimMemory,
  ): Promise<JsonObject> => {
    const inherited = decryptRows(encryption, key, (reader) =>
      Object.entries(listInheritedDigests(turn, reader)),
    )
    if (inherited.length === 0) return {}
    const names = new Map(
      inherited.map(([name, digest]) => [
        `,${JSON.stringify(name)}:${JSON.stringify(digest)}`,
        name,
      ]),
    )
    const digests = JSON.stringify([...names.keys()])
    const sources = await readRows<InheritedFieldRow>(sql.inheritedFields({ ...key, digests }))
    // Several fields may be stored in the same request.
    const unique = [...new Map(sources.map((source) => [source.id, source])).values()]
    const bytes = unique.reduce((sum, { request }) => sum + request.length, 0)
    claimItemMemory(bytes, 0, claimMemory)
    const { rows, failures } = await decryptLongTexts(
      engine,
      key,
      unique.map(({ id, request }) => ({
        turn_id: id,
        side: 'request' as const,
        position: 0,
        body: request,
      })),
      encryption.cipher,
      { claimMemory, claimsPieces: true },
    )
    return decryptRows(
      encryption,
      key,
      ({ parsePlain }) => {
        const requests = new Map(rows.map((row) => [row.turn_id, parsePlain(row.text)]))
        const fields = sources.flatMap(({ id, digest }) => {
          const name = names.get(digest) ?? ''
          const request = requests.get(id) ?? null
          return request !== null && Object.hasOwn(request, name)
            ? [[name, request[name]] as const]
            : []
        })
        return Object.fromEntries(fields)
      },
      { rule: 'fail', failures },
    )
  }
  return {
    async loadTurn(owner, turnId, claimMemory = () => undefined) {
      const key = encodeOwnedRowKey(owner, turnId)
      const [[found] = [], ownItems = []] = await engine.read([
        sql.turnById(key),
        management.turnItems(key),
      ])
      if (found === undefined) return null
      const turn = addRequestSize(found as SizedTurnRow)
      const turnIds = JSON.stringify([key.id])
      const count = ownItems.length > 0 ? ownItems.length : await countItems(turnIds)
      claimItemMemory(turn.bytes, count, claimMemory)
      // The statement returns no items if they are too large to be read at once.
      const isComplete = ownItems.length === count
      const itemRows = isComplete ? ownItems : await readRows(turnSql.itemsOfTurns({ turnIds }))
      const { turns, items, failures } = await decryptTurnRows(
        engine,
        turnSql.media,
        key,
        { turns: [turn], items: itemRows as readonly ItemBodyRow[] },
        encryption,
        { claimMemory },
      )
      const [decrypted] = turns
      const inherited =
        decrypted === undefined ? {} : await loadInheritedFields(decrypted, key, claimMemory)
      const decoded = decryptRows(
        encryption,
        key,
        (reader) => decodeOrderedTurns(turns, items, inherited, reader),
        { rule: 'fail', failures },
      )
      return decoded[0] ?? null
    },
    async loadChainSlice(owner, { lastTurnId, ...slice }, claimMemory = () => undefined) {
      const key = encodeOwnedRowKey(owner, lastTurnId)
      const turns = await readRows<SizedTurnRow>(sql.sliceTurns({ ...key, ...slice }))
      const parents = new Set(turns.map(({ parent }) => parent))
      const last = turns.find(({ id }) => !parents.has(id))
      if (last === undefined) return []
      const path = orderChain(last.id, turns).map(addRequestSize)
      const count = await countItems(JSON.stringify(path.map(({ id }) => id)))
      claimItemMemory(sumBytes(path), count, claimMemory)
      return readInSlices(path, async (part) => {
        const turnIds = JSON.stringify(part.map(({ id }) => id))
        const rows = await readRows<ItemBodyRow>(turnSql.itemsOfTurns({ turnIds }))
        const {
          turns: decrypted,
          items,
          failures,
        } = await decryptTurnRows(
          engine,
          turnSql.media,
          key,
          { turns: await readRequests(engine, turnSql, part), items: rows },
          encryption,
          { claimMemory },
        )
        return decryptRows(
          encryption,
          key,
          (reader) => decodeSeparateTurns(decrypted, items, reader),
          { rule: 'fail', failures },
        )
      })
    },
    async findTurnsOfItems(owner, itemIds) {
      const keys = itemIds.map(encodeKeyColumn)
      if (keys.includes(null)) return null
      const turnIds = itemIds.flatMap((id) => parseItemId(id)?.turnId ?? [])
      const rows = await readRows<TurnOfItemRow>(
        sql.turnsOfItems({
          ...encodeOwner(owner),
          itemIds: JSON.stringify([...new Set(keys)]),
          turnIds: JSON.stringify([...new Set(turnIds.map(encodeColumnText))]),
        }),
      )
      const ofItems = Map.groupBy(rows, (row) => row.item_id)
      const isLimited = [...ofItems].some(
        ([itemId, found]) => itemId !== null && found.length >= MAX_TURNS_PER_ITEM_ID,
      )
      if (isLimited) return null
      return rows.flatMap(({ id, thread, depth, is_own: isOwn }) =>
        id === null || isOwn === 0
          ? []
          : [{ turnId: decodeColumnText(id), thread: decodeColumnText(thread), depth }],
      )
    },
  }
}
