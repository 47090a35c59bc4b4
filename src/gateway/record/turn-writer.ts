/**
 * Writes one turn to the database while its answer is streamed: opens the turn, journals each finished item (writes it
 * before the turn ends), and closes the turn. The callers decide what waits for these writes: the start of an answer
 * (`create-recorder.ts`), its last event, and its first text if a marker in it names the turn.
 */
import { yieldToEventLoop } from '../../core/async/yield-to-event-loop.ts'
import { areItemsLongerThan } from '../../core/items/serialize-and-measure-item.ts'
import { unmarkReferencedReasoning } from '../../core/markers/reasoning-reference.ts'
import { removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { DialectName } from '../../core/prompt.ts'
import { predictItemsSentBack } from '../../dialects/chat/predict-items-sent-back.ts'
import { isPermanentFailure } from '../../core/errors/database-error.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type {
  NewTurn,
  PlacedItem,
  TurnEnding,
  TurnKey,
} from '../../store/turns/turn-store-interface.ts'
import type { Ports } from '../dependencies-interface.ts'
import { NOT_STORED, REJECTED, TAKEN_OVER } from './closing-failures.ts'
import { extendContentHash } from './hash-conversation-content.ts'
import type { ConversationLock } from '../history/lock-conversation.ts'
import type { TurnWithParent } from './find-parent-turn.ts'
import type { Recorder } from './recorder-interface.ts'

/** The delay of a journal write, so that items that end within 25 ms share one write. */
const JOURNAL_DELAY_MS = 25

export interface TurnWriterOptions {
  readonly turnWithParent: Promise<TurnWithParent>
  /** The lock of the conversation that the turn is added to; null if there is none. */
  readonly lock: ConversationLock | null
  /** True if the model needs the item in later requests and the client will not send it back. */
  readonly isWorthStoring: (item: Item) => boolean
  /**
   * True if a marker or another reference in the answer may name the turn. Items are then written without delay, because markers wait
   * for them.
   */
  readonly receivesMarkers?: boolean
}

export interface TurnWriter extends Pick<
  Recorder,
  'whenOpened' | 'canBeNamedByMarker' | 'whenNameableByMarker'
> {
  readonly getOpeningError: NonNullable<Recorder['getOpeningError']>
  readonly addItem: (item: Item, index: number) => void
  /** Replaces an added item when the turn is closed. */
  readonly amendItem: (item: Item, index: number) => void
  readonly loadStoredParent: NonNullable<Recorder['loadStoredParent']>
  /** Ends the turn. Resolves to the outcome for the client: a failure if the opened turn could not be closed. */
  readonly close: Recorder['settle']
}

export type TurnWriterPorts = Ports<'log' | 'nowMs' | 'replica' | 'store'>

/**
 * Opens the turn and returns its writer. `turn`: the fields that do not depend on the parent, which is still
 * searched.
 */
