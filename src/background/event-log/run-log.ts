/**
 * The log of a run: the client that its answer is written to, and the store that its turn is kept
 * in. Events and items become durable in groups, the end of the answer and the end of the turn in
 * one write; only then is anybody told.
 *
 * When the run turns out to be over or somebody else's, the log is lost: it writes no more, and
 * whoever writes to it finds its client gone, which cancels the upstream.
 */
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { ClientStream } from '../../gateway/http-exchange-interface.ts'
import type { EventGroup, RunHold } from '../../store/background-runs/run-store-interface.ts'
import type { TurnStore, TurnEnding } from '../../store/turns/turn-store-interface.ts'
import { numberEvents } from './number-events.ts'
import { createRunLogWriter, type RunLogBatch } from './run-log-writer.ts'

export interface RunLog {
  readonly hold: RunHold
  readonly client: ClientStream
  readonly turns: Pick<TurnStore, 'gathersItems' | 'journalItems' | 'closeTurn'>
  /** Resolves when nothing is written here any more. */
  readonly over: Promise<RunLogEnd>
  /** Has it lost. Resolves when no write is under way any more. */
  readonly giveUp: () => Promise<void>
  readonly listen: (listener: RunLogListener) => RunLogSubscription
}

/** A lost log may go on elsewhere: what came of its run is to be looked up. */
export type RunLogEnd = 'ended' | 'lost'

export interface RunLogListener {
  /** Hears of every group of events once it is durable. */
  readonly recorded: (events: EventGroup) => void
  readonly over: (end: RunLogEnd) => void
}

export interface RunLogSubscription {
  /** The first event that will be heard of; what is before it is durable. */
  readonly from: number
  readonly stop: () => void
}

/** `first` is the number of the first event that is not in the log yet. */
export function createRunLog(
  hold: RunHold,
  first: number,
  patienceMs: number,
  world: GatewayDependencies,
): RunLog {
  const numbering = numberEvents(first)
  const gone = createCallbackList()
  const roomy = createCallbackList()
  const audience = audienceFrom(first)
  let closing: TurnEnding | null = null

  const behind = createRunLogWriter<TurnEnding>({
    first,
    patienceMs,
    write: (batch) => writeBatch(batch, hold, world),
    written({ events, ending }) {
      if (events !== null) audience.recorded(events)
      if (ending !== null) audience.end('ended')
    },
    refused: () => lose(),
    hasRoom: roomy.call,
    warn: (error) =>
      world.log('warn', 'run-not-recorded', { turn: hold.turnId, why: errorMessage(error) }),
  })
  const lose = (): void => {
    if (audience.end('lost')) gone.call()
  }
  const say = (text: string | Uint8Array): boolean => {
    const numbered = numbering.push(text)
    return numbered === '' || behind.addEvents(numbered, numbering.next())
  }
  return {
    hold,
    over: audience.over,
    client: {
      write: say,
      end(text) {
        say(text)
        if (closing !== null) behind.end(closing)
      },
      abort: lose,
      onDrain: roomy.add,
      onDisconnect: (callback) => (audience.isOver() ? callback() : gone.add(callback)),
      isDisconnected: audience.isOver,
    },
    turns: {
      // An item is durable no later than the event that tells that it is finished.
      gathersItems: true,
      async journalItems(_turnId, _tenant, items) {
        for (const item of items) behind.addItem(item)
      },
      // It is written together with the last words.
      async closeTurn(ending) {
        closing = ending
        return true
      },
    },
    async giveUp() {
      lose()
      await behind.stop()
    },
    listen: (listener) => audience.listen(listener),
  }
}

function writeBatch(
  { events, items, ending }: RunLogBatch<TurnEnding>,
  hold: RunHold,
  { runs }: GatewayDependencies,
): Promise<boolean> {
  if (ending === null) return runs.recordRun(hold, events, items)
  return runs.endRun(hold, { ...ending, items: [...items, ...ending.items] }, events)
}

/** Who listens to a log, and whether there is still something to hear. */
function audienceFrom(first: number) {
  const listeners = new Set<RunLogListener>()
  let durable = first
  let isOver = false
  let resolveOver: (end: RunLogEnd) => void = () => undefined
  const over = new Promise<RunLogEnd>((resolve) => (resolveOver = resolve))
  return {
    over,
    isOver: () => isOver,
    recorded(events: EventGroup): void {
      durable = events.last + 1
      for (const listener of listeners) listener.recorded(events)
    },
    /** `false` if it is over already. */
    end(how: RunLogEnd): boolean {
      if (isOver) return false
      isOver = true
      for (const listener of listeners) listener.over(how)
      listeners.clear()
      resolveOver(how)
      return true
    },
    listen(listener: RunLogListener): RunLogSubscription {
      if (isOver) listener.over('lost')
      else listeners.add(listener)
      return { from: durable, stop: () => void listeners.delete(listener) }
    },
  }
}

export interface CallbackList {
  readonly add: (callback: () => void) => void
  readonly call: () => void
}

export function createCallbackList(): CallbackList {
  const all: (() => void)[] = []
  return {
    add: (callback) => void all.push(callback),
    call() {
      for (const callback of all) callback()
    },
  }
}
