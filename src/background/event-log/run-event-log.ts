/**
 * Keeps the event log of a run. The code that answers requests uses the log in place of a client and of a
 * store for the turn. Events and items are stored in batches; the last batch also ends the turn. Listeners
 * receive events only after these are stored.
 *
 * The log is *lost* to this process (its rows remain) if another replica has claimed or ended the run, if writes
 * fail for too long, or after `stopWriting`. It then writes nothing more, and looks like a disconnected client,
 * so that the upstream request is cancelled.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { ClientStream } from '../../gateway/http-exchange-interface.ts'
import type { EventGroup, OwnedRun } from '../../store/background-runs/run-store-interface.ts'
import type { TurnStore, TurnEnding } from '../../store/turns/turn-store-interface.ts'
import { createEventNumbering } from './number-events.ts'
import { createRunLogWriter, type RunLogBatch } from './run-log-writer.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export interface RunLog {
  readonly ownedRun: OwnedRun
  readonly client: ClientStream
  readonly turnStore: Pick<TurnStore, 'collectsItems' | 'journalItems' | 'closeTurn'>
  /** Resolves when the answer has ended or the log is lost. */
  readonly whenOver: Promise<RunLogEnd>
  /** Marks the log as lost and resolves when no write is in progress. */
  readonly stopWriting: () => Promise<void>
  readonly listen: (listener: RunLogListener) => RunLogSubscription
}

export interface RunLogStart {
  readonly firstEvent: number
  readonly openingEvents: EventGroup | null
}

/** `lost`: another replica may continue the run, so the state of the run must be read from the store. */
export type RunLogEnd = 'ended' | 'lost'

export interface RunLogListener {
  /** Called for each group of events after the group is stored. */
  readonly onEvents: (events: EventGroup) => void
  readonly onOver: (end: RunLogEnd) => void
}

export interface RunLogSubscription {
  /** Number of the first event that the listener receives, e.g. 12 if events 0 to 11 are stored. */
  readonly firstEvent: number
  readonly stop: () => void
}

/**
 * Creates the log of a run. `firstEvent`: number of the next event, e.g. 3 after three opening events.
 * `openingEvents`: events that the log begins with; null if they are stored already.
 */
export function createRunLog(
  ownedRun: OwnedRun,
  { firstEvent, openingEvents }: RunLogStart,
  retryTimeoutMs: number,
  ports: Ports<'log' | 'runs'>,
): RunLog {
  const numbering = createEventNumbering(
    openingEvents === null ? firstEvent : openingEvents.last + 1,
  )
  const onDisconnect = createCallbackList()
  const onDrain = createCallbackList()
  const listeners = createListeners(firstEvent)
  let closing: TurnEnding | null = null

  const writer = createRunLogWriter<TurnEnding>({
    firstEvent,
    retryTimeoutMs,
    write: (batch) => writeBatch(batch, ownedRun, ports),
    onWritten({ events, ending }) {
      if (events !== null) listeners.recorded(events)
      if (ending !== null) listeners.end('ended')
    },
    onGaveUp: () => lose(),
    onRoom: () => onDrain.call(),
    onWriteError: (error) =>
      ports.log('warn', 'run-not-recorded', { turn: ownedRun.turnId, why: errorMessage(error) }),
  })
  const lose = (): void => {
    if (listeners.end('lost')) onDisconnect.call()
  }
  const write = (text: string | Uint8Array): boolean => {
    const numbered = numbering.push(text)
    return numbered === '' || writer.addEvents(numbered, numbering.nextNumber())
  }
  if (openingEvents !== null) writer.addEvents(openingEvents.text, openingEvents.last + 1)
  return {
    ownedRun,
    whenOver: listeners.over,
    client: {
      write,
      end(text) {
        write(text)
        if (closing !== null) writer.end(closing)
      },
      abort: lose,
      onDrain: onDrain.add,
      onDisconnect: (callback) => (listeners.isOver() ? callback() : onDisconnect.add(callback)),
      isDisconnected: listeners.isOver,
    },
    turnStore: {
      // With `collectsItems`, each item is stored together with its end event or earlier.
      collectsItems: true,
      async journalItems(_turn, items) {
        for (const item of items) writer.addItem(item)
      },
      // The turn is closed by `client.end`, in the same write as the last events.
      async closeTurn(ending) {
        closing = ending
        return true
      },
    },
    async stopWriting() {
      lose()
      await writer.stop()
    },
    listen: (listener) => listeners.listen(listener),
  }
}

function writeBatch(
  { events, items, ending }: RunLogBatch<TurnEnding>,
  ownedRun: OwnedRun,
  { runs }: Ports<'runs'>,
): Promise<boolean> {
  if (ending === null) return runs.recordRun(ownedRun, events, items)
  return runs.endRun(ownedRun, { ...ending, items: [...items, ...ending.items] }, events)
}

/** Tracks the listeners of a log, and whether the log has ended or is lost. */
function createListeners(firstEvent: number) {
  const listeners = new Set<RunLogListener>()
  let nextEvent = firstEvent
  let isOver = false
  let resolveOver: (end: RunLogEnd) => void = () => undefined
  const over = new Promise<RunLogEnd>((resolve) => (resolveOver = resolve))
  return {
    over,
    isOver: () => isOver,
    recorded(events: EventGroup): void {
      nextEvent = events.last + 1
      for (const listener of listeners) listener.onEvents(events)
    },
    /** Reports the end of the log to the listeners. Returns false if the end was reported before. */
    end(result: RunLogEnd): boolean {
      if (isOver) return false
      isOver = true
      for (const listener of listeners) listener.onOver(result)
      listeners.clear()
      resolveOver(result)
      return true
    },
    listen(listener: RunLogListener): RunLogSubscription {
      if (isOver) listener.onOver('lost')
      else listeners.add(listener)
      return { firstEvent: nextEvent, stop: () => void listeners.delete(listener) }
    },
  }
}

function createCallbackList() {
  const callbacks: (() => void)[] = []
  return {
    add: (callback: () => void) => void callbacks.push(callback),
    call(): void {
      for (const callback of callbacks) callback()
    },
  }
}
