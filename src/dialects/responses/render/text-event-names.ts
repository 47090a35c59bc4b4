/**
 * Defines the event names for each kind of text in a stream: output text, refusal, raw reasoning,
 * reasoning summary, arguments, custom input. The first four are parts of an item, which also need
 * events for their start and end.
 */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'

export type TextChannel = 'text' | 'refusal' | 'summary' | 'content' | 'arguments'

export interface TextEventNames {
  readonly deltaEvent: string
  readonly doneEvent: string
  /** Name of the field that contains the complete text in `doneEvent`, e.g. `text`. */
  readonly textField: string
  /**
   * The events of the part that contains the text; `null` for arguments and custom input, which are
   * no parts.
   */
  readonly partEvents: PartEventNames | null
  readonly hasLogprobs: boolean
}

export interface PartEventNames {
  readonly listField: 'content' | 'summary'
  /** Name of the field with the index of the part, e.g. `content_index`. */
  readonly indexField: string
  readonly addedEvent: string
  readonly doneEvent: string
  readonly createPart: (text: string) => JsonObject
}

const CONTENT_PART = {
  listField: 'content',
  indexField: 'content_index',
  addedEvent: 'response.content_part.added',
  doneEvent: 'response.content_part.done',
} as const

const TEXT: TextEventNames = {
  deltaEvent: 'response.output_text.delta',
  doneEvent: 'response.output_text.done',
  textField: 'text',
  partEvents: {
    ...CONTENT_PART,
    createPart: (text) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
  },
  hasLogprobs: true,
}

const REFUSAL: TextEventNames = {
  deltaEvent: 'response.refusal.delta',
  doneEvent: 'response.refusal.done',
  textField: 'refusal',
  partEvents: { ...CONTENT_PART, createPart: (refusal) => ({ type: 'refusal', refusal }) },
  hasLogprobs: false,
}

const RAW_REASONING: TextEventNames = {
  deltaEvent: 'response.reasoning_text.delta',
  doneEvent: 'response.reasoning_text.done',
  textField: 'text',
  partEvents: { ...CONTENT_PART, createPart: (text) => ({ type: 'reasoning_text', text }) },
  hasLogprobs: false,
}

const SUMMARY: TextEventNames = {
  deltaEvent: 'response.reasoning_summary_text.delta',
  doneEvent: 'response.reasoning_summary_text.done',
  textField: 'text',
  partEvents: {
    listField: 'summary',
    indexField: 'summary_index',
    addedEvent: 'response.reasoning_summary_part.added',
    doneEvent: 'response.reasoning_summary_part.done',
    createPart: (text) => ({ type: 'summary_text', text }),
  },
  hasLogprobs: false,
}

const ARGUMENTS: TextEventNames = {
  deltaEvent: 'response.function_call_arguments.delta',
  doneEvent: 'response.function_call_arguments.done',
  textField: 'arguments',
  partEvents: null,
  hasLogprobs: false,
}

const INPUT: TextEventNames = {
  deltaEvent: 'response.custom_tool_call_input.delta',
  doneEvent: 'response.custom_tool_call_input.done',
  textField: 'input',
  partEvents: null,
  hasLogprobs: false,
}

/**
 * Returns the event names for a text of this channel in an item of this type; `null` if items of this
 * type have no such text, e.g. no refusal in reasoning, or it is not shown. Raw reasoning that is not shown as such gets
 * the names of a summary.
 */
export function findTextEventNames(
  type: Item['type'],
  channel: TextChannel,
  visibility: ReasoningVisibility,
): TextEventNames | null {
  switch (channel) {
    case 'text':
      return type === 'message' ? TEXT : null
    case 'refusal':
      return type === 'message' ? REFUSAL : null
    case 'summary':
      return type === 'reasoning' && visibility.showsSummary ? SUMMARY : null
    case 'content':
      if (type !== 'reasoning') return null
      return visibility.showsRawReasoning ? RAW_REASONING : SUMMARY
    case 'arguments':
      if (type === 'function_call') return ARGUMENTS
      return type === 'custom_tool_call' ? INPUT : null
  }
}
