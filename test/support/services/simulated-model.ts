/**
 * The model behind every test service. Its answer depends on the request alone, whatever the wire; the
 * user's latest text selects it:
 *
 *     Look at Rome and Oslo, then at Graz.   calls `look` twice at once, and once more after the outputs
 *     Use look({"at":"Rome"}) and other({}), then look({"at":"Graz"}).
 *                                            calls the offered tools of these in the same way
 *     Answer in JSON.                        returns a value of the requested schema
 *     Refuse this.  Go on for ever.          a refusal; an answer that is cut off
 *     anything else                          repeats the text and counts the earlier messages
 */
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'

/** A request, independent of its wire. */
export interface ModelRequest {
  readonly system: string
  /** The user's texts, the latest last. */
  readonly questions: readonly string[]
  /** The tool outputs since the latest question. */
  readonly outputs: readonly string[]
  readonly tools: readonly string[]
  readonly schema: JsonObject | null
  readonly images: number
  /** The trailing assistant text that the model is to continue. */
  readonly prefill: string | null
  readonly mayThink: boolean
}

export type AnswerPart =
  | { readonly type: 'thought' | 'text' | 'refusal'; readonly text: string }
  | { readonly type: 'call'; readonly name: string; readonly input: JsonObject }

export interface ModelAnswer {
  readonly parts: readonly AnswerPart[]
  readonly isCut: boolean
}

/** The same for every answer, so that tests can check it. */
export const USAGE = { input: 100, cached: 40, output: 30, reasoning: 12 } as const

export const REFUSAL = 'I cannot help with that.'

export function answerAsModel(asked: ModelRequest): ModelAnswer {
  const words = asked.questions.at(-1) ?? ''
  const spoken = reply(words, asked)
  return asked.mayThink
    ? spoken
    : { ...spoken, parts: spoken.parts.filter(({ type }) => type !== 'thought') }
}

function reply(words: string, asked: ModelRequest): ModelAnswer {
  const { outputs, prefill, schema, tools } = asked
  if (words.includes('Refuse')) return { parts: [{ type: 'refusal', text: REFUSAL }], isCut: false }
  if (words.includes('Go on for ever')) {
    return { parts: [reasoningPart('That will be long.'), textPart('It goes on and')], isCut: true }
  }
  if (prefill !== null && schema === null) return textAnswer('It needs no thought.', 'and so on.')
  const uses = nextUses(words, outputs.length).filter(({ name }) => tools.includes(name))
  if (uses.length > 0) {
    const hint = outputs.length === 0 ? [textPart('Let me see.')] : []
    return { parts: [reasoningPart('I must use that.'), ...hint, ...uses], isCut: false }
  }
  const places = tools.includes('look') ? nextPlaces(words, outputs.length) : []
  if (places.length > 0) {
    const hint = outputs.length === 0 ? [textPart('Let me look. 🔭')] : []
    return {
      parts: [reasoningPart('I must look.'), ...hint, ...places.map(lookCall)],
      isCut: false,
    }
  }
  if (schema !== null)
    return textAnswer('JSON, then.', JSON.stringify(smallestValue(schema, outputs)))
  if (outputs.length > 0) {
    return textAnswer('The tools have answered.', `The tools said: ${outputs.join(' · ')}`)
  }
  return textAnswer('Somebody talks to me: ¿qué?', describeRequest(words, asked))
}

function describeRequest(words: string, { questions, images, system }: ModelRequest): string {
  const earlier = questions.length - 1
  return [
    `You said “${words}”. Grüezi 🦊!`,
    ...(earlier > 0 ? [`I remember ${earlier} earlier of your messages.`] : []),
    ...(images > 0 ? [`I see ${images} images.`] : []),
    ...(system === '' ? [] : [`I was told: ${system}`]),
  ].join('\n')
}

function textAnswer(thinking: string, words: string): ModelAnswer {
  return { parts: [reasoningPart(thinking), textPart(words)], isCut: false }
}

function reasoningPart(words: string): AnswerPart {
  return { type: 'thought', text: words }
}

function textPart(words: string): AnswerPart {
  return { type: 'text', text: words }
}

function lookCall(at: string): AnswerPart {
  return { type: 'call', name: 'look', input: { at } }
}

/** Returns the next batch of calls in the question, after `done` outputs. */
function nextUses(words: string, done: number): readonly Extract<AnswerPart, { type: 'call' }>[] {
  const list = /Use (\w+\(\{.*\}\))/.exec(words)?.[1]
  if (list === undefined) return []
  let seen = 0
  for (const batch of list.split(', then ')) {
    const calls = [...batch.matchAll(/(\w+)\((\{.*?\})\)/g)].map(
      ([, name = '', input = '']) =>
        ({ type: 'call', name, input: JSON.parse(input) as JsonObject }) as const,
    )
    if (seen === done) return calls
    seen += calls.length
  }
  return []
}

/** Returns the places of the next batch in the question, after `done` outputs. */
function nextPlaces(words: string, done: number): readonly string[] {
  const list = /[Ll]ook at ([^.?!]+)/.exec(words)?.[1]
  if (list === undefined) return []
  let seen = 0
  for (const batch of list.split(/,? then at /)) {
    const places = batch.split(' and ')
    if (seen === done) return places
    seen += places.length
  }
  return []
}

/** Returns the smallest value that fits a schema, with the tool outputs as its text. */
function smallestValue(schema: JsonObject, outputs: readonly string[]): Json {
  const { type, properties, items, enum: words } = schema
  if (Array.isArray(words)) return (words as readonly Json[])[0] ?? null
  const kind = Array.isArray(type) ? (type as readonly Json[])[0] : type
  switch (kind) {
    case 'object':
      return Object.fromEntries(
        Object.entries(isObject(properties) ? properties : {}).map(([name, inner]) => [
          name,
          isObject(inner) ? smallestValue(inner, outputs) : null,
        ]),
      )
    case 'array':
      return isObject(items) ? [smallestValue(items, outputs)] : []
    case 'number':
    case 'integer':
      return 7
    case 'boolean':
      return true
    default:
      return outputs.join(' · ') || 'so'
  }
}
