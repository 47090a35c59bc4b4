/**
 * The event log of a run. It acts as the client that the answer is written to and as the store of the
 * turn. Events and items are stored in batches, the end of the answer together with the end of the
 * turn, and listeners receive events only after they are stored.
 *
 * If another replica has taken over or ended the run, the log is lost: it writes nothing more and
 * reports its client as disconnected, which cancels the upstream request.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { ClientStream } from '../../gateway/http-exchange-interface.ts'
import type { EventGroup, OwnedRun } from '../../store/background-runs/run-store-interface.ts'
import type { TurnStore, TurnEnding } from '../../store/turns/turn-store-interface.ts'
import { numberEvents } from './number-events.ts'
import { createRunLogWriter, type RunLogBatch } from './run-log-writer.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export interface RunLog {
  readonly hold: OwnedRun
  readonly client: ClientStream
  readonly turns: Pick<TurnStore, 'gathersItems' | 'journalItems' | 'closeTurn'>
  /** Resolves when the log has ended or is lost. */
  readonly over: Promise<RunLogEnd>
  /** Marks the log as lost and resolves when no write is in progress. */
  readonly giveUp: () => Promise<void>
  readonly listen: (listener: RunLogListener) => RunLogSubscription
}

/** A lost run may continue on another replica; its state must be read from the store. */
export type RunLogEnd = 'ended' | 'lost'

export interface RunLogListener {
  /** Called for every group of events after it is stored. */
  readonly recorded: (events: EventGroup) => void
  readonly over: (end: RunLogEnd) => void
}

export interface RunLogSubscription {
  /** Number of the first event that the listener receives, e.g. 12 if events 0 to 11 are already stored. */
  readonly from: number
  readonly stop: () => void
}

/** `first` is the number of the first event that is not yet in the log. */
export function createRunLog(
  hold: OwnedRun,
  first: number,
  patienceMs: number,
  ports: Ports<'log' | 'runs'>,
): RunLog {
  const numbering = numberEvents(first)
  const onDisconnect = createCallbackList()
  const onDrain = createCallbackList()
  const listeners = createListeners(first)
  let closing: TurnEnding | null = null

  const writer = createRunLogWriter<TurnEnding>({
    first,
    patienceMs,
    write: (batch) => writeBatch(batch, hold, ports),
    written({ events, ending }) {
      if (events !== null) listeners.recorded(events)
      if (ending !== null) listeners.end('ended')
    },
    refused: () => lose(),
    hasRoom: () => onDrain.call(),
    warn: (error) =>
      ports.log('warn', 'run-not-recorded', { turn: hold.turnId, why: errorMessage(error) }),
  })
  const lose = (): void => {
    if (listeners.end('lost')) onDisconnect.call()
  }
  const write = (text: string | Uint8Array): boolean => {
    const numbered = numbering.push(text)
    return numbered === '' || writer.addEvents(numbered, numbering.next())
  }
  return {
    hold,
    over: listeners.over,
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
    turns: {
      // An item is stored no later than its end event.
      gathersItems: true,
      async journalItems(_turnId, _tenant, items) {
        for (const item of items) writer.addItem(item)
      },
      // The turn is closed in the same write as the last events.
      async closeTurn(ending) {
        closing = ending
        return true
      },
    },
    async giveUp() {
      lose()
      await writer.stop()
    },
    listen: (listener) => listeners.listen(listener),
  }
}

function writeBatch(
  { events, items, ending }: RunLogBatch<TurnEnding>,
  hold: OwnedRun,
  { runs }: Ports<'runs'>,
): Promise<boolean> {
  if (ending === null) return runs.recordRun(hold, events, items)
  return runs.endRun(hold, { ...ending, items: [...items, ...ending.items] }, events)
}

/** Keeps the listeners of a log, and whether it is over. */
function createListeners(first: number) {
  const listeners = new Set<RunLogListener>()
  let nextEvent = first
  let isOver = false
  let resolveOver: (end: RunLogEnd) => void = () => undefined
  const over = new Promise<RunLogEnd>((resolve) => (resolveOver = resolve))
  return {
    over,
    isOver: () => isOver,
    recorded(events: EventGroup): void {
      nextEvent = events.last + 1
      for (const listener of listeners) listener.recorded(events)
    },
    /** Returns false if the log was already over. */
    end(result: RunLogEnd): boolean {
      if (isOver) return false
      isOver = true
      for (const listener of listeners) listener.over(result)
      listeners.clear()
      resolveOver(result)
      return true
    },
    listen(listener: RunLogListener): RunLogSubscription {
      if (isOver) listener.over('lost')
      else listeners.add(listener)
      return { from: nextEvent, stop: () => void listeners.delete(listener) }
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
