/**
 * The model behind every test service: what it says depends on what it is asked and on nothing else,
 * whatever the wire. The newest words of the user direct it:
 *
 *     Look at Rome and Oslo, then at Graz.   calls `look`, twice at once and then once more
 *     Use look({"at":"Rome"}) and other({}), then look({"at":"Graz"}).
 *                                            calls what it is offered of these, in the same way
 *     Answer in JSON.                        what the schema asks for, if there is one
 *     Refuse this.  Go on for ever.          a refusal, an answer that is cut off
 *     anything else                          it says what it heard, and how much it remembers
 */
import { isObject, type Json, type JsonObject } from '../../../src/core/json/json.ts'

/** A request without its wire. */
export interface Asked {
  readonly system: string
  /** The user's texts, the newest last. */
  readonly questions: readonly string[]
  /** What tools have answered since the newest of them. */
  readonly outputs: readonly string[]
  readonly tools: readonly string[]
  readonly schema: JsonObject | null
  readonly images: number
  /** The model's own last words, if it is to go on with them. */
  readonly prefill: string | null
  readonly mayThink: boolean
}

export type Beat =
  | { readonly type: 'thought' | 'text' | 'refusal'; readonly text: string }
  | { readonly type: 'call'; readonly name: string; readonly input: JsonObject }

export interface Spoken {
  readonly beats: readonly Beat[]
  readonly isCut: boolean
}

/** The same for every answer, so that it can be looked for. */
export const USAGE = { input: 100, cached: 40, output: 30, reasoning: 12 } as const

export const REFUSAL = 'I cannot help with that.'

export function speak(asked: Asked): Spoken {
  const words = asked.questions.at(-1) ?? ''
  const spoken = reply(words, asked)
  return asked.mayThink
    ? spoken
    : { ...spoken, beats: spoken.beats.filter(({ type }) => type !== 'thought') }
}

function reply(words: string, asked: Asked): Spoken {
  const { outputs, prefill, schema, tools } = asked
  if (words.includes('Refuse')) return { beats: [{ type: 'refusal', text: REFUSAL }], isCut: false }
  if (words.includes('Go on for ever')) {
    return { beats: [thought('That will be long.'), text('It goes on and')], isCut: true }
  }
  if (prefill !== null && schema === null) return said('It needs no thought.', 'and so on.')
  const uses = nextUses(words, outputs.length).filter(({ name }) => tools.includes(name))
  if (uses.length > 0) {
    const hint = outputs.length === 0 ? [text('Let me see.')] : []
    return { beats: [thought('I must use that.'), ...hint, ...uses], isCut: false }
  }
  const places = tools.includes('look') ? nextPlaces(words, outputs.length) : []
  if (places.length > 0) {
    const hint = outputs.length === 0 ? [text('Let me look. 🔭')] : []
    return { beats: [thought('I must look.'), ...hint, ...places.map(look)], isCut: false }
  }
  if (schema !== null) return said('JSON, then.', JSON.stringify(sample(schema, outputs)))
  if (outputs.length > 0) {
    return said('The tools have answered.', `The tools said: ${outputs.join(' · ')}`)
  }
  return said('Somebody talks to me: ¿qué?', heard(words, asked))
}

function heard(words: string, { questions, images, system }: Asked): string {
  const earlier = questions.length - 1
  return [
    `You said “${words}”. Grüezi 🦊!`,
    ...(earlier > 0 ? [`I remember ${earlier} earlier of your messages.`] : []),
    ...(images > 0 ? [`I see ${images} images.`] : []),
    ...(system === '' ? [] : [`I was told: ${system}`]),
  ].join('\n')
}

function said(thinking: string, words: string): Spoken {
  return { beats: [thought(thinking), text(words)], isCut: false }
}

function thought(words: string): Beat {
  return { type: 'thought', text: words }
}

function text(words: string): Beat {
  return { type: 'text', text: words }
}

function look(at: string): Beat {
  return { type: 'call', name: 'look', input: { at } }
}

/** The first batch of calls that was not made yet. */
function nextUses(words: string, done: number): readonly Extract<Beat, { type: 'call' }>[] {
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

/** The places of the first batch that has not been looked at yet. */
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

/** The smallest value that a schema takes, with what the tools said as its text. */
function sample(schema: JsonObject, outputs: readonly string[]): Json {
  const { type, properties, items, enum: words } = schema
  if (Array.isArray(words)) return (words as readonly Json[])[0] ?? null
  const kind = Array.isArray(type) ? (type as readonly Json[])[0] : type
  switch (kind) {
    case 'object':
      return Object.fromEntries(
        Object.entries(isObject(properties) ? properties : {}).map(([name, inner]) => [
          name,
          isObject(inner) ? sample(inner, outputs) : null,
        ]),
      )
    case 'array':
      return isObject(items) ? [sample(items, outputs)] : []
    case 'number':
    case 'integer':
      return 7
    case 'boolean':
      return true
    default:
      return outputs.join(' · ') || 'so'
  }
}
