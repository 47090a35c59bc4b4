/**
 * Gives a client the log of a run from an event on: what is durable, and then live what becomes so,
 * to the terminal event. It hears of a run of this process from the run itself, and looks for the
 * news of any other. A client that is full is waited for, and nothing is kept for it meanwhile: it
 * goes on from the database. A client that leaves does not touch the run.
 */
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import type { ClientStream } from '../../gateway/http-exchange-interface.ts'
import {
  MAX_PAGE_GROUPS,
  type EventGroup,
  type RunLogPage,
} from '../../store/background-runs/run-store-interface.ts'
import { DONE_MESSAGE } from '../event-log/number-events.ts'
import type { RunLog } from '../event-log/run-log.ts'
import { isTurnUnfinished, isRunOrphaned } from '../is-run-unfinished-or-orphaned.ts'
import { bufferLiveEvents, type LiveEventBuffer } from './live-event-buffer.ts'

export interface LogFollower {
  readonly whose: Caller
  readonly turnId: string
  /** The number of the first event that is wanted. */
  readonly from: number
  /** The log, if it is written in this process. */
  readonly live: RunLog | null
  /** Takes care of a run that nobody works on any more. */
  readonly rescue: (run: RunLogPage) => Promise<void>
}

/** How often the news of a run elsewhere are looked for, and those of a database that is away. */
const POLL_MS = 200
const AWAY_MS = 1_000

/** Resolves when the client has it all, or has left. */
export async function writeLogToClient(
  following: LogFollower,
  client: ClientStream,
  world: GatewayDependencies,
): Promise<void> {
  const reader = readerOf(client, following.from, world.settings.HEARTBEAT_SECONDS * 1000)
  const ear = following.live === null ? null : bufferLiveEvents(following.live, reader.wake)
  let isOver = false
  while (!isOver && !reader.isDisconnected()) {
    isOver = hears(ear, reader)
      ? await takeHeard(ear, reader)
      : await takeRead(following, reader, world)
    await reader.room()
  }
  ear?.close()
  reader.end()
}

type Reader = ReturnType<typeof readerOf>

/** Whether all that the reader wants next is heard, so that nothing has to be looked up. */
function hears(ear: LiveEventBuffer | null, reader: Reader): ear is LiveEventBuffer {
  return ear !== null && ear.end() !== 'lost' && reader.next() >= ear.from()
}

/** Resolves to whether that was the end. */
async function takeHeard(ear: LiveEventBuffer, reader: Reader): Promise<boolean> {
  const groups = ear.taken()
  for (const group of groups) reader.give(group)
  if (ear.end() === 'ended') return true
  if (groups.length === 0) await reader.news(null)
  return false
}

async function takeRead(
  { whose, turnId, rescue }: LogFollower,
  reader: Reader,
  { runs, nowMs, log }: GatewayDependencies,
): Promise<boolean> {
  try {
    const page = await runs.readLog(whose, turnId, reader.next())
    if (page === null) return true
    for (const group of page.groups) reader.give(group)
    if (page.groups.length === MAX_PAGE_GROUPS) return false
    if (!isTurnUnfinished(page.state)) return true
    if (isRunOrphaned(page, nowMs())) await rescue(page)
    if (page.groups.length === 0) await reader.news(POLL_MS)
  } catch (error) {
    log('warn', 'log-not-read', { turn: turnId, why: errorMessage(error) })
    await reader.news(AWAY_MS)
  }
  return false
}

/** A client that reads a log, and how far it has come. */
function readerOf(client: ClientStream, from: number, heartbeatMs: number) {
  const { ring, wait } = createNotifier()
  let next = from
  const state = { isFull: false }
  let isQuiet = true
  const heart = setInterval(() => {
    if (isQuiet && !state.isFull) client.write(': ping\n\n')
    isQuiet = true
  }, heartbeatMs)
  client.onDisconnect(ring)
  client.onDrain(() => {
    state.isFull = false
    ring()
  })
  return {
    next: () => next,
    isDisconnected: client.isDisconnected,
    wake: ring,
    news: wait,
    give(group: EventGroup): void {
      if (group.last < next) return
      state.isFull = !client.write(eventsFrom(group, next))
      isQuiet = false
      next = group.last + 1
    },
    async room(): Promise<void> {
      while (state.isFull && !client.isDisconnected()) await wait(null)
    },
    end(): void {
      clearInterval(heart)
      client.end(DONE_MESSAGE)
    },
  }
}

/** The events of a group from number `next` on. */
function eventsFrom({ first, text }: EventGroup, next: number): string {
  let at = 0
  for (let number = first; number < next; number += 1) at = text.indexOf('\n\n', at) + 2
  return at === 0 ? text : text.slice(at)
}

export interface Notifier {
  readonly ring: () => void
  /** `null`: for as long as it takes. What rang before is not heard. */
  readonly wait: (forMs: number | null) => Promise<void>
}

export function createNotifier(): Notifier {
  let ring = (): void => undefined
  return {
    ring: () => ring(),
    wait: (forMs) =>
      new Promise((resolve) => {
        const timer = forMs === null ? null : setTimeout(resolve, forMs)
        ring = () => {
          if (timer !== null) clearTimeout(timer)
          resolve()
        }
      }),
  }
}
