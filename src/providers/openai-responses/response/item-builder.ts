/**
 * Builds an item from its deltas and emits their events. Servers repeat a text when it is complete,
 * and some send it only then. So the builder stores the text that it received, and emits only the
 * rest at the end.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import {
  isToolCall,
  type Item,
  type Message,
  type Part,
  type Reasoning,
} from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'

export type DeltaChannel = 'text' | 'refusal' | 'summary' | 'content' | 'arguments'

export interface ItemBuilder {
  readonly type: Item['type']
  /** The id with which a call started; null for other items. */
  readonly callId: string | null
  readonly isEnded: () => boolean
  readonly addText: (
    channel: DeltaChannel,
    part: number,
    text: string,
    logprobs?: readonly Json[],
  ) => void
  /**
   * Emits the part of `fullText` that follows the received text. Emits nothing if `fullText` does
   * not begin with the received text.
   */
  readonly addRemainingText: (channel: DeltaChannel, part: number, fullText: string) => void
  readonly addAnnotation: (part: number, annotation: JsonObject) => void
  readonly end: (item: Item) => void
  /**
   * Adds the encrypted content to ended reasoning without any, from the item in the final response.
   */
  readonly amend: (item: Item) => void
  /** Ends an item that the upstream did not finish, with the text received so far. */
  readonly endWithReceivedText: (status: 'completed' | 'incomplete') => void
}

export function createItemBuilder(
  announced: Item,
  index: number,
  emit: (event: StreamEvent) => void,
): ItemBuilder {
  const item = removeContent(announced)
  const received: ReceivedText = {
    text: [],
    refusal: [],
    summary: [],
    content: [],
    arguments: [],
    annotations: [],
  }
  /** Annotations by part that wait for the first text of their part. */
  const early = new Map<number, JsonObject[]>()
  let isEnded = false
  let ended: Item | null = null
  emit({ type: 'item-started', index, item })

  const addText: ItemBuilder['addText'] = (channel, part, text, logprobs) => {
    if (isEnded || text === '' || !ITEM_TYPES_BY_CHANNEL[channel].includes(item.type)) return
    received[channel][part] = (received[channel][part] ?? '') + text
    emit(createDelta(channel, index, part, text, logprobs))
    if (channel === 'text') emitAnnotations(part)
  }
  /** Emits the annotations of a part that arrived before its text. */
  const emitAnnotations = (part: number): void => {
    for (const annotation of early.get(part) ?? [])
      emit({ type: 'annotation-added', index, part, annotation })
    early.delete(part)
  }
  const addRemainingText: ItemBuilder['addRemainingText'] = (channel, part, fullText) => {
    const before = received[channel][part] ?? ''
    if (fullText.length > before.length && fullText.startsWith(before)) {
      addText(channel, part, fullText.slice(before.length))
    }
  }
  const addAnnotation: ItemBuilder['addAnnotation'] = (part, annotation) => {
    if (isEnded || item.type !== 'message') return
    ;(received.annotations[part] ??= []).push(annotation)
    if (received.text[part] === undefined) early.set(part, [...(early.get(part) ?? []), annotation])
    else emit({ type: 'annotation-added', index, part, annotation })
  }
  const end = (final: Item): void => {
    isEnded = true
    for (const part of early.keys()) emitAnnotations(part)
    ended = final
    emit({ type: 'item-ended', index, item: final })
  }
  return {
    type: item.type,
    callId: isToolCall(item) ? item.call_id : null,
    isEnded: () => isEnded,
    addText,
    addRemainingText,
    addAnnotation,
    end(final) {
      if (isEnded) return
      addRemainingTexts(final, addRemainingText)
      for (const [part, annotations] of listAnnotations(final).entries()) {
        const before = received.annotations[part]?.length ?? 0
        for (const annotation of annotations.slice(before)) addAnnotation(part, annotation)
      }
      end(keepStartedId(item, final))
    },
    amend(final) {
      if (ended?.type !== 'reasoning' || final.type !== 'reasoning') return
      const { encrypted_content: encrypted } = final
      if ((ended.encrypted_content ?? '') !== '' || (encrypted ?? '') === '') return
      ended = { ...ended, encrypted_content: encrypted ?? null }
      emit({ type: 'item-amended', index, item: ended })
    },
    endWithReceivedText(status) {
      if (!isEnded) end(createItemFromReceived(item, received, status))
    },
  }
}

type ReceivedText = Record<DeltaChannel, string[]> & { annotations: JsonObject[][] }

