/** One model of every kind of upstream that `services/` plays, with what is special about it. */
export interface WireModel {
  readonly model: string
  readonly wire: 'responses' | 'chat' | 'anthropic' | 'gemini'
  readonly thinks: boolean
  /** Whether a refusal comes as words of its own, or as an answer that was filtered. */
  readonly refuses: 'in words' | 'filtered, in words' | 'filtered'
  /** What of its reasoning goes back to it in a running turn; `null` for a service that wants none. */
  readonly returned: RegExp | null
}

const FILTERED = 'filtered, in words'
const SEALED = /gAAAA[\w-]{43}==/g
const SIGNED = /Er[\w-]{43}==/g
const DETAILED = /or[\w-]{43}==/g
const ON_CALLS = /Ck[\w-]{43}==/g
const IN_WORDS = /"reasoning_content":"I must look\."/g

export const WIRE_MODELS: readonly WireModel[] = [
  { model: 'gpt-5', wire: 'responses', thinks: true, refuses: 'in words', returned: SEALED },
  { model: 'chat-model', wire: 'chat', thinks: true, refuses: 'in words', returned: null },
  { model: 'vendor/model', wire: 'chat', thinks: true, refuses: 'in words', returned: DETAILED },
  { model: 'deepseek-model', wire: 'chat', thinks: true, refuses: 'in words', returned: IN_WORDS },
  { model: 'strict-model', wire: 'chat', thinks: true, refuses: 'in words', returned: null },
  {
    model: 'claude-sonnet-5',
    wire: 'anthropic',
    thinks: true,
    refuses: FILTERED,
    returned: SIGNED,
  },
  {
    model: 'claude-opus-5-5',
    wire: 'anthropic',
    thinks: true,
    refuses: FILTERED,
    returned: SIGNED,
  },
  {
    model: 'claude-sonnet-4-5',
    wire: 'anthropic',
    thinks: true,
    refuses: FILTERED,
    returned: SIGNED,
  },
  {
    model: 'claude-3-5-haiku',
    wire: 'anthropic',
    thinks: false,
    refuses: FILTERED,
    returned: null,
  },
  {
    model: 'gemini-3.8-flash',
    wire: 'gemini',
    thinks: true,
    refuses: 'filtered',
    returned: ON_CALLS,
  },
  {
    model: 'gemini-2.5-flash',
    wire: 'gemini',
    thinks: true,
    refuses: 'filtered',
    returned: ON_CALLS,
  },
]

/** The tool that the model behind the services likes to call. */
export const LOOK = {
  name: 'look',
  description: 'Looks at a place.',
  parameters: {
    type: 'object',
    properties: { at: { type: 'string', description: 'A city.' } },
    required: ['at'],
    additionalProperties: false,
  },
}

export function degreesAt(args: string): string {
  const { at } = JSON.parse(args) as { at: string }
  return `${at}: ${at.length} degrees`
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
