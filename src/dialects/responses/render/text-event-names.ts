/**
 * The six ways in which an item's text is told in a stream: by which events, under which names. All
 * but the last two stand in parts, which are announced before and closed behind their text.
 */
import type { Item } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { ReasoningVisibility } from './reasoning-visibility.ts'

export type TextChannel = 'text' | 'refusal' | 'summary' | 'content' | 'arguments'

export interface TextEventNames {
  readonly delta: string
  readonly done: string
  /** The field of the done event in which the whole text stands. */
  readonly whole: string
  /** Where parts are: in which list, under which index, announced and closed by which events. */
  readonly parts: PartEventNames | null
  readonly hasLogprobs: boolean
}

export interface PartEventNames {
  readonly list: 'content' | 'summary'
  readonly index: string
  readonly added: string
  readonly done: string
  readonly part: (text: string) => JsonObject
}

const content = {
  list: 'content',
  index: 'content_index',
  added: 'response.content_part.added',
  done: 'response.content_part.done',
} as const

const TEXT: TextEventNames = {
  delta: 'response.output_text.delta',
  done: 'response.output_text.done',
  whole: 'text',
  parts: {
    ...content,
    part: (text) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
  },
  hasLogprobs: true,
}

const REFUSAL: TextEventNames = {
  delta: 'response.refusal.delta',
  done: 'response.refusal.done',
  whole: 'refusal',
  parts: { ...content, part: (refusal) => ({ type: 'refusal', refusal }) },
  hasLogprobs: false,
}

const RAW_REASONING: TextEventNames = {
  delta: 'response.reasoning_text.delta',
  done: 'response.reasoning_text.done',
  whole: 'text',
  parts: { ...content, part: (text) => ({ type: 'reasoning_text', text }) },
  hasLogprobs: false,
}

const SUMMARY: TextEventNames = {
  delta: 'response.reasoning_summary_text.delta',
  done: 'response.reasoning_summary_text.done',
  whole: 'text',
  parts: {
    list: 'summary',
    index: 'summary_index',
    added: 'response.reasoning_summary_part.added',
    done: 'response.reasoning_summary_part.done',
    part: (text) => ({ type: 'summary_text', text }),
  },
  hasLogprobs: false,
}

const ARGUMENTS: TextEventNames = {
  delta: 'response.function_call_arguments.delta',
  done: 'response.function_call_arguments.done',
  whole: 'arguments',
  parts: null,
  hasLogprobs: false,
}

const INPUT: TextEventNames = {
  delta: 'response.custom_tool_call_input.delta',
  done: 'response.custom_tool_call_input.done',
  whole: 'input',
  parts: null,
  hasLogprobs: false,
}

/** `null` where an item of this type says nothing on that channel. */
export function findTextEventNames(
  type: Item['type'],
  channel: TextChannel,
  view: ReasoningVisibility,
): TextEventNames | null {
  switch (channel) {
    case 'text':
      return type === 'message' ? TEXT : null
    case 'refusal':
      return type === 'message' ? REFUSAL : null
    case 'summary':
      return type === 'reasoning' ? SUMMARY : null
    case 'content':
      if (type !== 'reasoning') return null
      return view.rawReasoning ? RAW_REASONING : SUMMARY
    case 'arguments':
      if (type === 'function_call') return ARGUMENTS
      return type === 'custom_tool_call' ? INPUT : null
  }
}
