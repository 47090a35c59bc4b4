/**
 * Decodes the items of a Responses stream, which are identified by `output_index`, and emits the
 * events of the answer. Adds events that the upstream left out, e.g. the start of an item.
 */
import type { Failure, StreamEvent } from '../../../core/stream-event.ts'
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import { createAnswerEndEvent } from './create-answer-end-event.ts'
import { decodeItem } from './decode-item.ts'
import { createItemBuilder, type ItemBuilder } from './item-builder.ts'
import { createEventBuffer } from '../../response/event-buffer.ts'

export interface OutputItemsDecoder {
  /** Emits `answer-started`, unless it was emitted before. */
  readonly startAnswer: (response: unknown) => void
  /** Returns the item at this index. If there is none, starts an item with the fields of `raw`. */
  readonly openItem: (outputIndex: number, raw: JsonObject) => ItemBuilder
  readonly getItem: (outputIndex: number) => ItemBuilder | null
  readonly endItem: (outputIndex: number, raw: JsonObject) => void
  /**
   * Returns the index of the last opened item, for events without `output_index`; -1 without an
   * item.
   */
  readonly getLatestIndex: () => number
  /** Stores the failure of the first `error` event. It is emitted when the answer ends. */
  readonly recordError: (failure: Failure) => void
  /** Ends the answer with the response object in the upstream's last event. */
  readonly finishAnswer: (response: JsonObject) => void
  /** Ends the answer without a response object, e.g. because the stream breaks off. */
  readonly failAnswer: (failure: Failure) => void
  readonly isOver: () => boolean
  readonly takeEvents: () => readonly StreamEvent[]
}

export function createOutputItemsDecoder(): OutputItemsDecoder {
  const { emit, takeEvents } = createEventBuffer()
  const items = new Map<number, ItemBuilder>()
  let isStarted = false
  let isOver = false
  let upstreamId: string | null = null
  let latestIndex = -1
  let recordedError: Failure | null = null

  const startAnswer = (response: unknown): void => {
    if (isStarted) return
    isStarted = true
    const { id, model } = isObject(response) ? response : {}
    upstreamId = typeof id === 'string' ? id : null
    emit({ type: 'answer-started', upstreamId, model: typeof model === 'string' ? model : null })
  }
  const decode = (raw: JsonObject, outputIndex: number) =>
    decodeItem(
      raw,
      items.get(outputIndex)?.callId ?? `call_${(upstreamId ?? '').slice(-40)}_${outputIndex}`,
    )
  const openItem = (outputIndex: number, raw: JsonObject): ItemBuilder => {
    startAnswer(null)
    latestIndex = outputIndex
    const existing = items.get(outputIndex)
    if (existing !== undefined) return existing
    const item = createItemBuilder(decode(raw, outputIndex), items.size, emit)
    items.set(outputIndex, item)
    return item
  }
  const endItem = (outputIndex: number, raw: JsonObject): void =>
    openItem(outputIndex, raw).end(decode(raw, outputIndex))
  const endAllItems = (status: 'completed' | 'incomplete'): void => {
    for (const item of items.values()) item.endWithReceivedText(status)
  }

  return {
    startAnswer,
    openItem,
    getItem: (outputIndex) => items.get(outputIndex) ?? null,
    endItem,
    getLatestIndex: () => latestIndex,
    recordError(failure) {
      recordedError ??= failure
    },
    finishAnswer(response) {
      startAnswer(response)
      for (const [index, raw] of listUnfinishedItems(response['output'], items)) endItem(index, raw)
      const endEvent = createAnswerEndEvent(response, recordedError)
      const isComplete = endEvent.type === 'answer-ended' && endEvent.finish === 'stop'
      endAllItems(isComplete ? 'completed' : 'incomplete')
      for (const [item, raw] of pairReasoning(response['output'], items))
        item.amend(decodeItem(raw, ''))
      emit(endEvent)
      isOver = true
    },
    failAnswer(failure) {
      startAnswer(null)
      endAllItems('incomplete')
      emit({ type: 'answer-failed', failure: recordedError ?? failure })
      isOver = true
    },
    isOver: () => isOver,
    takeEvents,
  }
}

/**
 * Pairs the reasoning items of the stream with those of the final response, in order, because ids
 * and indexes may differ. Returns nothing if their numbers differ.
 */
function pairReasoning(
  output: unknown,
  items: ReadonlyMap<number, ItemBuilder>,
): readonly (readonly [ItemBuilder, JsonObject])[] {
  const final = Array.isArray(output)
    ? output.filter(
        (raw: unknown): raw is JsonObject => isObject(raw) && raw['type'] === 'reasoning',
      )
    : []
  const streamed = [...items]
    .toSorted(([one], [other]) => one - other)
    .flatMap(([, item]) => (item.type === 'reasoning' ? [item] : []))
  return final.length === streamed.length
    ? streamed.flatMap((item, index) => {
        const raw = final[index]
        return raw === undefined ? [] : [[item, raw] as const]
      })
    : []
}

/**
 * Lists the items of the final response that have not ended in the stream, or were not in it at
 * all. Some servers leave items out of the final list, so that the indexes of the others change.
 * Therefore items that were not in the stream are added only if the list is at least as long as the
 * stream's.
 */
function listUnfinishedItems(
  output: unknown,
  items: ReadonlyMap<number, ItemBuilder>,
): readonly (readonly [number, JsonObject])[] {
  if (!Array.isArray(output)) return []
  const list: readonly unknown[] = output
  const isComplete = [...items.keys()].every((index) => index < list.length)
  return [...list.entries()].flatMap(([index, raw]) => {
    if (!isObject(raw)) return []
    const item = items.get(index)
    const isUnfinished =
      item === undefined ? isComplete : !item.isEnded() && item.type === decodeItem(raw, '').type
    return isUnfinished ? [[index, raw] as const] : []
  })
}
