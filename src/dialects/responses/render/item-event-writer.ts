/**
 * Writes the events of one item of an answer in the order that OpenAI documents: the start of the
 * item, its parts with their text, the end of the item. A part is closed when another one starts.
 * Text for a closed part starts one more part, so that no text is lost and the order stays valid.
 */
import { isToolItem, type Item } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { splitItemForStreaming, type ItemPiece } from './split-item-for-streaming.ts'
import { renderStartedItem, renderItem, type ItemEndStatus } from './render-item.ts'
import { createPartEventWriter, type PartEventWriter } from './part-event-writer.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'
import { findTextEventNames, type TextChannel } from './text-event-names.ts'
import type { EventWriter } from './event-writer.ts'

export interface ItemEventWriter {
  readonly writeText: (
    channel: TextChannel,
    part: number,
    text: string,
    logprobs?: readonly Json[],
  ) => void
  readonly writeAnnotation: (part: number, annotation: JsonObject) => void
  /**
   * Writes the content of the finished item that had no events yet, and closes its parts.
   * `finalItem` is `null` if the answer broke off before the item was finished.
   */
  readonly close: (finalItem: Item | null) => void
  /** Writes the end of the item and returns its JSON. Must be called after `close`. */
  readonly end: (status: ItemEndStatus) => string
}

export function createItemEventWriter(
  started: Item,
  id: string,
  index: number,
  visibility: ReasoningVisibility,
  writer: EventWriter,
): ItemEventWriter {
  const startedJson = JSON.stringify(renderStartedItem(started, id))
  writer.write('response.output_item.added', `"output_index":${index},"item":${startedJson}`)
  const progress: ItemProgress = {
    type: started.type,
    itemFields: `"item_id":${JSON.stringify(id)},"output_index":${index}`,
    visibility,
    writer,
    parts: [],
    renderers: { content: [], summary: [] },
    openPart: null,
  }
  let item = started
  return {
    writeText(channel, part, text, logprobs) {
      if (text !== '') openPart(progress, channel, part)?.events.writeText(text, logprobs)
    },
    writeAnnotation(part, annotation) {
      openPart(progress, 'text', part)?.events.writeAnnotation(annotation)
    },
    close(finalItem) {
      item =
        finalItem === null || !isSameType(finalItem, started)
          ? buildPartialItem(started, progress)
          : keepCallId(finalItem, started)
      for (const piece of splitItemForStreaming(item)) writeMissing(progress, piece)
      closePart(progress)
    },
    end(status) {
      const parts = {
        content: progress.renderers.content.map((render) => render()),
        summary: progress.renderers.summary.map((render) => render()),
      }
      const json = JSON.stringify(renderItem(item, id, status, visibility, parts))
      writer.write('response.output_item.done', `"output_index":${index},"item":${json}`)
      return json
    },
  }
}

/** The state of an item between its start and its end. */
interface ItemProgress {
  readonly type: Item['type']
  /** The JSON fields that all events of the item have. */
  readonly itemFields: string
  readonly visibility: ReasoningVisibility
  readonly writer: EventWriter
  readonly parts: StartedPart[]
  /**
   * Functions that render the parts of each list when the item ends, in the order in which the
   * parts started.
   */
  readonly renderers: {
    readonly content: (() => JsonObject)[]
    readonly summary: (() => JsonObject)[]
  }
  openPart: StartedPart | null
}

/**
 * A part that has started. `part` is the upstream's number of the part, which may differ from its
 * index in the list.
 */
interface StartedPart {
  readonly channel: TextChannel
  readonly part: number
  readonly events: PartEventWriter
}

/**
 * Returns the open part if it matches, otherwise starts a new one. Returns `null` if an item of
 * this type has no such text.
 */
function openPart(progress: ItemProgress, channel: TextChannel, part: number): StartedPart | null {
  const { openPart: current, type, visibility, itemFields, writer, renderers } = progress
  if (current !== null && current.part === part && current.channel === channel) return current
  const names = findTextEventNames(type, channel, visibility)
  if (names === null) return null
  // The arguments of a tool call are one text without parts, so `part` is ignored.
  if (names.parts === null && current !== null) return current
  closePart(progress)
  const list = names.parts === null ? [] : renderers[names.parts.list]
  const events = createPartEventWriter(names, itemFields, list.length, writer)
  list.push(events.render)
  const started = { channel, part, events }
  progress.parts.push(started)
  progress.openPart = started
  return started
}

function closePart(progress: ItemProgress): void {
  progress.openPart?.events.close()
  progress.openPart = null
}

/** Writes the text and annotations of a finished part that had no events yet. */
function writeMissing(progress: ItemProgress, piece: ItemPiece): void {
  const { channel, part, text, rendered } = piece
  if (channel === null) return writePartAtOnce(progress, piece)
  const findStarted = () =>
    progress.parts.filter((started) => started.channel === channel && started.part === part)
  const before = findStarted()
  const writtenText = before.map(({ events }) => events.text()).join('')
  const missingText = text.startsWith(writtenText) ? text.slice(writtenText.length) : ''
  if (before.length === 0 || missingText !== '') {
    const opened = openPart(progress, channel, part)
    if (missingText !== '') {
      opened?.events.writeText(missingText, before.length === 0 ? piece.logprobs : undefined)
    }
  }
  const writtenAnnotations = before.reduce((sum, { events }) => sum + events.countAnnotations(), 0)
  for (const annotation of piece.annotations.slice(writtenAnnotations)) {
    openPart(progress, channel, part)?.events.writeAnnotation(annotation)
  }
  // If a part was written as several parts, the finished item has the same several parts.
  const [first, ...others] = findStarted()
  if (others.length === 0) first?.events.setFinal(text, rendered)
}

/** Writes a part without text, e.g. an image or a part of an unknown type. */
function writePartAtOnce(progress: ItemProgress, { rendered }: ItemPiece): void {
  if (rendered === null) return
  closePart(progress)
  const { content } = progress.renderers
  const part = JSON.stringify(rendered)
  const fields = `${progress.itemFields},"content_index":${content.length},"part":${part}`
  progress.writer.write('response.content_part.added', fields)
  progress.writer.write('response.content_part.done', fields)
  content.push(() => rendered)
}

function isSameType(item: Item, started: Item): boolean {
  if (item.type !== 'opaque' || started.type !== 'opaque') return item.type === started.type
  return item.raw['type'] === started.raw['type']
}

/**
 * Returns the finished call with the `call_id` of its start event, which the client has already.
 */
function keepCallId(item: Item, started: Item): Item {
  if (!isToolItem(item) || !isToolItem(started) || item.call_id === started.call_id) return item
  return { ...item, call_id: started.call_id }
}

/**
 * Builds the item of an answer that broke off. A tool call gets the arguments received so far; messages
 * and reasoning stay empty, because `renderers` add their parts.
 */
function buildPartialItem(started: Item, { parts }: ItemProgress): Item {
  const text = parts.map(({ events }) => events.text()).join('')
  if (started.type === 'function_call') return { ...started, arguments: text }
  if (started.type === 'custom_tool_call') return { ...started, input: text }
  if (started.type === 'message') return { ...started, content: [] }
  if (started.type !== 'reasoning') return started
  const { content: _content, ...fields } = started
  return { ...fields, summary: [] }
}
