/** A message while it is being written: its parts grow, and its item is made when it ends. */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Message, OpaquePart } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'

type Emit = (event: StreamEvent) => void

export interface MessageBuilder {
  readonly addText: (text: string, logprobs: readonly Json[] | undefined) => void
  readonly addRefusal: (text: string) => void
  readonly addAnnotation: (annotation: JsonObject) => void
  /** An image in the answer: carried, not understood. */
  readonly addMedia: (raw: JsonObject) => void
  /** What broke off is marked as incomplete. */
  readonly end: (isWhole: boolean, native: JsonObject | undefined) => void
}

interface OpenTextPart {
  readonly type: 'output_text'
  text: string
  annotations?: JsonObject[]
  logprobs?: Json[]
}

export function createMessageBuilder(index: number, emit: Emit): MessageBuilder {
  const parts: (OpenTextPart | { readonly type: 'refusal'; refusal: string } | OpaquePart)[] = []
  // Annotations can come in front of the text that they are about.
  const waiting: JsonObject[] = []
  emit({
    type: 'item-started',
    index,
    item: { type: 'message', role: 'assistant', content: [] },
  })

  const place = (type: string): number => parts.findIndex((part) => part.type === type)
  const annotate = (part: number, annotation: JsonObject): void => {
    const text = parts[part] as OpenTextPart
    text.annotations = [...(text.annotations ?? []), annotation]
    emit({ type: 'annotation-added', index, part, annotation })
  }
  const self: MessageBuilder = {
    addText(text, logprobs) {
      let part = place('output_text')
      if (part < 0) part = parts.push({ type: 'output_text', text: '' }) - 1
      const open = parts[part] as OpenTextPart
      open.text += text
      if (logprobs === undefined) emit({ type: 'text-delta', index, part, text })
      else {
        open.logprobs ??= []
        open.logprobs.push(...logprobs)
        emit({ type: 'text-delta', index, part, text, logprobs })
      }
      if (waiting.length > 0) for (const one of waiting.splice(0)) annotate(part, one)
    },
    addRefusal(text) {
      let part = place('refusal')
      if (part < 0) part = parts.push({ type: 'refusal', refusal: '' }) - 1
      const open = parts[part] as { refusal: string }
      open.refusal += text
      emit({ type: 'refusal-delta', index, part, text })
    },
    addAnnotation(annotation) {
      const part = place('output_text')
      if (part < 0) waiting.push(annotation)
      else annotate(part, annotation)
    },
    addMedia(raw) {
      parts.push({ type: 'opaque', raw })
    },
    end(isWhole, native) {
      if (waiting.length > 0) self.addText('', undefined)
      const item: Message = {
        type: 'message',
        role: 'assistant',
        content: parts,
        ...(isWhole ? {} : { status: 'incomplete' }),
        ...(native === undefined ? {} : { native: { chat: native } }),
      }
      emit({ type: 'item-ended', index, item })
    },
  }
  return self
}
