/**
 * Writes one turn to the database while its answer is streamed. The turn is opened before the first text, each
 * finished item is journaled (written before the turn ends), and the turn is closed before the client receives the
 * last event. The writes delay no text, except the first one if a marker in it names the turn.
 */
import { removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { Outcome } from '../../core/collect-answer-outcome.ts'
import type { DialectName } from '../../core/prompt.ts'
import { predictItemsSentBack } from '../../dialects/chat/predict-items-sent-back.ts'
import { createFailure, errorMessage } from '../../core/errors/gateway-error.ts'
import type {
  NewTurn,
  PlacedItem,
  TurnStore,
  TurnEnding,
} from '../../store/turns/turn-store-interface.ts'
import type { GatewayDependencies, Ports } from '../dependencies-interface.ts'
import { extendContentHash } from './hash-conversation-content.ts'
import type { ConversationLock } from '../history/lock-conversation.ts'
import type { TurnWithParent } from './find-parent-turn.ts'
import type { Recorder } from './recorder-interface.ts'

/** The delay of a write, so that items that end within 25 ms share one. */
const JOURNAL_DELAY_MS = 25

export interface TurnWriterOptions {
  readonly turnWithParent: Promise<TurnWithParent>
  /** The lock of the conversation that the turn is added to; null if there is none. */
  readonly lock: ConversationLock | null
  /** True for an item that is useful later and that the client will not send back. */
  readonly isWorthStoring: (item: Item) => boolean
  /** True if a marker in the answer will name the turn. Items are then written without delay. */
  readonly receivesMarkers?: boolean
}

export interface TurnWriter extends Pick<
  Recorder,
  'whenOpened' | 'canBeNamedByMarker' | 'whenNameableByMarker'
> {
  readonly addItem: (item: Item, index: number) => void
  readonly loadStoredParent: NonNullable<Recorder['loadStoredParent']>
  /** Ends the turn. Resolves to the outcome for the client: a failure if the turn could not be closed. */
  readonly close: Recorder['settle']
}

export type TurnWriterPorts = Ports<'log' | 'nowMs' | 'replica' | 'store'>

/** Opens the turn and returns its writer. `turn`: the fields that are known before the parent is found. */
export function openTurnWriter(
  turn: Pick<NewTurn, 'id' | 'tenant' | 'user' | 'dialect'>,
  { turnWithParent, lock, isWorthStoring, receivesMarkers = false }: TurnWriterOptions,
  ports: TurnWriterPorts,
): TurnWriter {
  const { store, log } = ports
  let isOpen = false
  let holdsWorthyItem = false
  let isClosed = false
  const whenOpened = openTurn(turnWithParent, turn.id, ports).then(
    (isDurable) => (isOpen = isDurable),
  )
  const delayMs = receivesMarkers ? 0 : JOURNAL_DELAY_MS
  const journal = createJournal(turn, { store, whenOpened, isWorthStoring, delayMs }, log)
  const canBeNamedByMarker = (): boolean =>
    holdsWorthyItem && (isClosed || (isOpen && journal.isWritten()))
  return {
    whenOpened,
    canBeNamedByMarker,
    whenNameableByMarker: () =>
      !holdsWorthyItem || canBeNamedByMarker() ? null : journal.written(),
    loadStoredParent: async () => ((await whenOpened) ? (await turnWithParent).turn : null),
    addItem(item, index) {
      holdsWorthyItem ||= isWorthStoring(item)
      journal.add({ position: index, item })
    },
    async close(outcome, ending, provenance) {
      if (!(await whenOpened)) {
        await lock?.release()
        return outcome
      }
      const unwritten = await journal.stop()
      lock?.stopRenewing()
      try {
        const { usage, failure, finish, model: servedModel } = outcome
        isClosed = await store.closeTurn({
          turnId: turn.id,
          tenant: turn.tenant,
          state: ending === 'cancelled' && finish === null ? ending : resolveTurnState(outcome),
          usage: provenance.usage ?? usage,
          failure,
          finish,
          servedModel,
          origin: provenance.origin(),
          fingerprint: provenance.fingerprint(),
          reasoningRefusedBy: provenance.reasoningRejectedBy,
          contentHash: hashConversation(turn, outcome, (await turnWithParent).contentHash),
          hasConversationLock: lock !== null,
          items: unwritten,
          endedAtMs: ports.nowMs(),
        })
        // Not closed by this replica: the answer becomes a failure, because it is not stored as finished.
        return isClosed ? outcome : { ...outcome, finish: null, failure: TAKEN_OVER }
      } catch (error) {
        log('error', 'turn-not-closed', { turn: turn.id, why: errorMessage(error) })
        // Another replica closes the turn later; until then it would look as if it were in progress.
        ports.replica.reportUnclosedTurn({ turnId: turn.id, tenant: turn.tenant, user: turn.user })
        return { ...outcome, finish: null, failure: NOT_STORED }
      }
    },
  }
}

/** Opens the turn in the database. Resolves to true if that succeeded. */
async function openTurn(
  turnWithParent: Promise<TurnWithParent>,
  turnId: string,
  { store, log }: Ports<'log' | 'store'>,
): Promise<boolean> {
  try {
    await store.openTurn((await turnWithParent).turn)
    return true
  } catch (error) {
    log('warn', 'turn-not-opened', { turn: turnId, why: errorMessage(error) })
    return false
  }
}

const NOT_STORED = createFailure(
  'store_unavailable',
  'The answer could not be kept because the database does not answer, so it must not be relied on. Ask again.',
)

/** The failure if another replica has closed the turn, because this one did not renew its lease in time. */
const TAKEN_OVER = createFailure(
  'store_unavailable',
  'The answer was given up while the gateway was away from its database, so it must not be relied on. Ask again.',
)

interface JournalOptions extends Pick<TurnWriterOptions, 'isWorthStoring'> {
  readonly store: TurnStore
  readonly whenOpened: Promise<boolean>
  readonly delayMs: number
}

function createJournal(
  turn: Pick<NewTurn, 'id' | 'tenant'>,
  { store, whenOpened, isWorthStoring, delayMs }: JournalOptions,
  log: GatewayDependencies['log'],
) {
  const countWorthy = (items: readonly PlacedItem[]): number =>
    items.filter(({ item }) => isWorthStoring(item)).length
  let waiting: PlacedItem[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  let writing: Promise<void> = Promise.resolve()
  let unwritten = 0
  let isWarned = false

  const write = async (items: readonly PlacedItem[]): Promise<void> => {
    if (!(await whenOpened)) return
    try {
      await store.journalItems(turn.id, turn.tenant, items)
      unwritten -= countWorthy(items)
    } catch (error) {
      // The items are tried again when the turn is closed.
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
      unwritten += countWorthy([item])
      if (store.collectsItems === true) return void store.journalItems(turn.id, turn.tenant, [item])
      waiting.push(item)
      timer ??= setTimeout(flush, delayMs)
    },
    /** True if all items worth storing are written. Other items, which the client sends back, do not count. */
    isWritten: () => unwritten === 0,
    /** Writes the waiting items at once. Resolves when all added items are written or have failed. */
    async written(): Promise<void> {
      if (timer !== null) {
        clearTimeout(timer)
        flush()
      }
      await writing
    },
    /** Stops writing. Returns the items that are not written yet. */
    async stop(): Promise<readonly PlacedItem[]> {
      if (timer !== null) clearTimeout(timer)
      timer = null
      await writing
      return waiting
    },
  }
}

/** Returns the state of a turn that ended with this outcome and was not cancelled. */
export function resolveTurnState({ finish }: Outcome): Exclude<TurnEnding['state'], 'cancelled'> {
  return finish === 'stop' ? 'complete' : finish === null ? 'failed' : 'incomplete'
}

/** Hashes the conversation with the answer; returns null if the answer is unfinished, because clients may shorten it. */
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
