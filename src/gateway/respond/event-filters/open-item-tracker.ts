/**
 * Tracks the open items of an answer and their text so far. A filter that ends the answer early needs them
 * to end these items too.
 */
import type { ItemEnded, StreamEvent } from '../../../core/stream-event.ts'
import type { Item, Message, Part, Reasoning } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'

export function trackOpenItems() {
  const open = new Map<number, PartialItem>()
  return {
    readEvent(event: StreamEvent): void {
      if (event.type === 'item-started') open.set(event.index, createPartialItem(event.item))
      else if (event.type === 'item-ended') open.delete(event.index)
      else if ('index' in event) addToPartialItem(event, open.get(event.index))
    },
    /**
     * Returns the end events of the open items. The item at `completeIndex` is completed. Others are
     * incomplete, except function calls whose arguments are valid JSON.
     */
    endOpenItems: (completeIndex: number): readonly ItemEnded[] =>
      [...open]
        .toSorted(([one], [other]) => one - other)
        .map(([index, partial]) => ({
          type: 'item-ended',
          index,
          item: buildItem(partial, index === completeIndex),
        })),
  }
}

/**
 * An open item. Each array has one entry per content part. A call has only `texts[0]`: its arguments or
 * input.
 */
interface PartialItem {
  readonly item: Item
  readonly texts: string[]
  readonly refusals: string[]
  readonly summary: string[]
  readonly annotations: JsonObject[][]
  readonly logprobs: Json[][]
}

function createPartialItem(item: Item): PartialItem {
  return { item, texts: [], refusals: [], summary: [], annotations: [], logprobs: [] }
}

type ItemEvent = Extract<StreamEvent, { readonly index: number }>

function addToPartialItem(event: ItemEvent, partial: PartialItem | undefined): void {
  if (partial === undefined) return
  const { texts, refusals, summary, annotations, logprobs } = partial
  switch (event.type) {
    case 'text-delta':
      appendText(texts, event.part, event.text)
      if (event.logprobs !== undefined) (logprobs[event.part] ??= []).push(...event.logprobs)
      return
    case 'refusal-delta':
      return appendText(refusals, event.part, event.text)
    case 'reasoning-delta':
      return appendText(event.channel === 'summary' ? summary : texts, event.part, event.text)
    case 'arguments-delta':
      return appendText(texts, 0, event.text)
    case 'annotation-added':
      ;(annotations[event.part] ??= []).push(event.annotation)
      return
    case 'item-started':
    case 'item-ended':
    case 'item-amended':
  }
}

function appendText(texts: string[], part: number, text: string): void {
  texts[part] = (texts[part] ?? '') + text
}

function buildItem(partial: PartialItem, isComplete: boolean): Item {
  const { item, texts } = partial
  switch (item.type) {
    case 'message':
      return { ...item, content: buildContent(partial), ...buildStatus(item, isComplete) }
    case 'reasoning':
      return { ...item, ...buildReasoning(partial), ...buildStatus(item, isComplete) }
    case 'function_call': {
      const text = texts[0] ?? ''
      return { ...item, arguments: text, ...buildStatus(item, isComplete || isJson(text)) }
    }
    case 'custom_tool_call':
      return { ...item, input: texts[0] ?? '', ...buildStatus(item, isComplete) }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
      return item
  }
}

function buildContent(partial: PartialItem): Message['content'] {
  const { texts, refusals } = partial
  const length = Math.max(texts.length, refusals.length)
  return Array.from({ length }, (_, index): Part => {
    const refusal = refusals[index]
    if (refusal !== undefined) return { type: 'refusal', refusal }
    const [annotations, logprobs] = [partial.annotations[index], partial.logprobs[index]]
    return {
      type: 'output_text',
      text: texts[index] ?? '',
      ...(annotations === undefined ? {} : { annotations }),
      ...(logprobs === undefined ? {} : { logprobs }),
    }
  })
}

function buildReasoning({ summary, texts }: PartialItem): Pick<Reasoning, 'summary' | 'content'> {
  return {
    summary: fillGaps(summary).map((text) => ({ type: 'summary_text', text })),
    ...(texts.length === 0
      ? {}
      : { content: fillGaps(texts).map((text) => ({ type: 'reasoning_text', text })) }),
  }
}

/**
 * Replaces gaps in the array by empty texts. There is a gap for a part without deltas if a later part has
 * deltas.
 */
function fillGaps(texts: readonly (string | undefined)[]): readonly string[] {
  return Array.from(texts, (text) => text ?? '')
}

/**
 * Returns the status field of an ended item. Without a status in the original item, only incomplete items
 * get one.
 */
function buildStatus({ status }: Item, isComplete: boolean): { readonly status?: string } {
  if (!isComplete) return { status: 'incomplete' }
  return status === undefined ? {} : { status: 'completed' }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
