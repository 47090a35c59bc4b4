/**
 * Writes one turn to the store while its answer is streamed: the turn is opened while the upstream is
 * still thinking, finished items are journaled, and the turn is closed before the client receives the
 * last event. A token is never delayed, except the first text of an answer whose marker names the turn.
 */
import { removeGatewayToolItems } from '../../core/items/gateway-tool-items.ts'
import type { Item } from '../../core/item.ts'
import type { Outcome } from '../../core/fold-answer-outcome.ts'
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
import type { AnswerProvenance } from './recorder-interface.ts'

/** Delay of a write: items that end within 25 ms share one, and an answer that ends sooner needs none. */
const JOURNAL_DELAY_MS = 25

export interface TurnWriterOptions {
  /** The turn with its parent, as it is stored. */
  readonly turnWithParent: Promise<TurnWithParent>
  /** The lock of the conversation that the turn is added to. */
  readonly lock: ConversationLock | null
  /** True for an item that the client will not send back. */
  readonly isWorthStoring: (item: Item) => boolean
  /** True if a marker is to name the turn: its items are then written without delay. */
  readonly receivesMarkers?: boolean
}

export interface TurnWriter {
  /** Resolves to true when the turn is durable, to false when it could not be stored. */
  readonly opened: Promise<boolean>
  readonly addItem: (item: Item, index: number) => void
  /** True once the turn holds something worth storing and all of that is durable. */
  readonly canBeReferenced: () => boolean
  /** Resolves when everything added so far is written or has failed; null if nothing has to be written. */
  readonly whenReferenceable: () => Promise<unknown> | null
  readonly loadStoredParent: () => Promise<Pick<NewTurn, 'parent'> | null>
  /** Returns the outcome that the client may be sent: a failure if the turn could not be closed. */
  readonly close: (
    outcome: Outcome,
    ending: 'finished' | 'cancelled',
    provenance: AnswerProvenance,
  ) => Promise<Outcome>
}

/** `turn`: the fields that are known before the parent is found. */
export function openTurnWriter(
  turn: Pick<NewTurn, 'id' | 'tenant' | 'user' | 'dialect'>,
  { turnWithParent, lock, isWorthStoring, receivesMarkers = false }: TurnWriterOptions,
  ports: Ports<'log' | 'nowMs' | 'replica' | 'store'>,
): TurnWriter {
  const { store, log } = ports
  let isOpen = false
  let holdsWorthyItem = false
  let isClosed = false
  const opened = openTurn(turnWithParent, turn.id, ports).then((isDurable) => (isOpen = isDurable))
  const delayMs = receivesMarkers ? 0 : JOURNAL_DELAY_MS
  const journal = createJournal(turn, { store, opened, isWorthStoring, delayMs }, log)
  const canBeReferenced = (): boolean =>
    holdsWorthyItem && (isClosed || (isOpen && journal.isWritten()))
  return {
    opened,
    canBeReferenced,
    whenReferenceable: () => (!holdsWorthyItem || canBeReferenced() ? null : journal.written()),
    loadStoredParent: async () => ((await opened) ? (await turnWithParent).turn : null),
    addItem(item, index) {
      holdsWorthyItem ||= isWorthStoring(item)
      journal.add({ position: index, item })
    },
    async close(outcome, ending, provenance) {
      if (!(await opened)) {
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
          holdsConversation: lock !== null,
          items: unwritten,
          endedAtMs: ports.nowMs(),
        })
        // The client must not receive a finished answer that is not stored.
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

/** Resolves to whether the turn is durable. */
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

/** The failure of an answer whose lease was not renewed in time, so that another replica closed the turn. */
const TAKEN_OVER = createFailure(
  'store_unavailable',
  'The answer was given up while the gateway was away from its database, so it must not be relied on. Ask again.',
)

interface JournalOptions extends Pick<TurnWriterOptions, 'isWorthStoring'> {
  readonly store: TurnStore
  readonly opened: Promise<boolean>
  readonly delayMs: number
}

function createJournal(
  turn: Pick<NewTurn, 'id' | 'tenant'>,
  { store, opened, isWorthStoring, delayMs }: JournalOptions,
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
    if (!(await opened)) return
    try {
      await store.journalItems(turn.id, turn.tenant, items)
      unwritten -= countWorthy(items)
    } catch (error) {
      // The items are written again when the turn is closed.
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
      if (store.gathersItems === true) return void store.journalItems(turn.id, turn.tenant, [item])
      waiting.push(item)
      timer ??= setTimeout(flush, delayMs)
    },
    /** True if all items worth storing are written; text that the client sends back does not count. */
    isWritten: () => unwritten === 0,
    /** Resolves when everything added so far is written or has failed. */
    async written(): Promise<void> {
      if (timer !== null) {
        clearTimeout(timer)
        flush()
      }
      await writing
    },
    /** Returns the items that are not written yet. */
    async stop(): Promise<readonly PlacedItem[]> {
      if (timer !== null) clearTimeout(timer)
      timer = null
      await writing
      return waiting
    },
  }
}

/** Returns the state that a turn with this outcome is stored with. */
export function resolveTurnState({ finish }: Outcome): Exclude<TurnEnding['state'], 'cancelled'> {
  return finish === 'stop' ? 'complete' : finish === null ? 'failed' : 'incomplete'
}

/** Returns null for an unfinished answer: the client may send back any part of it. */
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
