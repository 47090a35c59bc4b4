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
  readonly begin: (response: unknown) => void
  /** Announces an item, unless it is announced already. */
  readonly open: (outputIndex: number, raw: JsonObject) => ItemBuilder
  readonly item: (outputIndex: number) => ItemBuilder | null
  readonly end: (outputIndex: number, raw: JsonObject) => void
  /** The place of the item that was announced last, for events that name none. */
  readonly latest: () => number
  /** An error that the end of the answer will have to tell of. */
  readonly tell: (failure: Failure) => void
  /** The answer is over, and this is what the upstream says came of it. */
  readonly finish: (response: JsonObject) => void
  /** The answer is over, and nothing more is known. */
  readonly fail: (failure: Failure) => void
  readonly isOver: () => boolean
  readonly taken: () => readonly StreamEvent[]
}

export function createAnswerEventEmitter(): AnswerEventEmitter {
  const { emit, taken } = outbox()
  const { begin, items, open, end, latest } = opening(emit)
  let isOver = false
  let told: Failure | null = null

  const closeAll = (status: 'completed' | 'incomplete'): void => {
    for (const item of items.values()) item.endAsSaid(status)
  }
  return {
    begin,
    open,
    item: (outputIndex) => items.get(outputIndex) ?? null,
    end,
    latest,
    tell(failure) {
      told ??= failure
    },
    finish(response) {
      begin(response)
      for (const [at, raw] of unfinished(response['output'], items)) end(at, raw)
      const ending = createAnswerEndEvent(response, told)
      const isWhole = ending.type === 'answer-ended' && ending.finish === 'stop'
      closeAll(isWhole ? 'completed' : 'incomplete')
      emit(ending)
      isOver = true
    },
    fail(failure) {
      begin(null)
      closeAll('incomplete')
      emit({ type: 'answer-failed', failure: told ?? failure })
      isOver = true
    },
    isOver: () => isOver,
    taken,
  }
}

type Emit = (event: StreamEvent) => void

function outbox(): { readonly emit: Emit; readonly taken: AnswerEventEmitter['taken'] } {
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

function opening(emit: Emit) {
  const items = new Map<number, ItemBuilder>()
  let hasBegun = false
  let upstreamId: string | null = null
  let latest = -1

  const begin: AnswerEventEmitter['begin'] = (response) => {
    if (hasBegun) return
    hasBegun = true
    const { id, model } = isObject(response) ? response : {}
    upstreamId = typeof id === 'string' ? id : null
    emit({ type: 'answer-started', upstreamId, model: typeof model === 'string' ? model : null })
  }
  const read = (raw: JsonObject, outputIndex: number): Item =>
    decodeItem(raw, `call_${(upstreamId ?? '').slice(-40)}_${outputIndex}`)
  const open: AnswerEventEmitter['open'] = (outputIndex, raw) => {
    begin(null)
    latest = outputIndex
    const known = items.get(outputIndex)
    if (known !== undefined) return known
    const item = createItemBuilder(read(raw, outputIndex), items.size, emit)
    items.set(outputIndex, item)
    return item
  }
  const end: AnswerEventEmitter['end'] = (outputIndex, raw) => {
    open(outputIndex, raw).end(read(raw, outputIndex))
  }
  return { begin, items, open, end, latest: () => latest }
}

/**
 * Items of the finished response that were never finished in the stream, or not even announced. The
 * list is only to be trusted as far as it goes with what was announced: some servers leave items out.
 */
function unfinished(
  output: unknown,
  items: ReadonlyMap<number, ItemBuilder>,
): readonly (readonly [number, JsonObject])[] {
  if (!Array.isArray(output)) return []
  const list: readonly unknown[] = output
  const isWhole = [...items.keys()].every((at) => at < list.length)
  return [...list.entries()].flatMap(([at, raw]) => {
    if (!isObject(raw)) return []
    const item = items.get(at)
    const isMissing = item === undefined ? isWhole : !item.isEnded() && item.type === typeOf(raw)
    return isMissing ? [[at, raw] as const] : []
  })
}

function typeOf(raw: JsonObject): string {
  return decodeItem(raw, '').type
}
