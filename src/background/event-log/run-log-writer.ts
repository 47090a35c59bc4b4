/**
 * Writes the events and items of a run to the store. The first event is written immediately; later events
 * accumulate and are written in batches, one batch at a time. A failed write is retried until a timeout,
 * because a database may be unreachable for a moment, but not if the database rejects it.
 */
import { isPermanentFailure } from '../../core/errors/database-error.ts'
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import type { PlacedItem } from '../../store/turns/turn-store-interface.ts'

/** Events and items of one write. `ending` is the end of the turn; null except in the last batch. */
export interface RunLogBatch<Ending> {
  readonly events: EventGroup | null
  readonly items: readonly PlacedItem[]
  readonly ending: Ending | null
}

export interface RunLogWriterOptions<Ending> {
  /** Number of the first event that is added, e.g. 3 if events 0 to 2 are already stored. */
  readonly firstEvent: number
  /** Writes a batch to the store. Resolves to false if the run belongs to another replica. */
  readonly write: (batch: RunLogBatch<Ending>) => Promise<boolean>
  readonly onWritten: (batch: RunLogBatch<Ending>) => void
  /**
   * Called when the writer stops, because the run belongs to another replica or because retries timed out.
   */
  readonly onGaveUp: () => void
  readonly onRoom: () => void
  readonly retryTimeoutMs: number
  readonly onWriteError: (error: unknown) => void
}

/** Maximum age and size of a batch; a larger batch is written immediately. */
const BATCH_MS = 100
const BATCH_CHARS = 64 * 1024
/** Buffer size above which the upstream is paused until the database has caught up. */
const FULL_CHARS = 1024 * 1024

export function createRunLogWriter<Ending>(options: RunLogWriterOptions<Ending>) {
  const buffer = createBuffer<Ending>(options.firstEvent)
  let isStopped = false
  let timer: ReturnType<typeof setTimeout> | null = null
  let lastStartMs = Number.NEGATIVE_INFINITY
  let flushing: Promise<void> | null = null

  const flush = async (): Promise<void> => {
    lastStartMs = performance.now()
    const batch = buffer.take()
    const isWritten = await writeWithRetries(batch, options, () => isStopped)
    flushing = null
    if (isStopped) return
    if (!isWritten || batch.ending !== null) isStopped = true
    if (isWritten) options.onWritten(batch)
    else options.onGaveUp()
    if (buffer.chars() < FULL_CHARS) options.onRoom()
    schedule()
  }
  const startFlush = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    flushing = flush()
  }
  const schedule = (): void => {
    if (isStopped || flushing !== null || buffer.isEmpty()) return
    const dueMs = buffer.isUrgent() ? 0 : lastStartMs + BATCH_MS - performance.now()
    if (dueMs <= 0) startFlush()
    else timer ??= setTimeout(startFlush, dueMs)
  }
  return {
    /**
     * Adds the text of events; `next` is the number after their last event. Returns false if the buffer is
     * full. The caller then has to pause until `onRoom` is called.
     */
    addEvents(text: string, next: number): boolean {
      buffer.addEvents(text, next)
      schedule()
      return buffer.chars() < FULL_CHARS
    },
    addItem(item: PlacedItem): void {
      buffer.addItem(item)
      schedule()
    },
    end(ending: Ending): void {
      buffer.end(ending)
      schedule()
    },
    /** Stops the writer. Resolves when the write in progress has ended. */
    async stop(): Promise<void> {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await flushing
    },
  }
}

/** Collects events and items for the next write. */
function createBuffer<Ending>(firstEvent: number) {
  let start = firstEvent
  let end = firstEvent
  let text = ''
  let items: PlacedItem[] = []
  let ending: Ending | null = null
  return {
    addEvents(newText: string, next: number): void {
      text += newText
      end = next
    },
    addItem: (item: PlacedItem): void => void items.push(item),
    end: (newEnding: Ending): void => void (ending = newEnding),
    isEmpty: () => end === start && items.length === 0 && ending === null,
    isUrgent: () => ending !== null || text.length >= BATCH_CHARS,
    chars: () => text.length,
    take(): RunLogBatch<Ending> {
      const events = end === start ? null : { first: start, last: end - 1, text }
      const batch = { events, items, ending }
      start = end
      text = ''
      items = []
      return batch
    },
  }
}

const RETRY_MS = 250

async function writeWithRetries<Ending>(
  batch: RunLogBatch<Ending>,
  { write, onWriteError, retryTimeoutMs }: RunLogWriterOptions<Ending>,
  isStopped: () => boolean,
): Promise<boolean> {
  const deadlineMs = performance.now() + retryTimeoutMs
  for (;;) {
    try {
      return await write(batch)
    } catch (error) {
      onWriteError(error)
      if (isPermanentFailure(error)) return false
    }
    if (isStopped() || performance.now() + RETRY_MS > deadlineMs) return false
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
