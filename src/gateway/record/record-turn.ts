/**
 * Keeps a turn while it happens: opened while the upstream is still thinking, items journaled as
 * they are finished, closed before the client hears the end. Nothing of it delays a token, but for the
 * first words of an answer that is to name its turn (`soonNamed`).
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
import type { GatewayDependencies } from '../dependencies-interface.ts'
import { extendContentHash } from './hash-conversation-content.ts'
import type { ConversationLock } from '../history/lock-conversation.ts'
import { waitWithTimeout } from '../../core/wait-with-timeout.ts'
import type { TurnWithParent } from './find-parent-turn.ts'
import type { Recorder } from './recorder-interface.ts'

/** A burst of items makes one write, and an answer that ends at once needs no journal at all. */
const JOURNAL_DELAY_MS = 25

export interface TurnRecordingOptions {
  /** The turn as it is to be stored. */
  readonly placed: Promise<TurnWithParent>
  /** The conversation that it is to add to. */
  readonly hold: ConversationLock | null
  /** Whether an item is one that its client will forget. */
  readonly isWorth: (item: Item) => boolean
  /** Whether the answer is to name the turn, which waits for what it holds to be written. */
  readonly isMarked?: boolean
}

/** `turn` is what is known of it before it has found its place. */
export function recordTurn(
  turn: Pick<NewTurn, 'id' | 'tenant' | 'user' | 'dialect'>,
  { placed, hold, isWorth, isMarked = false }: TurnRecordingOptions,
  world: GatewayDependencies,
): Recorder {
  const { store, log } = world
  let isOpen = false
  let holdsWorth = false
  let isClosed = false
  const opened = openPlaced(placed, turn.id, world).then((isDurable) => (isOpen = isDurable))
  const delayMs = isMarked ? 0 : JOURNAL_DELAY_MS
  const journal = journalOf(turn, { store, opened, isWorth, delayMs }, log)
  const mayBeNamed = (): boolean => holdsWorth && (isClosed || (isOpen && journal.isWritten()))
  return {
    opened,
    itemStarted: () => undefined,
    itemEnded(item, index) {
      holdsWorth ||= isWorth(item)
      journal.add({ position: index, item })
    },
    loadStoredParent: async () => ((await opened) ? (await placed).turn : null),
    isStoring: () => false,
    canBeReferenced: mayBeNamed,
    whenReferenceable: () =>
      !holdsWorth || mayBeNamed() ? null : waitWithTimeout(journal.written(), NAMING_PATIENCE_MS),
    async settle(outcome, ending, made) {
      if (!(await opened)) {
        await hold?.release()
        return outcome
      }
      const rest = await journal.stop()
      hold?.stopRenewing()
      try {
        const end = endingOf(turn, outcome, ending)
        isClosed = await store.closeTurn({
          ...end,
          ...made,
          origin: made.origin(),
          fingerprint: made.fingerprint(),
          contentHash: hashAtEnd(turn, outcome, (await placed).contentHash),
          holdsConversation: hold !== null,
          items: rest,
          endedAtMs: world.nowMs(),
        })
        // What is told is what is kept.
        return isClosed ? outcome : { ...outcome, finish: null, failure: GIVEN_UP }
      } catch (error) {
        log('error', 'turn-not-closed', { turn: turn.id, why: errorMessage(error) })
        // It must not look for ever as if it were still on its way.
        world.replica.releaseTurn({ turnId: turn.id, tenant: turn.tenant, user: turn.user })
        return { ...outcome, finish: null, failure: NOT_KEPT }
      }
    },
  }
}

/** Whether the turn is durable. */
async function openPlaced(
  placed: Promise<TurnWithParent>,
  turnId: string,
  { store, log }: GatewayDependencies,
): Promise<boolean> {
  try {
    await store.openTurn((await placed).turn)
    return true
  } catch (error) {
    log('warn', 'turn-not-opened', { turn: turnId, why: errorMessage(error) })
    return false
  }
}

/** Longer than a write takes, and so short that nobody sees it in front of the first word. */
const NAMING_PATIENCE_MS = 50

const NOT_KEPT = createFailure(
  'store_unavailable',
  'The answer could not be kept because the database does not answer, so it must not be relied on. Ask again.',
)

/** This process was away for so long that another one took it for dead. */
const GIVEN_UP = createFailure(
  'store_unavailable',
  'The answer was given up while the gateway was away from its database, so it must not be relied on. Ask again.',
)

interface Journaling extends Pick<TurnRecordingOptions, 'isWorth'> {
  readonly store: TurnStore
  readonly opened: Promise<boolean>
  readonly delayMs: number
}

function journalOf(
  turn: Pick<NewTurn, 'id' | 'tenant'>,
  { store, opened, isWorth, delayMs }: Journaling,
  log: GatewayDependencies['log'],
) {
  const worthIn = (items: readonly PlacedItem[]): number =>
    items.filter(({ item }) => isWorth(item)).length
  let waiting: PlacedItem[] = []
  let timer: ReturnType<typeof setTimeout> | null = null
  let writing: Promise<void> = Promise.resolve()
  let unwritten = 0
  let isWarned = false

  const write = async (items: readonly PlacedItem[]): Promise<void> => {
    if (!(await opened)) return
    try {
      await store.journalItems(turn.id, turn.tenant, items)
      unwritten -= worthIn(items)
    } catch (error) {
      // They are written again when the turn is closed.
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
      unwritten += worthIn([item])
      if (store.gathersItems === true) return void store.journalItems(turn.id, turn.tenant, [item])
      waiting.push(item)
      timer ??= setTimeout(flush, delayMs)
    },
    /** What its client will forget, that is; words it sends back itself. */
    isWritten: () => unwritten === 0,
    /** All of it, as far as it can be. It does not wait for more to come. */
    async written(): Promise<void> {
      if (timer !== null) {
        clearTimeout(timer)
        flush()
      }
      await writing
    },
    /** What was not written yet. */
    async stop(): Promise<readonly PlacedItem[]> {
      if (timer !== null) clearTimeout(timer)
      timer = null
      await writing
      return waiting
    },
  }
}

function endingOf(
  turn: Pick<NewTurn, 'id' | 'tenant'>,
  outcome: Outcome,
  ending: 'finished' | 'cancelled',
): Omit<TurnEnding, 'origin' | 'items' | 'endedAtMs'> {
  const { finish, failure, usage, model: servedModel } = outcome
  const isCancelled = ending === 'cancelled' && finish === null
  const state = isCancelled ? 'cancelled' : resolveTurnState(outcome)
  return {
    turnId: turn.id,
    tenant: turn.tenant,
    state,
    usage,
    failure,
    finish: finish,
    servedModel,
  }
}

/** The state of a turn whose answer came to this. */
export function resolveTurnState({ finish }: Outcome): Exclude<TurnEnding['state'], 'cancelled'> {
  return finish === 'stop' ? 'complete' : finish === null ? 'failed' : 'incomplete'
}

/** Of an answer that was not finished nobody knows what its client will send back. */
function hashAtEnd(
  { dialect }: Pick<NewTurn, 'dialect'>,
  { finish, items }: Outcome,
  before: string | null,
): string | null {
  if (before === null || finish === null) return null
  const told = removeGatewayToolItems(items)
  return extendContentHash(
    before,
    dialect === ('chat' satisfies DialectName) ? predictItemsSentBack(told) : told,
  )
}