export function openTurnWriter(
  turn: Pick<NewTurn, 'id' | 'tenant' | 'user' | 'dialect'>,
  { turnWithParent, lock, isWorthStoring, receivesMarkers = false }: TurnWriterOptions,
  ports: TurnWriterPorts,
): TurnWriter {
  const { store, log } = ports
  let isOpen = false
  let holdsWorthyItem = false
  let isClosed = false
  const amendedItems: PlacedItem[] = []
  let openingError: unknown = null
  const whenOpened = openTurn(turnWithParent, turn.id, ports).then((error) => {
    openingError = error
    return (isOpen = error === null)
  })
  const stopRenewing = renewLease(turn.id, whenOpened, ports)
  const delayMs = receivesMarkers ? 0 : JOURNAL_DELAY_MS
  const journal = createJournal(turn, { ...ports, whenOpened, isWorthStoring, delayMs })
  const canBeNamedByMarker = (): boolean =>
    holdsWorthyItem && (isClosed || (isOpen && journal.isWritten()))
  return {
    whenOpened,
    getOpeningError: () => openingError,
    canBeNamedByMarker,
    whenNameableByMarker: () =>
      !holdsWorthyItem || canBeNamedByMarker()
        ? null
        : journal.written().then((isWritten) => isWritten && (isOpen || isClosed)),
    loadStoredParent: async () => ((await whenOpened) ? (await turnWithParent).turn : null),
    addItem(item, index) {
      holdsWorthyItem ||= isWorthStoring(item)
      journal.add({ position: index, item })
    },
    amendItem: (item, index) => void amendedItems.push({ position: index, item }),
    async close(outcome, ending, metadata) {
      const closingAtMs = ports.nowMs()
      const remaining = journal.stop()
      if (!(await whenOpened)) {
        await lock?.release()
        return outcome
      }
      const waiting = await remaining
      // The client did not wait that long, so its answer ended without references of the turn.
      const isTooLate = ports.nowMs() - closingAtMs > MAX_CLIENT_WAIT_MS
      const unwritten = isTooLate ? unmarkItems(waiting) : waiting
      // If hundreds of clients leave long answers at once, one answer is hashed and encoded in each pass of the event loop.
      const unwrittenItems = unwritten.map(({ item }) => item)
      if (areItemsLongerThan(unwrittenItems, LONG_ANSWER_CHARS)) await yieldToEventLoop()
      lock?.stopRenewing()
      stopRenewing()
      try {
        const { usage, failure, finish, model: servedModel } = outcome
        isClosed = await store.closeTurn({
          turnId: turn.id,
          tenant: turn.tenant,
          user: turn.user,
          state: ending === 'cancelled' && finish === null ? ending : resolveTurnState(outcome),
          usage: metadata.usage ?? usage,
          failure,
          finish,
          servedModel,
          origin: metadata.origin(),
          fingerprint: metadata.fingerprint(),
          reasoningRefusedBy: metadata.reasoningRejectedBy,
          contentHash: hashConversation(turn, outcome, (await turnWithParent).contentHash),
          hasConversationLock: lock !== null,
          items: unwritten,
          amendedItems,
          endedAtMs: ports.nowMs(),
        })
        // Not closed: another replica has ended the turn, or it was deleted. So the answer must become a failure.
        return isClosed ? outcome : { ...outcome, finish: null, failure: TAKEN_OVER }
      } catch (error) {
        log('error', 'turn-not-closed', { turn: turn.id, why: errorMessage(error) })
        // The next renewal of the replica's lease closes the turn. Until then it looks as if it were in progress.
        ports.replica.reportUnclosedTurn({ turnId: turn.id, tenant: turn.tenant, user: turn.user })
        return {
          ...outcome,
          finish: null,
          failure: isPermanentFailure(error) ? REJECTED : NOT_STORED,
        }
      }
    },
  }
}

const LONG_ANSWER_CHARS = 100_000

/** An answer ends 1,000 ms after its last item, although its turn is not closed. This is certainly before. */
const MAX_CLIENT_WAIT_MS = 900

/** Renews the lease of the turn while it is open, if it has one. Returns a function that stops this. */
function renewLease(
  turnId: string,
  whenOpened: Promise<boolean>,
  { store: { turnLease }, log }: Ports<'log' | 'store'>,
): () => void {
  if (turnLease === undefined) return () => undefined
  let timer: ReturnType<typeof setInterval> | undefined
  let isStopped = false
  const renew = (): void =>
    void turnLease.renew(turnId).catch((error: unknown) => {
      log('warn', 'lease-not-kept', { turn: turnId, why: errorMessage(error) })
    })
  void whenOpened.then((isOpen) => {
    if (isOpen && !isStopped) timer = setInterval(renew, turnLease.renewMs)
  })
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}

/** Opens the turn in the database. Resolves to the error if that fails, else to null. */
async function openTurn(
  turnWithParent: Promise<TurnWithParent>,
  turnId: string,
  { store, log }: Ports<'log' | 'store'>,
): Promise<unknown> {
  try {
    await store.openTurn((await turnWithParent).turn)
    return null
  } catch (error) {
    log('warn', 'turn-not-opened', { turn: turnId, why: errorMessage(error) })
    return error
  }
}

