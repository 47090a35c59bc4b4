/**
 * Writes the events of one item of an answer in the order that OpenAI documents: the start of the
 * item, its parts with their text, the end of the item. A part is closed when another one starts.
 * Text that arrives for a closed part starts one more part, so that no text is lost and the order
 * stays valid.
 */
import { isToolItem, type Item } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { ItemChannel } from './item-channels.ts'
import { splitItemForStreaming, type ItemPiece } from './split-item-for-streaming.ts'
import { renderStartedItem, renderItem, type ItemEndStatus } from './render-item.ts'
import { createPartEventWriter, type PartEventWriter } from './part-event-writer.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'
import { findTextEventNames, type TextChannel } from './text-event-names.ts'
import type { SseEventCollector } from './sse-event-collector.ts'

export interface ItemEventWriter {
  readonly writeText: (
    channel: TextChannel,
    partNumber: number,
    text: string,
    logprobs?: readonly Json[],
  ) => void
  readonly writeAnnotation: (partNumber: number, annotation: JsonObject) => void
  /**
   * Writes the content of `finalItem` for which no event was written yet, and closes the parts.
   * `finalItem` is `null` if the answer broke off before the item was finished.
   */
  readonly closeParts: (finalItem: Item | null) => void
  /** Replaces the item by one with the same texts. Must be called after `closeParts`. */
  readonly amend: (item: Item) => void
  /** Returns the item's JSON. Must be called after `closeParts`. */
  readonly renderEnd: (status: ItemEndStatus) => string
  /** Writes the end of the item and returns the item's JSON. Must be called after `closeParts`. */
  readonly writeEnd: (status: ItemEndStatus) => string
}

export function createItemEventWriter(
  startedItem: Item,
  id: string,
  { collector, outputIndex, end }: ItemChannel,
  visibility: ReasoningVisibility,
): ItemEventWriter {
  const indexField = outputIndex === null ? '' : `"output_index":${outputIndex}`
  const itemStart = indexField === '' ? '"item":' : `${indexField},"item":`
  const startedJson = JSON.stringify(renderStartedItem(startedItem, id))
  collector.addEvent('response.output_item.added', itemStart + startedJson)
  const progress: ItemProgress = {
    type: startedItem.type,
    // OpenAI's API description requires the name, though its SDKs do not.
    nameField:
      startedItem.type === 'function_call' ? `,"name":${JSON.stringify(startedItem.name)}` : '',
    itemFields: `"item_id":${JSON.stringify(id)}${indexField === '' ? '' : `,${indexField}`}`,
    visibility,
    collector,
    parts: [],
    renderers: { content: [], summary: [] },
    openPart: null,
  }
  let item = startedItem
  const renderEnd = (status: ItemEndStatus): string => {
    const parts = {
      content: progress.renderers.content.map((render) => render()),
      summary: progress.renderers.summary.map((render) => render()),
    }
    return JSON.stringify(renderItem(item, id, status, visibility, parts))
  }
  return {
    writeText(channel, partNumber, text, logprobs) {
      if (text !== '') openPart(progress, channel, partNumber)?.events.writeText(text, logprobs)
    },
    writeAnnotation(partNumber, annotation) {
      openPart(progress, 'text', partNumber)?.events.writeAnnotation(annotation)
    },
    closeParts(finalItem) {
      item =
        finalItem === null || !hasSameType(finalItem, startedItem)
          ? buildPartialItem(startedItem, progress)
          : keepCallId(finalItem, startedItem)
      for (const piece of splitItemForStreaming(item)) writeMissingContent(progress, piece)
      closePart(progress)
    },
    amend: (amended) => void (item = amended),
    renderEnd,
    writeEnd(status) {
      const json = renderEnd(status)
      collector.addEvent('response.output_item.done', itemStart + json)
      end()
      return json
    },
  }
}

/** The state of an item while its events are written. */
interface ItemProgress {
  readonly type: Item['type']
  /** The JSON fields that all events of the item have. */
  readonly itemFields: string
  /** The JSON field with the name of a function call, for the end of its arguments; otherwise empty. */
  readonly nameField: string
  readonly visibility: ReasoningVisibility
  readonly collector: SseEventCollector
  readonly parts: StartedPart[]
  /**
   * Functions that render the finished parts of the item, by the list that contains them
   * (`content`, `summary`), in the order in which the parts started.
   */
  readonly renderers: {
    readonly content: (() => JsonObject)[]
    readonly summary: (() => JsonObject)[]
  }
  openPart: StartedPart | null
}

