/**
 * Writes the event log of a run to a client, from any event on up to the terminal event. Stored events are
 * read from the database. If the run is in this process, new events come from its log; otherwise the
 * database is polled. If the client does not read new events fast enough, it gets them from the database
 * later. The run does not wait for the client.
 */
import type { Caller } from '../../core/client/caller.ts'
import { isPermanentFailure } from '../../core/errors/database-error.ts'
import { createFailure, errorMessage, GatewayError } from '../../core/errors/gateway-error.ts'
import type { Ports } from '../../gateway/dependencies-interface.ts'
import type { ClientStream } from '../../gateway/http-exchange-interface.ts'
import { createHeartbeat } from '../../gateway/respond/create-heartbeat.ts'
import {
  MAX_PAGE_GROUPS,
  type EventGroup,
  type RunLogPage,
} from '../../store/background-runs/run-store-interface.ts'
import { createClosingEvents } from '../event-log/closing-events.ts'
import { readCompleteRunLog } from '../event-log/read-complete-run-log.ts'
import { DONE_MESSAGE } from '../event-log/number-events.ts'
import type { RunLog, RunLogEnd } from '../event-log/run-event-log.ts'
import { isTurnUnfinished } from '../is-turn-unfinished.ts'

export interface LogFollower {
  readonly caller: Caller
  readonly turnId: string
  /** Number of the first event that the client is sent. */
  readonly firstEvent: number
  /** The log of the run; null if the run is not in progress in this process. */
  readonly liveLog: RunLog | null
  /**
   * Resolves to the log of a queued run when it starts, or to null if it is not started. Null if the run is not queued
   * in this process.
   */
  readonly whenStarted: Promise<RunLog | null> | null
  /** Recovers the run if its replica has died. */
  readonly recover: (run: RunLogPage) => Promise<void>
}

/**
 * Intervals at which the database is polled for a run of another replica, for a queued run of this process
 * (another replica may cancel it), and while it is unreachable.
 */
const POLL_MS = 200
const QUEUED_POLL_MS = 5_000
const UNREACHABLE_POLL_MS = 1_000

/** Writes the log. Resolves when the client has received the last event or has disconnected. */
export async function writeLogToClient(
  follower: LogFollower,
  client: ClientStream,
  ports: Ports<'log' | 'requestMemory' | 'runs' | 'settings'>,
): Promise<void> {
  const { firstEvent, liveLog, whenStarted } = follower
  const writer = createEventWriter(client, firstEvent, ports.settings.HEARTBEAT_SECONDS * 1000)
  let buffer = liveLog === null ? null : bufferLiveEvents(liveLog, writer.wake)
  let isQueued = whenStarted !== null
  let isOver = false
  void whenStarted?.then((log) => {
    if (log !== null && !isOver) buffer = bufferLiveEvents(log, writer.wake)
    isQueued = false
    writer.wake()
  })
  while (!isOver && !writer.isDisconnected()) {
    isOver = hasNextEvent(buffer, writer)
      ? await writeBufferedEvents(buffer, writer)
      : await writeStoredEvents(follower, writer, () => isQueued, ports)
    await writer.waitForRoom()
  }
  isOver = true
  buffer?.close()
  writer.end()
}

type EventWriter = ReturnType<typeof createEventWriter>

/** True if the next event for the client is in the buffer, or will be. No query is then needed. */
function hasNextEvent(
  buffer: LiveEventBuffer | null,
  writer: EventWriter,
): buffer is LiveEventBuffer {
  return (
    buffer !== null && buffer.getEnd() !== 'lost' && writer.getNextEvent() >= buffer.getFirstEvent()
  )
}

/** Writes the buffered events. Resolves to true if the log ends with them. */
async function writeBufferedEvents(buffer: LiveEventBuffer, writer: EventWriter): Promise<boolean> {
  const groups = buffer.takeEvents()
  for (const group of groups) writer.write(group)
  if (buffer.getEnd() === 'ended') return true
  if (groups.length === 0) await writer.waitForChange(null)
  return false
}

async function writeStoredEvents(
  { caller, turnId, recover }: LogFollower,
  writer: EventWriter,
  isQueued: () => boolean,
  ports: Ports<'log' | 'requestMemory' | 'runs'>,
): Promise<boolean> {
  const { runs, log } = ports
  try {
    const page = await runs.readLog(caller, turnId, writer.getNextEvent(), {
      undecryptable: 'fail',
    })
    if (page === null) {
      // The turn was deleted: the connection breaks, so that the stream does not look complete.
      writer.abort()
      return true
    }
    for (const group of page.groups) writer.write(group)
    if (page.groups.length === MAX_PAGE_GROUPS) return false
    if (!isTurnUnfinished(page.state)) return true
    if (page.isOrphaned) {
      if (writer.countRecovery() > MAX_RECOVERIES) {
        await writeFailure({ caller, turnId }, writer, ports)
        return true
      }
      await recover(page)
    }
    if (page.groups.length === 0) await writer.waitForChange(isQueued() ? QUEUED_POLL_MS : POLL_MS)
  } catch (error) {
    log('warn', 'log-not-read', { turn: turnId, why: errorMessage(error) })
    // Trying again does not help if events cannot be decrypted, or if the database rejects the statement.
    if (error instanceof GatewayError || isPermanentFailure(error)) {
      writer.abort()
      return true
    }
    await writer.waitForChange(UNREACHABLE_POLL_MS)
  }
  return false
}

