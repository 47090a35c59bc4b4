/**
 * An item in the middle of arriving. It remembers what was said of it, so that in the end exactly
 * the rest can be said: servers repeat texts whole when they are done, some say them only then, and
 * some say nothing at all until the answer is over.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item, Message, Part, Reasoning } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'

export type DeltaChannel = 'text' | 'refusal' | 'summary' | 'content' | 'arguments'

export interface ItemBuilder {
  readonly type: Item['type']
  readonly isEnded: () => boolean
  readonly addText: (
    channel: DeltaChannel,
    part: number,
    text: string,
    logprobs?: readonly Json[],
  ) => void
  /** Says the rest of a text of which the whole is known. What contradicts it cannot be unsaid. */
  readonly addRemainingText: (channel: DeltaChannel, part: number, whole: string) => void
  readonly addAnnotation: (part: number, annotation: JsonObject) => void
  readonly end: (item: Item) => void
  /** Ends an item that nobody finished, with what was said of it. */
  readonly endWithReceivedText: (status: 'completed' | 'incomplete') => void
}

export function createItemBuilder(
  given: Item,
  index: number,
  emit: (event: StreamEvent) => void,
): ItemBuilder {
  const item = removeContent(given)
  const said: ReceivedText = {
    text: [],
    refusal: [],
    summary: [],
    content: [],
    arguments: [],
    annotations: [],
  }
  let isEnded = false
  emit({ type: 'item-started', index, item })

  const say: ItemBuilder['addText'] = (channel, part, text, logprobs) => {
    if (isEnded || text === '' || !hasChannel(item, channel)) return
    said[channel][part] = (said[channel][part] ?? '') + text
    emit(createDelta(channel, index, part, text, logprobs))
  }
  const sayRest: ItemBuilder['addRemainingText'] = (channel, part, whole) => {
    const before = said[channel][part] ?? ''
    if (whole.length > before.length && whole.startsWith(before)) {
      say(channel, part, whole.slice(before.length))
    }
  }
  const annotate: ItemBuilder['addAnnotation'] = (part, annotation) => {
    if (isEnded || item.type !== 'message') return
    ;(said.annotations[part] ??= []).push(annotation)
    emit({ type: 'annotation-added', index, part, annotation })
  }
  const end = (final: Item): void => {
    isEnded = true
    emit({ type: 'item-ended', index, item: final })
  }
  return {
    type: item.type,
    isEnded: () => isEnded,
    addText: say,
    addRemainingText: sayRest,
    addAnnotation: annotate,
    end(final) {
      if (isEnded) return
      addRemainingTexts(final, sayRest)
      for (const [part, annotations] of listAnnotations(final).entries()) {
        const before = said.annotations[part]?.length ?? 0
        for (const annotation of annotations.slice(before)) annotate(part, annotation)
      }
      end(keepStartedId(item, final))
    },
    endWithReceivedText(status) {
      if (!isEnded) end(createItemFromReceived(item, said, status))
    },
  }
}

type ReceivedText = Record<DeltaChannel, string[]> & { annotations: JsonObject[][] }

/** What an item is announced with is not yet final, and may be said again. */
function removeContent(item: Item): Item {
  switch (item.type) {
    case 'message':
      return item.content.length === 0 ? item : { ...item, content: [] }
    case 'reasoning': {
      const { content: _content, encrypted_content: _sealed, ...own } = item
      return { ...own, summary: [] }
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

function hasChannel({ type }: Item, channel: DeltaChannel): boolean {
  switch (channel) {
    case 'text':
    case 'refusal':
      return type === 'message'
    case 'summary':
    case 'content':
      return type === 'reasoning'
    case 'arguments':
      return type === 'function_call' || type === 'custom_tool_call'
  }
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

function addRemainingTexts(item: Item, sayRest: ItemBuilder['addRemainingText']): void {
  switch (item.type) {
    case 'message':
      item.content.forEach((part, at) => {
        if (part.type === 'refusal') sayRest('refusal', at, part.refusal)
        else if (part.type === 'output_text' || part.type === 'input_text')
          sayRest('text', at, part.text)
      })
      return
    case 'reasoning':
      item.summary.forEach(({ text }, at) => sayRest('summary', at, text))
      item.content?.forEach(({ text }, at) => sayRest('content', at, text))
      return
    case 'function_call':
      sayRest('arguments', 0, item.arguments)
      return
    case 'custom_tool_call':
      sayRest('arguments', 0, item.input)
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

/** Copilot names an item anew in every event. It keeps the name that the client has heard. */
function keepStartedId(started: Item, final: Item): Item {
  if (started.id === undefined || started.id === final.id || final.type !== started.type)
    return final
  return { ...final, id: started.id }
}

function createItemFromReceived(item: Item, said: ReceivedText, status: string): Item {
  switch (item.type) {
    case 'message':
      return { ...item, status, content: createParts(said) } satisfies Message
    case 'reasoning':
      return createReasoning(item, said, status)
    case 'function_call':
      return { ...item, status, arguments: said.arguments[0] ?? '' }
    case 'custom_tool_call':
      return { ...item, status, input: said.arguments[0] ?? '' }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { ...item, status }
    case 'opaque':
      return { ...item, raw: { ...item.raw, status } }
  }
}

function createParts({ text, refusal, annotations }: ReceivedText): readonly Part[] {
  const parts: Part[] = []
  for (let at = 0; at < Math.max(text.length, refusal.length); at++) {
    const [words, refused] = [text[at], refusal[at]]
    if (words !== undefined) {
      parts.push({ type: 'output_text', text: words, annotations: annotations[at] ?? [] })
    }
    if (refused !== undefined) parts.push({ type: 'refusal', refusal: refused })
  }
  return parts
}

function createReasoning(
  item: Reasoning,
  { summary, content }: ReceivedText,
  status: string,
): Reasoning {
  const own = {
    ...item,
    status,
    summary: removeGaps(summary).map((text) => ({ type: 'summary_text' as const, text })),
  }
  if (content.length === 0) return own
  return {
    ...own,
    content: removeGaps(content).map((text) => ({ type: 'reasoning_text' as const, text })),
  }
}

function removeGaps(texts: readonly string[]): readonly string[] {
  return texts.filter((text) => text !== undefined)
}
