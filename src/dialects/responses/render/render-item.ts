/**
 * A finished item as this client sees it: complete, with an id and a status, without what is the
 * gateway's own. `lists` are its parts where a stream has told them already.
 */
import type { Item, Part, Reasoning } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'

export type ItemEndStatus = 'completed' | 'incomplete'

export interface RenderedParts {
  readonly content: readonly JsonObject[]
  readonly summary: readonly JsonObject[]
}

export function renderItem(
  item: Item,
  id: string,
  ending: ItemEndStatus,
  view: ReasoningVisibility,
  lists: RenderedParts = listsOf(item, view),
): JsonObject {
  const { native: _native, origin: _origin, ...own } = item
  const status = item.status === 'incomplete' ? 'incomplete' : ending
  switch (own.type) {
    case 'message':
      return { ...own, id, status, content: lists.content }
    case 'reasoning':
      return shownReasoning(own, id, view, lists)
    case 'function_call':
    case 'custom_tool_call':
      return { ...own, id, status }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { ...own, id, status, output: shownOutput(own.output) }
    case 'opaque':
      return own.raw['id'] === id ? own.raw : { ...own.raw, id }
  }
}

/** An item of which nothing was told yet. */
export function renderStartedItem(item: Item, id: string): JsonObject {
  const { native: _native, origin: _origin, ...own } = item
  const status = 'in_progress'
  switch (own.type) {
    case 'message':
      return { ...own, id, status, content: [] }
    case 'reasoning': {
      const { encrypted_content: _sealed, content: _content, status: _status, ...rest } = own
      return { ...rest, id, summary: [] }
    }
    case 'function_call':
      return { ...own, id, status, arguments: '' }
    case 'custom_tool_call':
      return { ...own, id, status, input: '' }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
      return renderItem(item, id, 'completed', NOTHING_SHOWN)
  }
}

const NOTHING_SHOWN: ReasoningVisibility = { rawReasoning: false, sealedReasoning: false }

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

function listsOf(item: Item, view: ReasoningVisibility): RenderedParts {
  if (item.type === 'message') return { content: item.content.map(renderPart), summary: [] }
  if (item.type !== 'reasoning') return { content: [], summary: [] }
  const { summary, content = [] } = item
  if (view.rawReasoning) return { content, summary }
  return {
    content: [],
    summary: [...summary, ...content.map(({ text }) => ({ type: 'summary_text', text }))],
  }
}

type Ours = 'native' | 'origin'

/** Clients expect no status here; one that says something is passed on all the same. */
function shownReasoning(
  { encrypted_content: sealed, content: _content, status, ...own }: Omit<Reasoning, Ours>,
  id: string,
  view: ReasoningVisibility,
  { content, summary }: RenderedParts,
): JsonObject {
  return {
    ...own,
    id,
    ...(status === undefined || status === 'in_progress' ? {} : { status }),
    summary,
    ...(content.length > 0 ? { content } : {}),
    ...(view.sealedReasoning && sealed !== undefined ? { encrypted_content: sealed } : {}),
  }
}

/** Always a list: Open WebUI cannot read a string here, then or ever after. */
function shownOutput(output: string | readonly Part[]): readonly JsonObject[] {
  if (typeof output === 'string') return [{ type: 'input_text', text: output }]
  return output.map((part) => (part.type === 'opaque' ? part.raw : { ...part }))
}
