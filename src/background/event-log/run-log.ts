/**
 * The log of a run: the client that its answer is written to, and the store that its turn is kept
 * in. Events and items become durable in groups, the end of the answer and the end of the turn in
 * one write; only then is anybody told.
 *
 * When the run turns out to be over or somebody else's, the log is lost: it writes no more, and
 * whoever writes to it finds its client gone, which cancels the upstream.
 */
import type { Client } from '../../gateway/http-exchange-interface.ts'
import { messageOf } from '../../core/errors/gateway-error.ts'
import type { EventGroup, RunHold } from '../../store/background-runs/run-store-interface.ts'
import type { Store, TurnEnding } from '../../store/turns/turn-store-interface.ts'
import type { World } from '../../gateway/dependencies-interface.ts'
import { callbacks } from './callbacks.ts'
import { numberEvents } from './number-events.ts'
import { writeBehind, type Batch } from './run-log-writer.ts'

export interface RunLog {
  readonly hold: RunHold
  readonly client: Client
  readonly turns: Pick<Store, 'gathersItems' | 'journalItems' | 'closeTurn'>
  /** Resolves when nothing is written here any more. */
  readonly over: Promise<LogEnd>
  /** Has it lost. Resolves when no write is under way any more. */
  readonly giveUp: () => Promise<void>
  readonly listen: (listener: LogListener) => Listening
}

/** A lost log may go on elsewhere: what came of its run is to be looked up. */
export type LogEnd = 'ended' | 'lost'

export interface LogListener {
  /** Hears of every group of events once it is durable. */
  readonly recorded: (events: EventGroup) => void
  readonly over: (end: LogEnd) => void
}

export interface Listening {
  /** The first event that will be heard of; what is before it is durable. */
  readonly from: number
  readonly stop: () => void
}

/** `first` is the number of the first event that is not in the log yet. */
export function runLog(hold: RunHold, first: number, patienceMs: number, world: World): RunLog {
  const numbering = numberEvents(first)
  const gone = callbacks()
  const roomy = callbacks()
  const audience = audienceFrom(first)
  let closing: TurnEnding | null = null

  const behind = writeBehind<TurnEnding>({
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
      world.log('warn', 'run-not-recorded', { turn: hold.turnId, why: messageOf(error) }),
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
      breakOff: lose,
      onDrain: roomy.add,
      onGone: (callback) => (audience.isOver() ? callback() : gone.add(callback)),
      isGone: audience.isOver,
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
  { events, items, ending }: Batch<TurnEnding>,
  hold: RunHold,
  { runs }: World,
): Promise<boolean> {
  if (ending === null) return runs.recordRun(hold, events, items)
  return runs.endRun(hold, { ...ending, items: [...items, ...ending.items] }, events)
}

/** Who listens to a log, and whether there is still something to hear. */
function audienceFrom(first: number) {
  const listeners = new Set<LogListener>()
  let durable = first
  let isOver = false
  let resolveOver: (end: LogEnd) => void = () => undefined
  const over = new Promise<LogEnd>((resolve) => (resolveOver = resolve))
  return {
    over,
    isOver: () => isOver,
    recorded(events: EventGroup): void {
      durable = events.last + 1
      for (const listener of listeners) listener.recorded(events)
    },
    /** `false` if it is over already. */
    end(how: LogEnd): boolean {
      if (isOver) return false
      isOver = true
      for (const listener of listeners) listener.over(how)
      listeners.clear()
      resolveOver(how)
      return true
    },
    listen(listener: LogListener): Listening {
      if (isOver) listener.over('lost')
      else listeners.add(listener)
      return { from: durable, stop: () => void listeners.delete(listener) }
    },
  }
}
