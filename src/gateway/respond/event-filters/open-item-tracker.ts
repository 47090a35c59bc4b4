/**
 * Remembers what was told of the items of an answer, so that whoever ends it early can end what is
 * open as well: an item then holds what its deltas have said, and nothing more.
 */
import type { ItemEnded, StreamEvent } from '../../../core/stream-event.ts'
import type { Item, Message, Part, Reasoning } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'

export interface OpenItemTracker {
  readonly readEvent: (event: StreamEvent) => void
  /** Ends what is open. The item at `whole` is as it should be; the others broke off. */
  readonly close: (whole: number) => readonly ItemEnded[]
}

export function trackOpenItems(): OpenItemTracker {
  const open = new Map<number, Draft>()
  return {
    readEvent(event) {
      if (event.type === 'item-started') open.set(event.index, newDraft(event.item))
      else if (event.type === 'item-ended') open.delete(event.index)
      else if ('index' in event) note(event, open.get(event.index))
    },
    close: (whole) =>
      [...open]
        .toSorted(([one], [other]) => one - other)
        .map(([index, draft]) => ({
          type: 'item-ended',
          index,
          item: itemOf(draft, index === whole),
        })),
  }
}

/** What was said, by its place. A call says everything at place 0 of `texts`. */
interface Draft {
  readonly item: Item
  readonly texts: string[]
  readonly refusals: string[]
  readonly summary: string[]
  readonly annotations: JsonObject[][]
  readonly logprobs: Json[][]
}

function newDraft(item: Item): Draft {
  return { item, texts: [], refusals: [], summary: [], annotations: [], logprobs: [] }
}

type Told = Extract<StreamEvent, { readonly index: number }>

function note(event: Told, draft: Draft | undefined): void {
  if (draft === undefined) return
  switch (event.type) {
    case 'text-delta':
      add(draft.texts, event.part, event.text)
      if (event.logprobs !== undefined) (draft.logprobs[event.part] ??= []).push(...event.logprobs)
      return
    case 'refusal-delta':
      return add(draft.refusals, event.part, event.text)
    case 'reasoning-delta':
      return add(event.channel === 'summary' ? draft.summary : draft.texts, event.part, event.text)
    case 'arguments-delta':
      return add(draft.texts, 0, event.text)
    case 'annotation-added':
      ;(draft.annotations[event.part] ??= []).push(event.annotation)
      return
    case 'item-started':
    case 'item-ended':
  }
}

function add(texts: string[], part: number, text: string): void {
  texts[part] = (texts[part] ?? '') + text
}

function itemOf(draft: Draft, isWhole: boolean): Item {
  const { item, texts } = draft
  switch (item.type) {
    case 'message':
      return { ...item, content: partsOf(draft), ...statusOf(item, isWhole) }
    case 'reasoning':
      return { ...item, ...thoughtOf(draft), ...statusOf(item, isWhole) }
    case 'function_call': {
      const text = texts[0] ?? ''
      return { ...item, arguments: text, ...statusOf(item, isWhole || isJson(text)) }
    }
    case 'custom_tool_call':
      return { ...item, input: texts[0] ?? '', ...statusOf(item, isWhole) }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
      return item
  }
}

function partsOf({ texts, refusals, annotations, logprobs }: Draft): Message['content'] {
  const length = Math.max(texts.length, refusals.length)
  return Array.from({ length }, (_, at): Part => {
    const refusal = refusals[at]
    if (refusal !== undefined) return { type: 'refusal', refusal }
    const [added, tokens] = [annotations[at], logprobs[at]]
    return {
      type: 'output_text',
      text: texts[at] ?? '',
      ...(added === undefined ? {} : { annotations: added }),
      ...(tokens === undefined ? {} : { logprobs: tokens }),
    }
  })
}

function thoughtOf({ summary, texts }: Draft): Pick<Reasoning, 'summary' | 'content'> {
  return {
    summary: whole(summary).map((text) => ({ type: 'summary_text', text })),
    ...(texts.length === 0
      ? {}
      : { content: whole(texts).map((text) => ({ type: 'reasoning_text', text })) }),
  }
}

/** Nothing need have been said at a place in front of another. */
function whole(texts: readonly (string | undefined)[]): readonly string[] {
  return Array.from(texts, (text) => text ?? '')
}

/** Wires that have no status for an item that is whole are not given one. */
function statusOf({ status }: Item, isWhole: boolean): { readonly status?: string } {
  if (!isWhole) return { status: 'incomplete' }
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
