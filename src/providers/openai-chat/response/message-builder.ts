/**
 * Builds a message from streamed pieces. Emits an event for each piece and the complete item at the
 * end.
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Message, OpaquePart } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'

export interface MessageBuilder {
  readonly addText: (text: string, logprobs: readonly Json[] | undefined) => void
  readonly addRefusal: (text: string) => void
  readonly addAnnotation: (annotation: JsonObject) => void
  /** Adds an image as an opaque part, i.e. without parsing it. */
  readonly addMedia: (raw: JsonObject) => void
  /** Ends the item. `isComplete: false` marks it as incomplete. */
  readonly end: (isComplete: boolean, messageFields: JsonObject | undefined) => void
}

interface OpenTextPart {
  readonly type: 'output_text'
  text: string
  annotations?: JsonObject[]
  logprobs?: Json[]
}

export function createMessageBuilder(
  index: number,
  emit: (event: StreamEvent) => void,
): MessageBuilder {
  const parts: (OpenTextPart | { readonly type: 'refusal'; refusal: string } | OpaquePart)[] = []
  // Annotations that arrived before their text.
  const pendingAnnotations: JsonObject[] = []
  emit({
    type: 'item-started',
    index,
    item: { type: 'message', role: 'assistant', content: [] },
  })

  const findPart = (type: string): number => parts.findIndex((part) => part.type === type)
  const annotate = (part: number, annotation: JsonObject): void => {
    const openPart = parts[part] as OpenTextPart
    openPart.annotations = [...(openPart.annotations ?? []), annotation]
    emit({ type: 'annotation-added', index, part, annotation })
  }
  const builder: MessageBuilder = {
    addText(text, logprobs) {
      let part = findPart('output_text')
      if (part < 0) part = parts.push({ type: 'output_text', text: '' }) - 1
      const openPart = parts[part] as OpenTextPart
      openPart.text += text
      if (logprobs === undefined) emit({ type: 'text-delta', index, part, text })
      else {
        openPart.logprobs ??= []
        openPart.logprobs.push(...logprobs)
        emit({ type: 'text-delta', index, part, text, logprobs })
      }
      if (pendingAnnotations.length === 0) return
      for (const annotation of pendingAnnotations.splice(0)) annotate(part, annotation)
    },
    addRefusal(text) {
      let part = findPart('refusal')
      if (part < 0) part = parts.push({ type: 'refusal', refusal: '' }) - 1
      const openPart = parts[part] as { refusal: string }
      openPart.refusal += text
      emit({ type: 'refusal-delta', index, part, text })
    },
    addAnnotation(annotation) {
      const part = findPart('output_text')
      if (part < 0) pendingAnnotations.push(annotation)
      else annotate(part, annotation)
    },
    addMedia(raw) {
      parts.push({ type: 'opaque', raw })
    },
    end(isComplete, messageFields) {
      if (pendingAnnotations.length > 0) builder.addText('', undefined)
      const item: Message = {
        type: 'message',
        role: 'assistant',
        content: parts,
        ...(isComplete ? {} : { status: 'incomplete' }),
        ...(messageFields === undefined ? {} : { native: { chat: messageFields } }),
      }
      emit({ type: 'item-ended', index, item })
    },
  }
  return builder
}
