/**
 * Creates the recorder of one answer. If the client asks to store the turn, the turn is opened at once, and a slow
 * database delays the start of the answer by at most 5 s. Otherwise the turn is opened at the first item worth
 * storing (e.g. reasoning), and the answer's last event is delayed by at most 1 s. An answer without such an item
 * (plain text) is not stored, unless the upstream rejected reasoning; only the client's ids of its message are.
 */
import type { Item } from '../../core/item.ts'
import { itemId } from '../../core/turn-derived-ids.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/async/wait-with-timeout.ts'
import type { UnrequestedStorageRule } from './unrequested-storage-rule.ts'
import type { Recorder } from './recorder-interface.ts'
import type { TurnWriter } from './turn-writer.ts'

export interface RecorderOptions {
  readonly turnId: string
  /** True if the client asks to store the turn. */
  readonly clientAsksToStore: boolean
  /** True if the answer becomes a failure when its requested turn could not be closed. */
  readonly failsIfUnclosed: boolean
  readonly rule: UnrequestedStorageRule
  readonly openWriter: () => TurnWriter
  /** Adds the gateway's own fields to an item before it is stored. */
  readonly markItem?: (item: Item) => Item
  /** Stores the client's ids of an answer whose turn is not stored; null if there are none. */
  readonly storePlainAnswer?: (() => Promise<void>) | null
  /** Called if the database takes so long that the answer does not wait for it any longer. */
  readonly onTimeout: () => void
  /** Keeps the process alive until all writes of the recorder are done. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

export function createRecorder(options: RecorderOptions): Recorder {
  const {
    turnId,
    clientAsksToStore,
    failsIfUnclosed,
    rule,
    openWriter,
    storePlainAnswer = null,
    markItem = keepItem,
    onTimeout,
    waitUntil,
  } = options
  let writer: TurnWriter | null = clientAsksToStore ? openWriter() : null
  /** The items before the first item worth storing, with their indexes. They are stored together with that item. */
  const pending: (readonly [Item, number])[] = []
  let hasOmittedItem = false
  const openState = writer === null ? null : waitForOpening(writer, onTimeout)
  const requireWriter = (): TurnWriter => {
    if (writer !== null) return writer
    writer = openWriter()
    for (const [item, index] of pending) writer.addItem(item, index)
    return writer
  }
  return {
    // False for a turn that the client did not ask to store, because the client is not sent the turn's id.
    whenOpened:
      openState === null ? Promise.resolve(false) : openState.then((state) => state === true),
    itemStarted(item) {
      // Opens the turn early, so that a marker in the answer's first text can name it.
      if (!clientAsksToStore && rule.mayBecomeWorthStoring(item)) requireWriter()
    },
    itemEnded(endedItem, index) {
      const item = markItem(endedItem)
      if (!rule.isStoringAllowed(item)) hasOmittedItem = true
      else if (writer === null && !rule.isWorthStoring(item)) pending.push([item, index])
      else {
        const isRenumbered = clientAsksToStore && hasOmittedItem
        requireWriter().addItem(isRenumbered ? withClientId(item, turnId, index) : item, index)
      }
    },
    itemAmended(amendedItem, index) {
      const item = markItem(amendedItem)
      if (!rule.isStoringAllowed(item)) return
      const waiting = pending.findIndex(([, position]) => position === index)
      if (writer === null && waiting >= 0) pending[waiting] = [item, index]
      else writer?.amendItem(item, index)
    },
    canBeNamedByMarker: () => writer !== null && writer.canBeNamedByMarker(),
    whenNameableByMarker: () => writer?.whenNameableByMarker() ?? null,
    isStoringUnrequestedTurn: () => !clientAsksToStore && writer !== null,
    getOpeningError: () => writer?.getOpeningError() ?? null,
    loadStoredParent: async () => (await writer?.loadStoredParent()) ?? null,
    async settle(outcome, ending, metadata) {
      if (openState !== null) {
        const settled = requireWriter().close(outcome, ending, metadata)
        if ((await openState) === TIMED_OUT) return outcome
        const stored = await settled
        return failsIfUnclosed ? stored : outcome
      }
      const isWorthStoring =
        outcome.items.some(rule.isWorthStoring) || metadata.reasoningRejectedBy !== null
      if (writer === null && !isWorthStoring) {
        if (storePlainAnswer === null) return outcome
        const storing = storePlainAnswer()
        waitUntil(storing)
        if ((await waitWithTimeout(storing, CLOSE_WAIT_MS)) === TIMED_OUT) onTimeout()
        return outcome
      }
      const stored = { ...outcome, items: outcome.items.filter(rule.isStoringAllowed) }
      const settled = requireWriter().close(stored, ending, metadata)
      waitUntil(settled)
      if ((await waitWithTimeout(settled, CLOSE_WAIT_MS)) === TIMED_OUT) onTimeout()
      return outcome
    },
  }
}

const keepItem = (item: Item): Item => item

async function waitForOpening(
  { whenOpened }: TurnWriter,
  onTimeout: () => void,
): Promise<boolean | typeof TIMED_OUT> {
  const state = await waitWithTimeout(whenOpened, OPEN_WAIT_MS)
  if (state === TIMED_OUT) onTimeout()
  return state
}

/** The maximum wait for a requested turn to open. Clients have longer time limits than that. */
export const OPEN_WAIT_MS = 5000

/** The maximum delay of an answer's last event while an unrequested turn is closed. */
const CLOSE_WAIT_MS = 1000

/**
 * Adds the id that the client was sent. Omitted items count: after omitted reasoning (`rs_…_0`), the message has the
 * id `msg_…_1`, not `msg_…_0`.
 */
function withClientId(item: Item, turnId: string, index: number): Item {
  if (item.type === 'opaque' || (item.id ?? '') !== '') return item
  return { ...item, id: itemId(item.type, turnId, index) }
}
