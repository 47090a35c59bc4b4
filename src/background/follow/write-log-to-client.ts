/**
 * Writes the log of a run to a client, from an event on up to the terminal event: first the stored
 * events, then new ones once they are stored. The events of a run in this process come from its log;
 * other runs are polled in the database. For a slow client nothing is buffered: it continues from the
 * database. A client that disconnects does not affect the run.
 */
import type { Caller } from '../../core/client/caller.ts'
import { errorMessage } from '../../core/errors/gateway-error.ts'
import type { ClientStream } from '../../gateway/http-exchange-interface.ts'
import {
  MAX_PAGE_GROUPS,
  type EventGroup,
  type RunLogPage,
} from '../../store/background-runs/run-store-interface.ts'
import { DONE_MESSAGE } from '../event-log/number-events.ts'
import type { RunLog } from '../event-log/run-event-log.ts'
import { isTurnUnfinished, isRunOrphaned } from '../is-run-unfinished-or-orphaned.ts'
import { bufferLiveEvents, type LiveEventBuffer } from './live-event-buffer.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'

export interface LogFollower {
  readonly caller: Caller
  readonly turnId: string
  /** Number of the first event to write. */
  readonly from: number
  /** The log, if the run is in this process. */
  readonly live: RunLog | null
  /** Recovers a run whose replica has stopped. */
  readonly rescue: (run: RunLogPage) => Promise<void>
}

/** Poll intervals: for runs of other replicas, and while the database is unreachable. */
const POLL_MS = 200
const UNREACHABLE_POLL_MS = 1_000

/** Resolves when the client has received everything or has disconnected. */
export async function writeLogToClient(
  follower: LogFollower,
  client: ClientStream,
  ports: Ports<'log' | 'nowMs' | 'runs' | 'settings'>,
): Promise<void> {
  const reader = createLogReader(client, follower.from, ports.settings.HEARTBEAT_SECONDS * 1000)
  const buffer = follower.live === null ? null : bufferLiveEvents(follower.live, reader.wake)
  let isOver = false
  while (!isOver && !reader.isDisconnected()) {
    isOver = hasNextEvent(buffer, reader)
      ? await writeBufferedEvents(buffer, reader)
      : await writeStoredEvents(follower, reader, ports)
    await reader.waitForRoom()
  }
  buffer?.close()
  reader.end()
}

type LogReader = ReturnType<typeof createLogReader>

/** True if the buffer has the next event, so that no query is needed. */
function hasNextEvent(
  buffer: LiveEventBuffer | null,
  reader: LogReader,
): buffer is LiveEventBuffer {
  return buffer !== null && buffer.end() !== 'lost' && reader.next() >= buffer.from()
}

/** Resolves to true if that was the end of the log. */
async function writeBufferedEvents(buffer: LiveEventBuffer, reader: LogReader): Promise<boolean> {
  const groups = buffer.takeEvents()
  for (const group of groups) reader.write(group)
  if (buffer.end() === 'ended') return true
  if (groups.length === 0) await reader.waitForChange(null)
  return false
}

async function writeStoredEvents(
  { caller, turnId, rescue }: LogFollower,
  reader: LogReader,
  { runs, nowMs, log }: Ports<'log' | 'nowMs' | 'runs'>,
): Promise<boolean> {
  try {
    const page = await runs.readLog(caller, turnId, reader.next())
    if (page === null) return true
    for (const group of page.groups) reader.write(group)
    if (page.groups.length === MAX_PAGE_GROUPS) return false
    if (!isTurnUnfinished(page.state)) return true
    if (isRunOrphaned(page, nowMs())) await rescue(page)
    if (page.groups.length === 0) await reader.waitForChange(POLL_MS)
  } catch (error) {
    log('warn', 'log-not-read', { turn: turnId, why: errorMessage(error) })
    await reader.waitForChange(UNREACHABLE_POLL_MS)
  }
  return false
}

/** Tracks how far a client has read a log, and sends heartbeats. */
function createLogReader(client: ClientStream, from: number, heartbeatMs: number) {
  const { ring, wait } = createNotifier()
  let next = from
  const state = { isFull: false }
  let isQuiet = true
  const heartbeat = setInterval(() => {
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
    waitForChange: wait,
    write(group: EventGroup): void {
      if (group.last < next) return
      state.isFull = !client.write(eventsFrom(group, next))
      isQuiet = false
      next = group.last + 1
    },
    async waitForRoom(): Promise<void> {
      while (state.isFull && !client.isDisconnected()) await wait(null)
    },
    end(): void {
      clearInterval(heartbeat)
      client.end(DONE_MESSAGE)
    },
  }
}

/** Returns the text of a group's events from number `next` on. */
function eventsFrom({ first, text }: EventGroup, next: number): string {
  let start = 0
  for (let number = first; number < next; number += 1) start = text.indexOf('\n\n', start) + 2
  return start === 0 ? text : text.slice(start)
}

interface Notifier {
  readonly ring: () => void
  /** Resolves on the next `ring`, or after `forMs` unless that is null. */
  readonly wait: (forMs: number | null) => Promise<void>
}

function createNotifier(): Notifier {
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
