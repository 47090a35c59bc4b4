/**
 * The settings of a prompt as fields of a request. A client of this language has written them in
 * its body already: then only what the gateway has changed, or what this API calls otherwise, is
 * written anew, and the very body is returned if there is no such thing. What nobody here knows goes
 * along: the upstream may know it.
 */
import { amend } from '../../conversation/amend.ts'
import type { Json, JsonObject } from '../../conversation/json.ts'
import type { Note } from '../../conversation/note.ts'
import type { Prompt } from '../../conversation/prompt.ts'
import type { Account } from '../provider.ts'
import { NOTES, type NoteCode } from './notes.ts'
import { WORDS } from './words.ts'

export interface EncodedParams {
  readonly fields: JsonObject
  readonly notes: readonly Note[]
}

export type NoteField = (field: string, why: NoteCode) => void
export type Fields = Readonly<Record<string, Json | undefined>>

export function encodeParams(prompt: Prompt, account: Account): EncodedParams {
  const notes: Note[] = []
  const note: NoteField = (field, why) => {
    const did = why === 'parameter-moved' || why === 'below-minimum' ? 'changed' : 'dropped'
    notes.push({ did, field, why, by: 'responses', detail: NOTES[why] })
  }
  const passes = account.quirks['passes']
  const mayPass = (field: string): boolean => Array.isArray(passes) && passes.includes(field)
  const isOwn = prompt.source.dialect === 'responses'
  const body = isOwn ? prompt.source.body : {}
  const fields = Object.assign(
    {},
    ...WORDS.map((word) => word(prompt, { account, body, note })),
    isOwn ? withoutOthers(body, mayPass, note) : withOthers(prompt, mayPass, note),
  ) as Fields
  return { fields: amend(body, fields), notes }
}

/** What the gateway has done already, and what only Chat Completions has a word for. */
function withoutOthers(
  body: JsonObject,
  mayPass: (field: string) => boolean,
  note: NoteField,
): Fields {
  const others = CHAT_ONLY.filter((field) => field in body && !mayPass(field))
  for (const field of others) if (body[field] !== null) note(field, 'parameter-without-word')
  return Object.fromEntries([...GATEWAY_ONLY, ...others].map((field) => [field, undefined]))
}

const GATEWAY_ONLY = ['previous_response_id', 'conversation', 'background'] as const
const CHAT_ONLY = [
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'logit_bias',
  'logprobs',
] as const

/** What a client of another language has set beyond the words that both have. */
function withOthers(
  { params }: Prompt,
  mayPass: (field: string) => boolean,
  note: NoteField,
): Fields {
  const { stop, seed, presencePenalty, frequencyPenalty, extra } = params
  const others = Object.entries({
    stop: stop.length === 0 ? null : stop,
    seed,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    ...extra,
  }).filter(([, value]) => value !== null && value !== undefined)
  const [known, unknown] = [others.filter(isKnown), others.filter((other) => !isKnown(other))]
  for (const [field] of unknown) note(field, 'parameter-without-word')
  return Object.fromEntries(known)

  function isKnown([field]: readonly [string, unknown]): boolean {
    return SHARED.has(field) || mayPass(field)
  }
}

/** Called the same in both of OpenAI's APIs. */
const SHARED: ReadonlySet<string> = new Set(['prompt_cache_options', 'prompt_cache_retention'])
