/** The models of the test services, with a tool and a schema for their requests. */
import type { Response, ResponseInputItem } from 'openai/resources/responses/responses'

/** One model for each kind of upstream in `services/`, with its special behavior. */
export interface WireModel {
  readonly model: string
  readonly wire: 'responses' | 'chat' | 'anthropic' | 'gemini'
  readonly thinks: boolean
  /** How its refusal arrives: as text, as a filtered answer with text, or as a filtered answer. */
  readonly refusalForm: 'in words' | 'filtered, in words' | 'filtered'
  /** Matches the reasoning that must be sent back within a running turn; null if none must. */
  readonly returnedReasoning: RegExp | null
}

const FILTERED = 'filtered, in words'
const SEALED = /gAAAA[\w-]{43}==/g
const SIGNED = /Er[\w-]{43}==/g
const DETAILED = /or[\w-]{43}==/g
const ON_CALLS = /Ck[\w-]{43}==/g
const IN_WORDS = /"reasoning_content":"I must look\."/g

export const WIRE_MODELS: readonly WireModel[] = [
  {
    model: 'gpt-5',
    wire: 'responses',
    thinks: true,
    refusalForm: 'in words',
    returnedReasoning: SEALED,
  },
  {
    model: 'chat-model',
    wire: 'chat',
    thinks: true,
    refusalForm: 'in words',
    returnedReasoning: null,
  },
  {
    model: 'vendor/model',
    wire: 'chat',
    thinks: true,
    refusalForm: 'in words',
    returnedReasoning: DETAILED,
  },
  {
    model: 'deepseek-model',
    wire: 'chat',
    thinks: true,
    refusalForm: 'in words',
    returnedReasoning: IN_WORDS,
  },
  {
    model: 'strict-model',
    wire: 'chat',
    thinks: true,
    refusalForm: 'in words',
    returnedReasoning: null,
  },
  {
    model: 'claude-sonnet-5',
    wire: 'anthropic',
    thinks: true,
    refusalForm: FILTERED,
    returnedReasoning: SIGNED,
  },
  {
    model: 'claude-opus-5-5',
    wire: 'anthropic',
    thinks: true,
    refusalForm: FILTERED,
    returnedReasoning: SIGNED,
  },
  {
    model: 'claude-sonnet-4-5',
    wire: 'anthropic',
    thinks: true,
    refusalForm: FILTERED,
    returnedReasoning: SIGNED,
  },
  {
    model: 'claude-3-5-haiku',
    wire: 'anthropic',
    thinks: false,
    refusalForm: FILTERED,
    returnedReasoning: null,
  },
  {
    model: 'gemini-3.8-flash',
    wire: 'gemini',
    thinks: true,
    refusalForm: 'filtered',
    returnedReasoning: ON_CALLS,
  },
  {
    model: 'gemini-2.5-flash',
    wire: 'gemini',
    thinks: true,
    refusalForm: 'filtered',
    returnedReasoning: ON_CALLS,
  },
]

/** The tool that the model behind the services calls. */
export const LOOK_TOOL = {
  name: 'look',
  description: 'Looks at a place.',
  parameters: {
    type: 'object',
    properties: { at: { type: 'string', description: 'A city.' } },
    required: ['at'],
    additionalProperties: false,
  },
}

export function runLookTool(args: string): string {
  const { at } = JSON.parse(args) as { at: string }
  return `${at}: ${at.length} degrees`
}

/** Returns the outputs for all function calls of a response; `run` computes one from its arguments. */
export function runToolCalls(
  { output }: Pick<Response, 'output'>,
  run: (args: string) => string = runLookTool,
): ResponseInputItem[] {
  return output.flatMap((item): ResponseInputItem[] => {
    if (item.type !== 'function_call') return []
    const { call_id, arguments: args } = item
    return [{ type: 'function_call_output', call_id, output: run(args) }]
  })
}

export const ANSWER_SCHEMA = {
  type: 'object',
  properties: {
    place: { type: 'string' },
    degrees: { type: 'number', minimum: 1 },
    wind: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    hours: { type: 'array', items: { type: 'integer' } },
  },
  required: ['place', 'degrees', 'wind', 'hours'],
  additionalProperties: false,
}
