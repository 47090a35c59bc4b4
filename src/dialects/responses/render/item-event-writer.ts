/**
 * Tells one item of an answer in events: announces it, its parts and their text, and closes what it
 * has opened, in the order that OpenAI publishes. A part is closed when another one begins; text for
 * a part that is closed already makes one more part, so that nothing is lost and no rule is broken.
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
  readonly say: (
    channel: TextChannel,
    part: number,
    text: string,
    logprobs?: readonly Json[],
  ) => void
  readonly annotate: (part: number, annotation: JsonObject) => void
  /** Says what of the finished item was not said yet, and closes its parts. `null`: it broke off. */
  readonly close: (final: Item | null) => void
  /** The last word on the item, which is returned as JSON text. Comes after `close`. */
  readonly end: (ending: ItemEndStatus) => string
}

export function createItemEventWriter(
  started: Item,
  id: string,
  index: number,
  view: ReasoningVisibility,
  writer: EventWriter,
): ItemEventWriter {
  const announced = JSON.stringify(renderStartedItem(started, id))
  writer.write('response.output_item.added', `"output_index":${index},"item":${announced}`)
  const telling: Telling = {
    type: started.type,
    place: `"item_id":${JSON.stringify(id)},"output_index":${index}`,
    view,
    writer,
    told: [],
    shown: { content: [], summary: [] },
    current: null,
  }
  let item = started
  return {
    say(channel, part, text, logprobs) {
      if (text !== '') partFor(telling, channel, part)?.teller.say(text, logprobs)
    },
    annotate(part, annotation) {
      partFor(telling, 'text', part)?.teller.annotate(annotation)
    },
    close(final) {
      item =
        final === null || !isSameKind(final, started)
          ? asFarAsTold(started, telling)
          : renamed(final, started)
      for (const piece of splitItemForStreaming(item)) catchUp(telling, piece)
      closeCurrent(telling)
    },
    end(ending) {
      const lists = {
        content: telling.shown.content.map((shown) => shown()),
        summary: telling.shown.summary.map((shown) => shown()),
      }
      const json = JSON.stringify(renderItem(item, id, ending, view, lists))
      writer.write('response.output_item.done', `"output_index":${index},"item":${json}`)
      return json
    },
  }
}

/** An item in the middle of being told. */
interface Telling {
  readonly type: Item['type']
  /** The fields that every event of the item has, as JSON. */
  readonly place: string
  readonly view: ReasoningVisibility
  readonly writer: EventWriter
  readonly told: Told[]
  /** The parts in the order in which they were announced, to be asked when the item is over. */
  readonly shown: { readonly content: (() => JsonObject)[]; readonly summary: (() => JsonObject)[] }
  current: Told | null
}

/** `channel` and `part` say which part of the item it is, which need not be its place in a list. */
interface Told {
  readonly channel: TextChannel
  readonly part: number
  readonly teller: PartEventWriter
}

function partFor(telling: Telling, channel: TextChannel, part: number): Told | null {
  const { current, type, view, place, writer, shown } = telling
  if (current !== null && current.part === part && current.channel === channel) return current
  const voice = findTextEventNames(type, channel, view)
  if (voice === null) return null
  // Arguments have no parts to tell apart.
  if (voice.parts === null && current !== null) return current
  closeCurrent(telling)
  const list = voice.parts === null ? [] : shown[voice.parts.list]
  const teller = createPartEventWriter(voice, place, list.length, writer)
  list.push(teller.shown)
  const told = { channel, part, teller }
  telling.told.push(told)
  telling.current = told
  return told
}

function closeCurrent(telling: Telling): void {
  telling.current?.teller.close()
  telling.current = null
}

/** Says of a finished part what was not said while it was made. */
function catchUp(telling: Telling, piece: ItemPiece): void {
  const { channel, part, text, shown } = piece
  if (channel === null) return tellAtOnce(telling, piece)
  const before = telling.told.filter((told) => told.channel === channel && told.part === part)
  const said = before.map(({ teller }) => teller.said()).join('')
  const rest = text.startsWith(said) ? text.slice(said.length) : ''
  if (before.length === 0 || rest !== '') {
    const told = partFor(telling, channel, part)
    if (told !== null && rest !== '')
      told.teller.say(rest, before.length === 0 ? piece.logprobs : undefined)
  }
  const annotated = before.reduce((sum, { teller }) => sum + teller.annotated(), 0)
  for (const annotation of piece.annotations.slice(annotated)) {
    partFor(telling, channel, part)?.teller.annotate(annotation)
  }
  const tellers = telling.told.filter((told) => told.channel === channel && told.part === part)
  // Told in several parts, it cannot be shown as the one that it was.
  if (tellers.length === 1) tellers[0]?.teller.settle(text, shown)
}

/** A part without text: an image, or something from the future. */
function tellAtOnce(telling: Telling, { shown }: ItemPiece): void {
  if (shown === null) return
  closeCurrent(telling)
  const { content } = telling.shown
  const fields = `${telling.place},"content_index":${content.length},"part":${JSON.stringify(shown)}`
  telling.writer.write('response.content_part.added', fields)
  telling.writer.write('response.content_part.done', fields)
  content.push(() => shown)
}

function isSameKind(item: Item, started: Item): boolean {
  if (item.type !== 'opaque' || started.type !== 'opaque') return item.type === started.type
  return item.raw['type'] === started.raw['type']
}

/** A call keeps the name by which it was announced. */
function renamed(item: Item, started: Item): Item {
  if (!isToolItem(item) || !isToolItem(started) || item.call_id === started.call_id) return item
  return { ...item, call_id: started.call_id }
}

/** What is known of an item that broke off. Its parts are in the lists; its arguments are not. */
function asFarAsTold(started: Item, { told }: Telling): Item {
  const said = told.map(({ teller }) => teller.said()).join('')
  if (started.type === 'function_call') return { ...started, arguments: said }
  if (started.type === 'custom_tool_call') return { ...started, input: said }
  if (started.type === 'message') return { ...started, content: [] }
  if (started.type !== 'reasoning') return started
  const { content: _content, ...own } = started
  return { ...own, summary: [] }
}
