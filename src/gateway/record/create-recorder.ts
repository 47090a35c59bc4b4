/**
 * Creates the recorder of one answer. If the client asked for the turn to be stored, the turn is opened
 * at once. Otherwise it is opened with the first item that the client cannot send back (reasoning, for
 * example); an exchange of plain text writes nothing. A slow database delays such an answer by at most
 * 1 s, a requested turn by 5 s.
 */
import { itemId } from '../../core/turn-derived-ids.ts'
import type { Item } from '../../core/item.ts'
import { TIMED_OUT, waitWithTimeout } from '../../core/wait-with-timeout.ts'
import type { Recorder } from './recorder-interface.ts'
import type { TurnWriter } from './turn-writer.ts'

export interface ItemRetentionRule {
  /** True if the item is useful later and the client will not send it back. */
  readonly isWorthStoring: (item: Item) => boolean
  /** True if an item that has only started may be worth storing, judged by its type alone. */
  readonly mayBeWorthStoring: (item: Item) => boolean
  /** False for items that are never stored, such as reasoning with `PERSIST_REASONING=disabled`. */
  readonly isStorable: (item: Item) => boolean
}

export interface RecorderOptions {
  readonly turnId: string
  /** True if the client asked to store the turn. */
  readonly isRequested: boolean
  readonly rule: ItemRetentionRule
  readonly openWriter: () => TurnWriter
  /** Called when the answer goes on without waiting for the database any longer. */
  readonly onTimeout: () => void
  /** Keeps the process alive until the turn is written. */
  readonly waitUntil: (work: Promise<unknown>) => void
}

export function createRecorder(options: RecorderOptions): Recorder {
  const { turnId, isRequested, rule, openWriter, onTimeout, waitUntil } = options
  let writer: TurnWriter | null = isRequested ? openWriter() : null
  /** Items before the first one that is worth storing. */
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
    // A turn that was not requested is not announced to the client by its id.
    opened: openState === null ? Promise.resolve(false) : openState.then((state) => state === true),
    itemStarted(item) {
      // The marker in the first text can name the turn only if the turn is open by then.
      if (!isRequested && rule.mayBeWorthStoring(item)) requireWriter()
    },
    itemEnded(item, index) {
      if (!rule.isStorable(item)) hasOmittedItem = true
      else if (writer === null && !rule.isWorthStoring(item)) pending.push([item, index])
      else {
        const isRenumbered = isRequested && hasOmittedItem
        requireWriter().addItem(isRenumbered ? withClientId(item, turnId, index) : item, index)
      }
    },
    canBeReferenced: () => writer !== null && writer.canBeReferenced(),
    whenReferenceable: () => writer?.whenReferenceable() ?? null,
    isStoring: () => !isRequested && writer !== null,
    loadStoredParent: async () => (await writer?.loadStoredParent()) ?? null,
    async settle(outcome, ending, provenance) {
      if (openState !== null) {
        const settled = requireWriter().close(outcome, ending, provenance)
        return (await openState) === TIMED_OUT ? outcome : settled
      }
      const isWorthStoring =
        outcome.items.some(rule.isWorthStoring) || provenance.reasoningRejectedBy !== null
      if (writer === null && !isWorthStoring) return outcome
      const stored = { ...outcome, items: outcome.items.filter(rule.isStorable) }
      const settled = requireWriter().close(stored, ending, provenance)
      waitUntil(settled)
      if ((await waitWithTimeout(settled, CLOSE_WAIT_MS)) === TIMED_OUT) onTimeout()
      return outcome
    },
  }
}

async function waitForOpening(
  { opened }: TurnWriter,
  onTimeout: () => void,
): Promise<boolean | typeof TIMED_OUT> {
  const state = await waitWithTimeout(opened, OPEN_WAIT_MS)
  if (state === TIMED_OUT) onTimeout()
  return state
}

/** Max wait for opening a requested turn: longer than a healthy database takes, shorter than clients wait. */
const OPEN_WAIT_MS = 5000

/** The longest delay of an answer's last event by a turn that the client did not ask to store. */
const CLOSE_WAIT_MS = 1000

/**
 * Gives the stored item the id that the client was sent. That id counts the omitted items, e.g. `rs_…_0`,
 * `msg_…_1`.
 */
function withClientId(item: Item, turnId: string, index: number): Item {
  if (item.type === 'opaque' || (item.id ?? '') !== '') return item
  return { ...item, id: itemId(item.type, turnId, index) }
}