/**
 * Number of times that a follower tries to recover an orphaned run. Each recovery ends the run or gives it another
 * owner. If the run is still orphaned after them, the database does not accept these writes.
 */
const MAX_RECOVERIES = 5

/**
 * Writes a failure to the client of a run that cannot be recovered. The failure is not stored, so the next follower
 * tries to recover the run again.
 */
async function writeFailure(
  { caller, turnId }: Pick<LogFollower, 'caller' | 'turnId'>,
  writer: EventWriter,
  { runs, requestMemory }: Ports<'requestMemory' | 'runs'>,
): Promise<void> {
  const memory = requestMemory.trackRequest(caller.tenant)
  try {
    const run = await readCompleteRunLog(caller, turnId, runs, memory.claim)
    const closing = createClosingEvents(run?.groups ?? [], {
      status: 'failed',
      failure: NOT_RECOVERED,
      storedIndexes: new Set(),
    })
    if (closing === null) writer.abort()
    else writer.write(closing.events)
  } finally {
    memory.close()
  }
}

const NOT_RECOVERED = createFailure(
  'internal_error',
  'The gateway was stopped while it made this response, and the end of the response cannot be stored. The log of the gateway says why.',
)

/** Writes events to a client in order, tracks the number of the next event, and sends heartbeats. */
function createEventWriter(client: ClientStream, firstEvent: number, heartbeatMs: number) {
  const { wake, wait } = createWakeableWait()
  let nextEvent = firstEvent
  let isAborted = false
  let recoveries = 0
  const state = { isFull: false }
  const heartbeat = createHeartbeat(client, heartbeatMs, () => state.isFull)
  client.onDisconnect(wake)
  client.onDrain(() => {
    state.isFull = false
    wake()
  })
  return {
    getNextEvent: () => nextEvent,
    /** Returns the number of attempts to recover the run, this one included. */
    countRecovery: () => (recoveries += 1),
    isDisconnected: client.isDisconnected,
    wake,
    waitForChange: wait,
    write(group: EventGroup): void {
      if (group.last < nextEvent) return
      state.isFull = !heartbeat.send(sliceEvents(group, nextEvent))
      nextEvent = group.last + 1
    },
    async waitForRoom(): Promise<void> {
      while (state.isFull && !client.isDisconnected()) await wait(null)
    },
    abort(): void {
      isAborted = true
      client.abort()
    },
    end(): void {
      heartbeat.stop()
      if (!isAborted) client.end(DONE_MESSAGE)
    },
  }
}

/** Returns the text of the events of a group from number `firstEvent` on. */
function sliceEvents({ first, text }: EventGroup, firstEvent: number): string {
  let start = 0
  for (let number = first; number < firstEvent; number += 1) start = text.indexOf('\n\n', start) + 2
  return start === 0 ? text : text.slice(start)
}

/** Creates a `wait` that resolves at the next call of `wake`, or after `timeoutMs` if that is a number. */
function createWakeableWait() {
  let wake = (): void => undefined
  return {
    wake: () => wake(),
    wait: (timeoutMs: number | null) =>
      new Promise<void>((resolve) => {
        const timer = timeoutMs === null ? null : setTimeout(resolve, timeoutMs)
        wake = () => {
          if (timer !== null) clearTimeout(timer)
          resolve()
        }
      }),
  }
}

type LiveEventBuffer = ReturnType<typeof bufferLiveEvents>

const MAX_BUFFERED_CHARS = 1024 * 1024

/**
 * Buffers the new events of a run in this process until the client takes them. If more than 1 MiB
 * accumulates, the buffered events are dropped, because the client can read them from the database instead.
 */
function bufferLiveEvents(log: RunLog, onChange: () => void) {
  let buffered: EventGroup[] = []
  let chars = 0
  let end: RunLogEnd | null = null
  const subscription = log.listen({
    onEvents(group) {
      buffered.push(group)
      chars += group.text.length
      if (chars > MAX_BUFFERED_CHARS) {
        firstEvent = group.last + 1
        buffered = []
        chars = 0
      }
      onChange()
    },
    onOver(result) {
      end = result
      onChange()
    },
  })
  let { firstEvent } = subscription
  return {
    /** Returns the number of the first event that was not dropped. */
    getFirstEvent: () => firstEvent,
    /** Removes the buffered events and returns them in order. */
    takeEvents(): readonly EventGroup[] {
      const groups = buffered
      buffered = []
      chars = 0
      return groups
    },
    getEnd: (): RunLogEnd | null => end,
    close: subscription.stop,
  }
}
