/**
 * Writes what a run says and finishes behind its back, in groups: the first thing at once, then
 * what has gathered, one write at a time. A write that fails is tried again for a while, for a
 * database may be away for a moment; what comes meanwhile is gathered.
 */
import type { EventGroup } from '../../store/background-runs/run-store-interface.ts'
import type { PlacedItem } from '../../store/turns/turn-store-interface.ts'

/** `ending` is there in the last batch, and is what the run came to. */
export interface RunLogBatch<Ending> {
  readonly events: EventGroup | null
  readonly items: readonly PlacedItem[]
  readonly ending: Ending | null
}

export interface RunLogWriter<Ending> {
  /** `false` when so much waits that no more should come; `hasRoom` tells when it may. */
  readonly addEvents: (text: string, next: number) => boolean
  readonly addItem: (item: PlacedItem) => void
  readonly end: (ending: Ending) => void
  /** Begins no more writes, and resolves when none is under way. */
  readonly stop: () => Promise<void>
}

export interface RunLogWriterOptions<Ending> {
  /** The number of the first event that will be added. */
  readonly first: number
  /** Resolves to `false` if there is nothing more to be written here. */
  readonly write: (batch: RunLogBatch<Ending>) => Promise<boolean>
  readonly written: (batch: RunLogBatch<Ending>) => void
  /** It was not the writer's any more, or could not be written for all the time there was. */
  readonly refused: () => void
  readonly hasRoom: () => void
  readonly patienceMs: number
  readonly warn: (error: unknown) => void
}

/** How long things are gathered, and how much of them at most. */
const GATHER_MS = 100
const GATHER_CHARS = 64 * 1024
/** With more than this waiting for a slow database, the upstream is held back. */
const FULL_CHARS = 1024 * 1024

export function createRunLogWriter<Ending>(
  writing: RunLogWriterOptions<Ending>,
): RunLogWriter<Ending> {
  const gathered = gather<Ending>(writing.first)
  let isStopped = false
  let timer: ReturnType<typeof setTimeout> | null = null
  let begunAt = Number.NEGATIVE_INFINITY
  let busy: Promise<void> | null = null

  const flush = async (): Promise<void> => {
    begunAt = performance.now()
    const batch = gathered.take()
    const isWritten = await insist(batch, writing, () => isStopped)
    busy = null
    if (isStopped) return
    if (!isWritten || batch.ending !== null) isStopped = true
    if (isWritten) writing.written(batch)
    else writing.refused()
    if (gathered.chars() < FULL_CHARS) writing.hasRoom()
    schedule()
  }
  const begin = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    busy = flush()
  }
  const schedule = (): void => {
    if (isStopped || busy !== null || gathered.isEmpty()) return
    const dueMs = gathered.isUrgent() ? 0 : begunAt + GATHER_MS - performance.now()
    if (dueMs <= 0) begin()
    else timer ??= setTimeout(begin, dueMs)
  }
  return {
    addEvents(text, next) {
      gathered.addEvents(text, next)
      schedule()
      return gathered.chars() < FULL_CHARS
    },
    addItem(item) {
      gathered.addItem(item)
      schedule()
    },
    end(ending) {
      gathered.end(ending)
      schedule()
    },
    async stop() {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
      await busy
    },
  }
}

/** What waits to be written. */
function gather<Ending>(first: number) {
  let from = first
  let to = first
  let text = ''
  let items: PlacedItem[] = []
  let ending: Ending | null = null
  return {
    addEvents(more: string, next: number): void {
      text += more
      to = next
    },
    addItem: (item: PlacedItem): void => void items.push(item),
    end: (last: Ending): void => void (ending = last),
    isEmpty: () => to === from && items.length === 0 && ending === null,
    isUrgent: () => ending !== null || text.length >= GATHER_CHARS,
    chars: () => text.length,
    take(): RunLogBatch<Ending> {
      const events = to === from ? null : { first: from, last: to - 1, text }
      const batch = { events, items, ending }
      from = to
      text = ''
      items = []
      return batch
    },
  }
}

const RETRY_MS = 250

async function insist<Ending>(
  batch: RunLogBatch<Ending>,
  { write, warn, patienceMs }: RunLogWriterOptions<Ending>,
  isStopped: () => boolean,
): Promise<boolean> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    try {
      return await write(batch)
    } catch (error) {
      warn(error)
    }
    if (isStopped() || performance.now() + RETRY_MS > giveUpAt) return false
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