/**
 * A part that has started. `partNumber` is the number of the part in the upstream's events, which
 * may differ from its index in the client's list.
 */
interface StartedPart {
  readonly channel: TextChannel
  readonly partNumber: number
  readonly events: PartEventWriter
}

/**
 * Returns the open part if it has this channel and number; otherwise starts a new one. Returns
 * `null` if items of this type have no such channel, e.g. reasoning has no refusal.
 */
function openPart(
  progress: ItemProgress,
  channel: TextChannel,
  partNumber: number,
): StartedPart | null {
  const {
    openPart: current,
    type,
    visibility,
    itemFields,
    nameField,
    collector,
    renderers,
  } = progress
  if (current !== null && current.partNumber === partNumber && current.channel === channel)
    return current
  const names = findTextEventNames(type, channel, visibility)
  if (names === null) return null
  // The arguments of a tool call are one text without parts, so `partNumber` is ignored.
  if (names.partEvents === null && current !== null) return current
  closePart(progress)
  const list = names.partEvents === null ? [] : renderers[names.partEvents.listField]
  const events = createPartEventWriter(names, itemFields, list.length, collector, nameField)
  list.push(events.renderPart)
  const started = { channel, partNumber, events }
  progress.parts.push(started)
  progress.openPart = started
  return started
}

function closePart(progress: ItemProgress): void {
  progress.openPart?.events.close()
  progress.openPart = null
}

/** Writes the text and the annotations of a finished part for which no event was written yet. */
function writeMissingContent(progress: ItemProgress, piece: ItemPiece): void {
  const { channel, partNumber, text, renderedPart } = piece
  if (channel === null) return writePartAtOnce(progress, piece)
  const findStarted = () =>
    progress.parts.filter(
      (started) => started.channel === channel && started.partNumber === partNumber,
    )
  const before = findStarted()
  const writtenText = before.map(({ events }) => events.getText()).join('')
  const missingText = text.startsWith(writtenText) ? text.slice(writtenText.length) : ''
  if (before.length === 0 || missingText !== '') {
    const opened = openPart(progress, channel, partNumber)
    if (missingText !== '') {
      opened?.events.writeText(missingText, before.length === 0 ? piece.logprobs : undefined)
    }
  }
  const writtenAnnotations = before.reduce((sum, { events }) => sum + events.countAnnotations(), 0)
  for (const annotation of piece.annotations.slice(writtenAnnotations)) {
    openPart(progress, channel, partNumber)?.events.writeAnnotation(annotation)
  }
  // If the upstream's part was written as several parts, the finished item contains these parts
  // instead of it.
  const [first, ...others] = findStarted()
  if (others.length === 0) first?.events.setFinalPart(text, renderedPart)
}

/** Writes a part without text, e.g. an image or a part of an unknown type. */
function writePartAtOnce(progress: ItemProgress, { renderedPart }: ItemPiece): void {
  if (renderedPart === null) return
  closePart(progress)
  const { content } = progress.renderers
  const part = JSON.stringify(renderedPart)
  const fields = `${progress.itemFields},"content_index":${content.length},"part":${part}`
  progress.collector.addEvent('response.content_part.added', fields)
  progress.collector.addEvent('response.content_part.done', fields)
  content.push(() => renderedPart)
}

function hasSameType(item: Item, started: Item): boolean {
  if (item.type !== 'opaque' || started.type !== 'opaque') return item.type === started.type
  return item.raw['type'] === started.raw['type']
}

/**
 * Returns the finished call with the `call_id` of its start event, which the client already has.
 */
function keepCallId(item: Item, started: Item): Item {
  if (!isToolItem(item) || !isToolItem(started) || item.call_id === started.call_id) return item
  return { ...item, call_id: started.call_id }
}

/**
 * Builds an item that was not finished when the answer broke off. A tool call gets the arguments
 * received so far. Messages and reasoning stay empty, because `renderers` add the parts that were
 * written.
 */
function buildPartialItem(started: Item, { parts }: ItemProgress): Item {
  const text = parts.map(({ events }) => events.getText()).join('')
  if (started.type === 'function_call') return { ...started, arguments: text }
  if (started.type === 'custom_tool_call') return { ...started, input: text }
  if (started.type === 'message') return { ...started, content: [] }
  if (started.type !== 'reasoning') return started
  const { content: _content, ...fields } = started
  return { ...fields, summary: [] }
}
