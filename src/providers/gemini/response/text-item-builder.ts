/**
 * The messages and thought summaries of an answer. One of them is open at a time, and goes on
 * until something else comes. Where signatures lie in the text is kept (`providers/gemini/text-signatures.ts`).
 */
import type { StreamEvent } from '../../../core/stream-event.ts'
import type { Item } from '../../../core/item.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import { convertCitations } from './citations.ts'
import { serializeSignatures, type SignedSpan } from '../text-signatures.ts'
import type { GroundingMetadata } from '../api-types.ts'

export interface TextItemBuilder {
  readonly openKind: () => Kind | null
  readonly begin: (kind: Kind, index: number) => void
  /** Adds to what is open. */
  readonly append: (
    text: string,
    signature: string | null,
    logprobs: readonly Json[] | null,
  ) => void
  /** Takes a signature that came on an empty part behind a thought. */
  readonly signBehind: (signature: string) => void
  /** May come several times; the last is the whole of it. */
  readonly ground: (grounding: GroundingMetadata) => void
  /** `sealed` goes into a thought (`providers/gemini/pack-thought-signature.ts`). */
  readonly end: (how: { readonly sealed?: string; readonly isIncomplete?: boolean }) => void
}

type Kind = 'message' | 'reasoning'

interface Open {
  readonly kind: Kind
  readonly index: number
  text: string
  readonly after: string[]
  readonly runs: SignedSpan[]
  grounding: GroundingMetadata | null
  readonly logprobs: Json[]
}

export function createTextItemBuilder(tell: (event: StreamEvent) => void): TextItemBuilder {
  let open: Open | null = null
  return {
    openKind: () => open?.kind ?? null,
    begin(kind, index) {
      open = { kind, index, text: '', after: [], runs: [], grounding: null, logprobs: [] }
      tell({ type: 'item-started', index, item: STARTED[kind] })
    },
    append(text, signature, logprobs) {
      if (open === null) return
      const start = open.text.length
      open.text += text
      if (signature !== null) {
        open.runs.push({ start, end: open.text.length, thoughtSignature: signature })
      }
      if (text !== '') tell(deltaOf(open, text, logprobs))
    },
    signBehind(signature) {
      if (open !== null) open.after.push(signature)
    },
    ground(grounding) {
      if (open !== null) open.grounding = grounding
    },
    end({
      sealed = null,
      isIncomplete = false,
    }: {
      sealed?: string | null
      isIncomplete?: boolean
    }) {
      if (open === null) return
      const { kind, index, grounding, text } = open
      const annotations =
        kind === 'message' && grounding !== null ? convertCitations(grounding, text) : []
      for (const annotation of annotations) {
        tell({ type: 'annotation-added', index, part: 0, annotation })
      }
      const item =
        kind === 'message' ? messageOf(open, annotations, isIncomplete) : thoughtOf(open, sealed)
      tell({ type: 'item-ended', index, item })
      open = null
    },
  }
}

const STARTED = {
  message: { type: 'message', role: 'assistant', content: [] },
  reasoning: { type: 'reasoning', summary: [] },
} as const satisfies Record<Kind, Item>

function deltaOf(open: Open, text: string, logprobs: readonly Json[] | null): StreamEvent {
  const { kind, index } = open
  if (kind === 'reasoning') {
    return { type: 'reasoning-delta', index, channel: 'summary', part: 0, text }
  }
  if (logprobs === null) return { type: 'text-delta', index, part: 0, text }
  open.logprobs.push(...logprobs)
  return { type: 'text-delta', index, part: 0, text, logprobs }
}

function messageOf(open: Open, annotations: readonly JsonObject[], isIncomplete: boolean): Item {
  const { text, runs, logprobs } = open
  const kept = serializeSignatures({ runs, chars: text.length, after: [] })
  const part = {
    type: 'output_text',
    text,
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(logprobs.length === 0 ? {} : { logprobs }),
  } as const
  return {
    ...STARTED.message,
    content: text === '' ? [] : [part],
    ...(isIncomplete ? { status: 'incomplete' } : {}),
    ...(kept === null ? {} : { native: { gemini: kept } }),
  }
}

function thoughtOf({ text, runs, after }: Open, sealed: string | null): Item {
  return {
    type: 'reasoning',
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    ...(sealed === null ? {} : { encrypted_content: sealed }),
    // Present even when nothing is signed: it says whose thought this is.
    native: { gemini: serializeSignatures({ runs, chars: text.length, after }) ?? {} },
  }
}
