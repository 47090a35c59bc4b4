/**
 * An answer in the middle of arriving: its items by `output_index`, and the events it has made of
 * them. What an upstream leaves out is made up for here, so that the events are always in order.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import { NO_OUTPUT } from '../../../core/stream/stage.ts'
import { createAnswerEndEvent } from './decide-answer-end.ts'
import { decodeItem } from './decode-item.ts'
import { createItemBuilder, type ItemBuilder } from './item-builder.ts'

export interface AnswerEventEmitter {
  readonly startAnswer: (response: unknown) => void
  /** Announces an item, unless it is announced already. */
  readonly openItem: (outputIndex: number, raw: JsonObject) => ItemBuilder
  readonly getItem: (outputIndex: number) => ItemBuilder | null
  readonly endItem: (outputIndex: number, raw: JsonObject) => void
  /** The place of the item that was announced last, for events that name none. */
  readonly getLatestIndex: () => number
  /** An error that the end of the answer will have to tell of. */
  readonly recordError: (failure: Failure) => void
  /** The answer is over, and this is what the upstream says came of it. */
  readonly finishAnswer: (response: JsonObject) => void
  /** The answer is over, and nothing more is known. */
  readonly failAnswer: (failure: Failure) => void
  readonly isOver: () => boolean
  readonly takeEvents: () => readonly StreamEvent[]
}

export function createAnswerEventEmitter(): AnswerEventEmitter {
  const { emit, taken } = createEventQueue()
  const { begin, items, open, end, latest } = createItemOpener(emit)
  let isOver = false
  let told: Failure | null = null

  const closeAll = (status: 'completed' | 'incomplete'): void => {
    for (const item of items.values()) item.endWithReceivedText(status)
  }
  return {
    startAnswer: begin,
    openItem: open,
    getItem: (outputIndex) => items.get(outputIndex) ?? null,
    endItem: end,
    getLatestIndex: latest,
    recordError(failure) {
      told ??= failure
    },
    finishAnswer(response) {
      begin(response)
      for (const [at, raw] of listUnfinishedItems(response['output'], items)) end(at, raw)
      const ending = createAnswerEndEvent(response, told)
      const isWhole = ending.type === 'answer-ended' && ending.finish === 'stop'
      closeAll(isWhole ? 'completed' : 'incomplete')
      emit(ending)
      isOver = true
    },
    failAnswer(failure) {
      begin(null)
      closeAll('incomplete')
      emit({ type: 'answer-failed', failure: told ?? failure })
      isOver = true
    },
    isOver: () => isOver,
    takeEvents: taken,
  }
}

type Emit = (event: StreamEvent) => void

function createEventQueue(): {
  readonly emit: Emit
  readonly taken: AnswerEventEmitter['takeEvents']
} {
  let events: StreamEvent[] = []
  return {
    emit: (event) => void events.push(event),
    taken() {
      if (events.length === 0) return NO_OUTPUT
      const taken = events
      events = []
      return taken
    },
  }
}

function createItemOpener(emit: Emit) {
  const items = new Map<number, ItemBuilder>()
  let hasBegun = false
  let upstreamId: string | null = null
  let latest = -1

  const begin: AnswerEventEmitter['startAnswer'] = (response) => {
    if (hasBegun) return
    hasBegun = true
    const { id, model } = isObject(response) ? response : {}
    upstreamId = typeof id === 'string' ? id : null
    emit({ type: 'answer-started', upstreamId, model: typeof model === 'string' ? model : null })
  }
  const read = (raw: JsonObject, outputIndex: number): Item =>
    decodeItem(raw, `call_${(upstreamId ?? '').slice(-40)}_${outputIndex}`)
  const open: AnswerEventEmitter['openItem'] = (outputIndex, raw) => {
    begin(null)
    latest = outputIndex
    const known = items.get(outputIndex)
    if (known !== undefined) return known
    const item = createItemBuilder(read(raw, outputIndex), items.size, emit)
    items.set(outputIndex, item)
    return item
  }
  const end: AnswerEventEmitter['endItem'] = (outputIndex, raw) => {
    open(outputIndex, raw).end(read(raw, outputIndex))
  }
  return { begin, items, open, end, latest: () => latest }
}

/**
 * Items of the finished response that were never finished in the stream, or not even announced. The
 * list is only to be trusted as far as it goes with what was announced: some servers leave items out.
 */
function listUnfinishedItems(
  output: unknown,
  items: ReadonlyMap<number, ItemBuilder>,
): readonly (readonly [number, JsonObject])[] {
  if (!Array.isArray(output)) return []
  const list: readonly unknown[] = output
  const isWhole = [...items.keys()].every((at) => at < list.length)
  return [...list.entries()].flatMap(([at, raw]) => {
    if (!isObject(raw)) return []
    const item = items.get(at)
    const isMissing =
      item === undefined ? isWhole : !item.isEnded() && item.type === readItemType(raw)
    return isMissing ? [[at, raw] as const] : []
  })
}

function readItemType(raw: JsonObject): string {
  return decodeItem(raw, '').type
}
