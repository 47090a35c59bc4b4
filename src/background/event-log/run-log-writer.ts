/**
 * Writes a run's events and items to the store in batches: the first at once, then everything that has
 * accumulated, one write at a time. A failed write is retried until a timeout, because a database may
 * be unreachable for a moment; meanwhile more accumulates.
 */
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import type { PlacedItem } from '../../store/turns/turn-store-interface.ts'

/** `ending` is set in the last batch only. */
export interface RunLogBatch<Ending> {
  readonly events: EventGroup | null
  readonly items: readonly PlacedItem[]
  readonly ending: Ending | null
}

export interface RunLogWriter<Ending> {
  /** Returns false if the buffer is full and the caller should pause until `hasRoom` is called. */
  readonly addEvents: (text: string, next: number) => boolean
  readonly addItem: (item: PlacedItem) => void
  readonly end: (ending: Ending) => void
  /** Starts no more writes and resolves when the current one ends. */
  readonly stop: () => Promise<void>
}

export interface RunLogWriterOptions<Ending> {
  /** Number of the first event that will be added. */
  readonly first: number
  /** Resolves to false if the run no longer belongs to this writer. */
  readonly write: (batch: RunLogBatch<Ending>) => Promise<boolean>
  readonly written: (batch: RunLogBatch<Ending>) => void
  /** Called when the run belongs to another replica, or when retries timed out. */
  readonly refused: () => void
  readonly hasRoom: () => void
  readonly patienceMs: number
  readonly warn: (error: unknown) => void
}

/** Max age and size of a batch. */
const BATCH_MS = 100
const BATCH_CHARS = 64 * 1024
/** Above this size the upstream is paused until the database catches up. */
const FULL_CHARS = 1024 * 1024

export function createRunLogWriter<Ending>(
  options: RunLogWriterOptions<Ending>,
): RunLogWriter<Ending> {
  const buffer = createBuffer<Ending>(options.first)
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
    if (isWritten) options.written(batch)
    else options.refused()
    if (buffer.chars() < FULL_CHARS) options.hasRoom()
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
    addEvents(text, next) {
      buffer.addEvents(text, next)
      schedule()
      return buffer.chars() < FULL_CHARS
    },
    addItem(item) {
      buffer.addItem(item)
      schedule()
    },
    end(ending) {
      buffer.end(ending)
      schedule()
    },
    async stop() {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await flushing
    },
  }
}

/** Collects events and items until the next write. */
function createBuffer<Ending>(first: number) {
  let start = first
  let end = first
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
  { write, warn, patienceMs }: RunLogWriterOptions<Ending>,
  isStopped: () => boolean,
): Promise<boolean> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    try {
      return await write(batch)
    } catch (error) {
      warn(error)
    }
    if (isStopped() || performance.now() + RETRY_MS > deadlineMs) return false
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