/** Removes the content of a started item, because the deltas may repeat it. */
function removeContent(item: Item): Item {
  switch (item.type) {
    case 'message':
      return item.content.length === 0 ? item : { ...item, content: [] }
    case 'reasoning': {
      const { content: _content, encrypted_content: _encrypted, ...rest } = item
      return { ...rest, summary: [] }
    }
    case 'function_call':
      return item.arguments === '' ? item : { ...item, arguments: '' }
    case 'custom_tool_call':
      return item.input === '' ? item : { ...item, input: '' }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
      return item
  }
}

const ITEM_TYPES_BY_CHANNEL: Readonly<Record<DeltaChannel, readonly Item['type'][]>> = {
  text: ['message'],
  refusal: ['message'],
  summary: ['reasoning'],
  content: ['reasoning'],
  arguments: ['function_call', 'custom_tool_call'],
}

function createDelta(
  channel: DeltaChannel,
  index: number,
  part: number,
  text: string,
  logprobs: readonly Json[] | undefined,
): StreamEvent {
  switch (channel) {
    case 'text':
      return logprobs === undefined
        ? { type: 'text-delta', index, part, text }
        : { type: 'text-delta', index, part, text, logprobs }
    case 'refusal':
      return { type: 'refusal-delta', index, part, text }
    case 'summary':
    case 'content':
      return { type: 'reasoning-delta', index, channel, part, text }
    case 'arguments':
      return { type: 'arguments-delta', index, text }
  }
}

function addRemainingTexts(item: Item, addRemainingText: ItemBuilder['addRemainingText']): void {
  switch (item.type) {
    case 'message':
      item.content.forEach((part, index) => {
        if (part.type === 'refusal') addRemainingText('refusal', index, part.refusal)
        else if (part.type === 'output_text' || part.type === 'input_text')
          addRemainingText('text', index, part.text)
      })
      return
    case 'reasoning':
      item.summary.forEach(({ text }, index) => addRemainingText('summary', index, text))
      item.content?.forEach(({ text }, index) => addRemainingText('content', index, text))
      return
    case 'function_call':
      addRemainingText('arguments', 0, item.arguments)
      return
    case 'custom_tool_call':
      addRemainingText('arguments', 0, item.input)
      return
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
  }
}

function listAnnotations(item: Item): readonly (readonly JsonObject[])[] {
  if (item.type !== 'message') return []
  return item.content.map((part) => ('annotations' in part ? (part.annotations ?? []) : []))
}

/**
 * Returns the final item with the id of the started item, which the client already knows. Some
 * upstreams, e.g. Copilot, send another id with every event.
 */
function keepStartedId(started: Item, final: Item): Item {
  if (started.id === undefined || started.id === final.id || final.type !== started.type)
    return final
  return { ...final, id: started.id }
}

function createItemFromReceived(item: Item, received: ReceivedText, status: string): Item {
  switch (item.type) {
    case 'message':
      return { ...item, status, content: createParts(received) } satisfies Message
    case 'reasoning':
      return createReasoning(item, received, status)
    case 'function_call':
      return { ...item, status, arguments: received.arguments[0] ?? '' }
    case 'custom_tool_call':
      return { ...item, status, input: received.arguments[0] ?? '' }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { ...item, status }
    case 'opaque':
      return { ...item, raw: { ...item.raw, status } }
  }
}

function createParts({ text, refusal, annotations }: ReceivedText): readonly Part[] {
  const parts: Part[] = []
  const length = Math.max(text.length, refusal.length, annotations.length)
  for (let index = 0; index < length; index++) {
    const [partText, partRefusal, partAnnotations] = [
      text[index],
      refusal[index],
      annotations[index],
    ]
    if (partText !== undefined || partAnnotations !== undefined) {
      parts.push({
        type: 'output_text',
        text: partText ?? '',
        annotations: partAnnotations ?? [],
      })
    }
    if (partRefusal !== undefined) parts.push({ type: 'refusal', refusal: partRefusal })
  }
  return parts
}

function createReasoning(
  item: Reasoning,
  { summary, content }: ReceivedText,
  status: string,
): Reasoning {
  return {
    ...item,
    status,
    summary: removeGaps(summary).map((text) => ({ type: 'summary_text', text })),
    ...(content.length === 0
      ? {}
      : { content: removeGaps(content).map((text) => ({ type: 'reasoning_text', text })) }),
  }
}

function removeGaps(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text !== undefined)
}
