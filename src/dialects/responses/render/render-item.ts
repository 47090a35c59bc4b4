/**
 * Renders the items of an answer for a client: with an id and a status, and without the gateway's own
 * fields `native` and `origin`.
 */
import type { Item, Part, Reasoning } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'

export type ItemEndStatus = 'completed' | 'incomplete'

export interface RenderedParts {
  readonly content: readonly JsonObject[]
  readonly summary: readonly JsonObject[]
}

/**
 * Renders a finished item. `parts` are the parts that a stream has already written; by default, the
 * parts of the item.
 */
export function renderItem(
  item: Item,
  id: string,
  endStatus: ItemEndStatus,
  visibility: ReasoningVisibility,
  parts: RenderedParts = renderParts(item, visibility),
): JsonObject {
  const { native: _native, origin: _origin, ...fields } = item
  const status = item.status === 'incomplete' ? 'incomplete' : endStatus
  switch (fields.type) {
    case 'message':
      return { ...fields, id, status, content: parts.content }
    case 'reasoning':
      return renderReasoning(fields, id, visibility, parts)
    case 'function_call':
    case 'custom_tool_call':
      return { ...fields, id, status }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { ...fields, id, status, output: renderOutput(fields.output) }
    case 'opaque':
      return fields.raw['id'] === id ? fields.raw : { ...fields.raw, id }
  }
}

/** Renders an item for its start event: without text, reasoning and arguments. */
export function renderStartedItem(item: Item, id: string): JsonObject {
  const { native: _native, origin: _origin, ...fields } = item
  const status = 'in_progress'
  switch (fields.type) {
    case 'message':
      return { ...fields, id, status, content: [] }
    case 'reasoning': {
      const { encrypted_content: _encrypted, content: _content, status: _status, ...rest } = fields
      return { ...rest, id, summary: [] }
    }
    case 'function_call':
      return { ...fields, id, status, arguments: '' }
    case 'custom_tool_call':
      return { ...fields, id, status, input: '' }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
      return renderItem(item, id, 'completed', NO_REASONING)
  }
}

const NO_REASONING: ReasoningVisibility = {
  showsSummary: false,
  showsRawReasoning: false,
  showsEncryptedReasoning: false,
}

export function renderPart(part: Part): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { annotations: [], logprobs: [], ...part, type: 'output_text' }
    case 'opaque':
      return part.raw
    case 'refusal':
    case 'input_image':
    case 'input_file':
    case 'input_audio':
      return { ...part }
  }
}

function renderParts(item: Item, visibility: ReasoningVisibility): RenderedParts {
  if (item.type === 'message') return { content: item.content.map(renderPart), summary: [] }
  if (item.type !== 'reasoning') return { content: [], summary: [] }
  const { content = [] } = item
  const summary = visibility.showsSummary ? item.summary : []
  if (visibility.showsRawReasoning) return { content, summary }
  return {
    content: [],
    summary: [...summary, ...content.map(({ text }) => ({ type: 'summary_text', text }))],
  }
}

/**
 * Renders reasoning. It gets no status, because clients do not expect one, unless the upstream sent
 * a final status.
 */
function renderReasoning(
  reasoning: Omit<Reasoning, 'native' | 'origin'>,
  id: string,
  visibility: ReasoningVisibility,
  { content, summary }: RenderedParts,
): JsonObject {
  const { encrypted_content: encrypted, content: _content, status, ...fields } = reasoning
  return {
    ...fields,
    id,
    ...(status === undefined || status === 'in_progress' ? {} : { status }),
    summary,
    ...(content.length > 0 ? { content } : {}),
    ...(visibility.showsEncryptedReasoning && encrypted !== undefined
      ? { encrypted_content: encrypted }
      : {}),
  }
}

/** Renders an output as a list, because Open WebUI cannot read a string. */
function renderOutput(output: string | readonly Part[]): readonly JsonObject[] {
  if (typeof output === 'string') return [{ type: 'input_text', text: output }]
  return output.map((part) => (part.type === 'opaque' ? part.raw : { ...part }))
}
