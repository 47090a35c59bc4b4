/**
 * Decodes the parts of a Gemini answer into items and emits their events. A text continues until a
 * part of another type arrives; a function call is complete in one part.
 *
 * A signature may come later, in an empty part; it then belongs to the text or the function calls
 * before that part. Before a signed call, a reasoning item with the signature is emitted, for
 * clients that store the conversation themselves (`pack-thought-signature.ts`).
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { Json } from '../../../core/json/json.ts'
import { createToolCallsBuilder, type ToolCallsBuilder } from './tool-calls-builder.ts'
import { hashFnv1a } from '../../short-hash.ts'
import { packSignature } from '../pack-thought-signature.ts'
import { createTextItemBuilder, type TextItemBuilder } from './text-item-builder.ts'
import type { OriginalTool } from '../../response/map-encoded-tool-names.ts'
import type {
  InlineBlob,
  GeminiChunk,
  GeminiPart,
  GroundingMetadata,
  GeminiFunctionCall,
} from '../api-types.ts'

export interface GeminiPartsDecoder {
  /**
   * Emits the start of the answer, with the id and model of the first chunk. Further calls have no
   * effect.
   */
  readonly start: (chunk: GeminiChunk) => void
  /** Adds a part. Returns an error message if the part is invalid, otherwise `null`. */
  readonly addPart: (part: GeminiPart, logprobs: readonly Json[] | null) => string | null
  readonly setGrounding: (grounding: GroundingMetadata) => void
  readonly end: (isComplete: boolean) => void
}

/** Creates the decoder of one answer. `toolNames` maps encoded tool names to the client's tools. */
export function createGeminiPartsDecoder(
  emit: (event: StreamEvent) => void,
  toolNames: ReadonlyMap<string, OriginalTool>,
): GeminiPartsDecoder {
  const texts = createTextItemBuilder(emit)
  const calls = createToolCallsBuilder(emit, toolNames)
  let next = 0
  let model: string | null = null
  let hasStarted = false
  const context: PartHandlerContext = {
    texts,
    calls,
    nextIndex: () => next++,
    getModel: () => model ?? '',
    emitComplete(item) {
      const index = next++
      emit({ type: 'item-started', index, item })
      emit({ type: 'item-ended', index, item })
    },
  }
  return {
    start(chunk) {
      if (hasStarted) return
      hasStarted = true
      const upstreamId = textOrNull(chunk.responseId)
      model = textOrNull(chunk.modelVersion)
      calls.setAnswerId(upstreamId ?? hashFnv1a(JSON.stringify(chunk)).toString(36))
      emit({ type: 'answer-started', upstreamId, model })
    },
    addPart(part, logprobs) {
      const signature = textOrNull(part.thoughtSignature)
      const kind = classifyPart(part, signature)
      if (kind === 'call' && textOrNull(part.functionCall?.name) === null) {
        return 'The upstream called a function without saying which.'
      }
      PART_HANDLERS[kind]({ part, signature, logprobs }, context)
      return null
    },
    setGrounding: texts.setGrounding,
    end(isComplete) {
      texts.end(isComplete)
      calls.end()
    },
  }
}

interface PartHandlerContext {
  readonly texts: TextItemBuilder
  readonly calls: ToolCallsBuilder
  /** Returns the index of the answer's next item. */
  readonly nextIndex: () => number
  readonly getModel: () => string
  /** Emits the start and the end of an item that is complete in one part. */
  readonly emitComplete: (item: Item) => void
}

interface ReceivedPart {
  readonly part: GeminiPart
  readonly signature: string | null
  readonly logprobs: readonly Json[] | null
}

type PartKind = 'text' | 'thought' | 'call' | 'image' | 'other' | 'nothing'

const PART_HANDLERS: Readonly<
  Record<PartKind, (received: ReceivedPart, context: PartHandlerContext) => void>
> = {
  text({ part: { text = '' }, signature, logprobs }, context) {
    const { texts, calls } = context
    if (text === '' && signature === null) return
    if (text === '' && signature !== null && calls.hasOpenCalls()) {
      calls.addLateSignature(signature)
    } else if (text === '' && signature !== null && texts.getOpenKind() === 'reasoning') {
      texts.addTrailingSignature(signature)
    } else {
      openTextItem('message', context)
      texts.append(text, signature, logprobs)
    }
  },
  thought({ part: { text = '' }, signature }, context) {
    if (text === '' && signature === null) return
    openTextItem('reasoning', context)
    context.texts.append(text, signature, null)
  },
  call({ part, signature }, { texts, calls, nextIndex, getModel, emitComplete }) {
    const call = part.functionCall as GeminiFunctionCall
    const isFirstCall = !calls.hasOpenCalls()
    const packed =
      isFirstCall && signature !== null ? packSignature({ model: getModel(), signature }) : null
    const hasOpenThought = texts.getOpenKind() === 'reasoning'
    texts.end(true, packed)
    if (packed !== null && !hasOpenThought) {
      emitComplete({
        type: 'reasoning',
        summary: [],
        encrypted_content: packed,
        native: { gemini: {} },
      })
    }
    calls.add(call, signature, nextIndex())
  },
  image({ part, signature }, { texts, calls, emitComplete }) {
    const { mimeType, data } = part.inlineData as InlineBlob
    texts.end()
    calls.end()
    emitComplete({
      type: 'opaque',
      // OpenAI's clients know generated images as `image_generation_call`.
      raw: {
        type: 'image_generation_call',
        status: 'completed',
        result: data,
        output_format: mimeType.slice('image/'.length),
      },
      native: {
        gemini: { mimeType, ...(signature === null ? {} : { thoughtSignature: signature }) },
      },
    })
  },
  other({ part }, { texts, calls, emitComplete }) {
    texts.end()
    calls.end()
    emitComplete({ type: 'opaque', raw: { type: 'gemini:part', part }, native: { gemini: {} } })
  },
  nothing() {},
}

function openTextItem(
  kind: 'message' | 'reasoning',
  { texts, calls, nextIndex }: PartHandlerContext,
): void {
  if (texts.getOpenKind() === kind) return
  texts.end()
  calls.end()
  texts.start(kind, nextIndex())
}

/**
 * Returns the kind of a part. An unsigned image within a thought is a draft (`nothing`): it is
 * neither shown to the user nor sent back.
 */
function classifyPart(part: GeminiPart, signature: string | null): PartKind {
  if (typeof part.text === 'string') return part.thought === true ? 'thought' : 'text'
  if (part.functionCall) return 'call'
  if (part.thought === true) return signature === null ? 'nothing' : 'thought'
  const blob = part.inlineData
  if (typeof blob?.data === 'string' && typeof blob.mimeType === 'string') {
    return blob.mimeType.startsWith('image/') ? 'image' : 'other'
  }
  for (const field in part) if (field !== 'thoughtSignature') return 'other'
  return 'text'
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
