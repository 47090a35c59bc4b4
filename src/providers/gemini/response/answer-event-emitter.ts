/**
 * The items that an answer consists of, put together from its parts. Gemini streams a flat list of
 * parts: text goes on until another kind of part comes, a function call comes whole.
 *
 * A signature may come late, on an empty part: behind text it is the text's, behind calls it is
 * the calls'. A signed call is preceded by a reasoning item that carries its signature to clients
 * which keep the conversation themselves (`providers/gemini/pack-thought-signature.ts`).
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { Json } from '../../../core/json/json.ts'
import { createToolCallsBuilder, type ToolCallsBuilder } from './tool-calls-builder.ts'
import { hashText } from '../fnv-hash.ts'
import { packSignature } from '../pack-thought-signature.ts'
import { createTextItemBuilder, type TextItemBuilder } from './text-item-builder.ts'
import type { OriginalTool } from '../tool-names.ts'
import type {
  InlineBlob,
  GeminiChunk,
  GeminiPart,
  GroundingMetadata,
  GeminiFunctionCall,
} from '../api-types.ts'

export interface AnswerEventEmitter {
  /** Names the answer after its first chunk; heeded once. */
  readonly start: (chunk: GeminiChunk) => void
  /** Returns what is wrong with the part, `null` if nothing is. */
  readonly take: (part: GeminiPart, logprobs: readonly Json[] | null) => string | null
  readonly ground: (grounding: GroundingMetadata) => void
  /** Ends what is open. */
  readonly close: (isIncomplete: boolean) => void
}

/** `names` says what the names of functions stand for, where that is something else. */
export function createAnswerEventEmitter(
  tell: (event: StreamEvent) => void,
  names: ReadonlyMap<string, OriginalTool>,
): AnswerEventEmitter {
  const texts = createTextItemBuilder(tell)
  const calls = createToolCallsBuilder(tell, names)
  let next = 0
  let model: string | null = null
  let started = false
  const building: Building = {
    texts,
    calls,
    next: () => next++,
    model: () => model ?? '',
    whole(item) {
      const index = next++
      tell({ type: 'item-started', index, item })
      tell({ type: 'item-ended', index, item })
    },
  }
  return {
    start(chunk) {
      if (started) return
      started = true
      const upstreamId = textOr(chunk.responseId, null)
      model = textOr(chunk.modelVersion, null)
      calls.name(upstreamId ?? hashText(JSON.stringify(chunk)))
      tell({ type: 'answer-started', upstreamId, model })
    },
    take(part, logprobs) {
      const signature = textOr(part.thoughtSignature, null)
      return on[kindOf(part, signature)]({ part, signature, logprobs }, building)
    },
    ground: texts.ground,
    close(isIncomplete) {
      texts.end({ isIncomplete })
      calls.end()
    },
  }
}

interface Building {
  readonly texts: TextItemBuilder
  readonly calls: ToolCallsBuilder
  /** The index of the next item. */
  readonly next: () => number
  readonly model: () => string
  /** Tells an item that is finished as soon as it is there. */
  readonly whole: (item: Item) => void
}

interface Taken {
  readonly part: GeminiPart
  readonly signature: string | null
  readonly logprobs: readonly Json[] | null
}

type Kind = 'text' | 'thought' | 'call' | 'image' | 'other' | 'nothing'

const on: Readonly<Record<Kind, (taken: Taken, building: Building) => string | null>> = {
  text({ part: { text = '' }, signature, logprobs }, { texts, calls, next }) {
    if (text === '' && signature === null) return null
    if (text === '' && signature !== null && calls.areOpen()) {
      calls.sign(signature)
    } else if (text === '' && signature !== null && texts.openKind() === 'reasoning') {
      texts.signBehind(signature)
    } else {
      open('message', texts, calls, next)
      texts.append(text, signature, logprobs)
    }
    return null
  },
  thought({ part: { text = '' }, signature }, { texts, calls, next }) {
    if (text === '' && signature === null) return null
    open('reasoning', texts, calls, next)
    texts.append(text, signature, null)
    return null
  },
  call({ part, signature }, { texts, calls, next, model, whole }) {
    const call = part.functionCall as GeminiFunctionCall
    if (textOr(call.name, null) === null) {
      return 'The upstream called a function without saying which.'
    }
    const begins = !calls.areOpen()
    const sealed =
      begins && signature !== null ? packSignature({ model: model(), signature }) : null
    const isThought = texts.openKind() === 'reasoning'
    texts.end(sealed === null ? {} : { sealed })
    if (sealed !== null && !isThought) {
      whole({ type: 'reasoning', summary: [], encrypted_content: sealed, native: { gemini: {} } })
    }
    calls.add(call, signature, next())
    return null
  },
  image({ part, signature }, { texts, calls, whole }) {
    const { mimeType, data } = part.inlineData as InlineBlob
    texts.end({})
    calls.end()
    whole({
      type: 'opaque',
      // What OpenAI's clients know an image by.
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
    return null
  },
  other({ part }, { texts, calls, whole }) {
    texts.end({})
    calls.end()
    whole({ type: 'opaque', raw: { type: 'gemini:part', part }, native: { gemini: {} } })
    return null
  },
  nothing: () => null,
}

function open(
  kind: 'message' | 'reasoning',
  texts: TextItemBuilder,
  calls: ToolCallsBuilder,
  next: () => number,
): void {
  if (texts.openKind() === kind) return
  texts.end({})
  calls.end()
  texts.begin(kind, next())
}

/** Unsigned images of a thought are sketches: neither shown nor sent back. */
function kindOf(part: GeminiPart, signature: string | null): Kind {
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

function textOr<Other>(value: unknown, other: Other): string | Other {
  return typeof value === 'string' && value !== '' ? value : other
}