interface JournalOptions
  extends Pick<TurnWriterOptions, 'isWorthStoring'>, Ports<'log' | 'nowMs' | 'store'> {
  readonly whenOpened: Promise<boolean>
  readonly delayMs: number
}

function createJournal(
  turn: TurnKey,
  { store, whenOpened, isWorthStoring, delayMs, nowMs, log }: JournalOptions,
) {
  const countWorthy = (items: readonly PlacedItem[]): number =>
    items.filter(({ item }) => isWorthStoring(item)).length
  let waiting: PlacedItem[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  let writing: Promise<void> = Promise.resolve()
  /** Numbers of items worth storing. They are written in the order in which they were added. */
  let added = 0
  let writtenCount = 0
  let isWarned = false
  let stoppedAtMs: number | null = null
  /** True if a marker may wait for the items. */
  let isAwaited = false

  const isTooLate = (): boolean =>
    stoppedAtMs !== null && nowMs() - stoppedAtMs > MAX_CLIENT_WAIT_MS
  const write = async (items: readonly PlacedItem[]): Promise<void> => {
    if (!(await whenOpened)) return
    // The answer ended before its turn was open, so the write that closes the turn includes the items.
    if (stoppedAtMs !== null && !isAwaited) return void waiting.unshift(...items)
    try {
      await store.journalItems(turn, isTooLate() ? unmarkItems(items) : items)
      writtenCount += countWorthy(items)
    } catch (error) {
      // The next write includes these items again, at the latest the one that closes the turn.
      waiting.unshift(...items)
      if (!isWarned) log('warn', 'items-not-journaled', { turn: turn.id, why: errorMessage(error) })
      isWarned = true
    }
  }
  const flush = (): void => {
    timer = null
    const items = waiting
    waiting = []
    writing = writing.then(() => write(items))
  }
  return {
    add(item: PlacedItem): void {
      added += countWorthy([item])
      if (store.collectsItems === true) return void store.journalItems(turn, [item])
      waiting.push(item)
      timer ??= setTimeout(flush, delayMs)
    },
    /** True if all items worth storing are written. Other items do not count, because the client sends them back. */
    isWritten: () => writtenCount === added,
    /**
     * Writes the waiting items at once. Resolves to true when all items worth storing that were added before are
     * written, even if others were added meanwhile; to false if a write has failed.
     */
    async written(): Promise<boolean> {
      const expected = added
      isAwaited = true
      if (timer !== null) {
        clearTimeout(timer)
        flush()
      }
      await writing
      return writtenCount >= expected
    },
    /** Stops writing. Returns the items that are not written yet. */
    async stop(): Promise<readonly PlacedItem[]> {
      stoppedAtMs = nowMs()
      if (timer !== null) clearTimeout(timer)
      timer = null
      await writing
      return waiting
    },
  }
}

/** Removes the marks of reasoning that is stored after the answer, so that the client got no reference of it. */
function unmarkItems(items: readonly PlacedItem[]): readonly PlacedItem[] {
  return items.map(({ position, item }) => ({ position, item: unmarkReferencedReasoning(item) }))
}

/** Returns the state of a turn with this outcome that was not cancelled. */
export function resolveTurnState({ finish }: Outcome): Exclude<TurnEnding['state'], 'cancelled'> {
  return finish === 'stop' ? 'complete' : finish === null ? 'failed' : 'incomplete'
}

/**
 * Hashes the conversation including the answer; null for an unfinished answer, because clients may send it back
 * shorter.
 */
function hashConversation(
  { dialect }: Pick<NewTurn, 'dialect'>,
  { finish, items }: Outcome,
  before: string | null,
): string | null {
  if (before === null || finish === null) return null
  const visible = removeGatewayToolItems(items)
  return extendContentHash(
    before,
    dialect === ('chat' satisfies DialectName) ? predictItemsSentBack(visible) : visible,
  )
}
