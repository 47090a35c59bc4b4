/**
 * Builds the messages and thought summaries of an answer. At most one of them is open, until a part
 * of another type arrives. Each item records which spans of its text are signed
 * (`text-signatures.ts`).
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { convertCitations } from './convert-citations.ts'
import { serializeSignatures, type SignedSpan } from '../text-signatures.ts'
import type { GroundingMetadata } from '../api-types.ts'

export interface TextItemBuilder {
  readonly getOpenKind: () => TextItemKind | null
  readonly start: (kind: TextItemKind, index: number) => void
  /** Appends text to the open item. */
  readonly append: (
    text: string,
    signature: string | null,
    logprobs: readonly Json[] | null,
  ) => void
  /** Stores a signature from an empty part after a thought. */
  readonly addTrailingSignature: (signature: string) => void
  /** Stores the sources of the open message. If Gemini sends them again, the later ones apply. */
  readonly setGrounding: (grounding: GroundingMetadata) => void
  /** Ends the open item. If it is a thought, `encryptedContent` becomes its `encrypted_content`. */
  readonly end: (isComplete?: boolean, encryptedContent?: string | null) => void
}

type TextItemKind = 'message' | 'reasoning'

interface OpenTextItem {
  readonly kind: TextItemKind
  readonly index: number
  text: string
  readonly after: string[]
  readonly spans: SignedSpan[]
  grounding: GroundingMetadata | null
  readonly logprobs: Json[]
}

export function createTextItemBuilder(emit: (event: StreamEvent) => void): TextItemBuilder {
  let open: OpenTextItem | null = null
  return {
    getOpenKind: () => open?.kind ?? null,
    start(kind, index) {
      open = { kind, index, text: '', after: [], spans: [], grounding: null, logprobs: [] }
      emit({ type: 'item-started', index, item: EMPTY_ITEMS[kind] })
    },
    append(text, signature, logprobs) {
      if (open === null) return
      const start = open.text.length
      open.text += text
      if (signature !== null) {
        open.spans.push({ start, end: open.text.length, thoughtSignature: signature })
      }
      if (text !== '') emit(createDelta(open, text, logprobs))
    },
    addTrailingSignature(signature) {
      if (open !== null) open.after.push(signature)
    },
    setGrounding(grounding) {
      if (open !== null) open.grounding = grounding
    },
    end(isComplete = true, encryptedContent = null) {
      if (open === null) return
      const { kind, index, grounding, text } = open
      const annotations =
        kind === 'message' && grounding !== null ? convertCitations(grounding, text) : []
      for (const annotation of annotations) {
        emit({ type: 'annotation-added', index, part: 0, annotation })
      }
      const item =
        kind === 'message'
          ? createMessage(open, annotations, isComplete)
          : createThought(open, encryptedContent)
      emit({ type: 'item-ended', index, item })
      open = null
    },
  }
}

const EMPTY_ITEMS = {
  message: { type: 'message', role: 'assistant', content: [] },
  reasoning: { type: 'reasoning', summary: [] },
} as const satisfies Record<TextItemKind, Item>

function createDelta(
  open: OpenTextItem,
  text: string,
  logprobs: readonly Json[] | null,
): StreamEvent {
  const { kind, index } = open
  if (kind === 'reasoning') {
    return { type: 'reasoning-delta', index, channel: 'summary', part: 0, text }
  }
  if (logprobs === null) return { type: 'text-delta', index, part: 0, text }
  open.logprobs.push(...logprobs)
  return { type: 'text-delta', index, part: 0, text, logprobs }
}

function createMessage(
  open: OpenTextItem,
  annotations: readonly JsonObject[],
  isComplete: boolean,
): Item {
  const { text, spans, logprobs } = open
  const signatures = serializeSignatures({ spans, textLength: text.length, trailing: [] })
  const part = {
    type: 'output_text',
    text,
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(logprobs.length === 0 ? {} : { logprobs }),
  } as const
  return {
    ...EMPTY_ITEMS.message,
    content: text === '' ? [] : [part],
    ...(isComplete ? {} : { status: 'incomplete' }),
    ...(signatures === null ? {} : { native: { gemini: signatures } }),
  }
}

function createThought(
  { text, spans, after }: OpenTextItem,
  encryptedContent: string | null,
): Item {
  return {
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(encryptedContent === null ? {} : { encrypted_content: encryptedContent }),
    // `native.gemini` marks the thought as Gemini's, even if nothing is signed.
    native: {
      gemini: serializeSignatures({ spans, textLength: text.length, trailing: after }) ?? {},
    },
  }
}
