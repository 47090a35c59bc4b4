/**
 * The settings of a prompt as fields of a request. A client of this language has written them in
 * its body already: then only what the gateway has changed, or what this API calls otherwise, is
 * written anew, and the very body is returned if there is no such thing. What nobody here knows goes
 * along: the upstream may know it.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import type { Json, JsonObject } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import { hasResponsesEndpoint } from '../../has-responses-endpoint.ts'
import type { Account } from '../../provider-interface.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import type { NoteCollector, NoteCode } from '../encoding-notes.ts'
import { acceptsExtraField } from './accepts-stop-sequences.ts'
import { PARAMETER_ENCODERS } from './parameter-encoders.ts'

export type NoteFieldChange = (field: string, why: NoteCode, detail?: string) => void
export type BodyFields = Readonly<Record<string, Json | undefined>>

export function encodeParameters(
  prompt: Prompt,
  account: Account,
  notebook: NoteCollector,
): JsonObject {
  const note: NoteFieldChange = (field, why, detail) =>
    notebook.write(why, detail === undefined ? { field } : { field, detail })
  const mayPass = (field: string): boolean => acceptsExtraField(field, account)
  const isOwn = prompt.source.dialect === 'responses'
  const body = isOwn ? prompt.source.body : {}
  const fields = Object.assign(
    {},
    ...PARAMETER_ENCODERS.map((word) => word(prompt, { account, body, note })),
    isOwn
      ? clearUnsupportedFields(body, mayPass, note)
      : encodeExtraParameters(prompt, mayPass, note),
    encodeContextManagement(prompt, account, body, note),
  ) as BodyFields
  return patchObject(body, fields)
}

/** Who makes no compactions is spared the word: the gateway makes them. What its client says stands. */
function encodeContextManagement(
  { compactAbove }: Prompt,
  account: Account,
  { context_management: said = null }: JsonObject,
  note: NoteFieldChange,
): BodyFields {
  if (!hasResponsesEndpoint(account, 'compact')) return { context_management: undefined }
  if (compactAbove === undefined || said !== null) return {}
  note('context_management', 'compaction-asked')
  return { context_management: [{ type: 'compaction', compact_threshold: compactAbove }] }
}

/** What the gateway has done already, and what only Chat Completions has a word for. */
function clearUnsupportedFields(
  body: JsonObject,
  mayPass: (field: string) => boolean,
  note: NoteFieldChange,
): BodyFields {
  const others = CHAT_FIELDS.filter((field) => field in body && !mayPass(field))
  for (const field of others) {
    if (!isDefaultValue(field, body[field])) note(field, 'parameter-without-word')
  }
  return Object.fromEntries([...GATEWAY_FIELDS, ...others].map((field) => [field, undefined]))
}

const GATEWAY_FIELDS = ['previous_response_id', 'conversation', 'background', 'generate'] as const
const CHAT_FIELDS = [
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'n',
  'logit_bias',
  'logprobs',
] as const

/** What a client of another language has set beyond the words that both have. */
function encodeExtraParameters(
  { params }: Prompt,
  mayPass: (field: string) => boolean,
  note: NoteFieldChange,
): BodyFields {
  const { seed, presencePenalty, frequencyPenalty, extra } = params
  const others = Object.entries({
    seed,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    ...extra,
  }).filter(([, value]) => value !== null && value !== undefined)
  const [known, unknown] = [others.filter(isKnown), others.filter((other) => !isKnown(other))]
  for (const [field, value] of unknown) {
    if (!isDefaultValue(field, value)) note(field, 'parameter-without-word')
  }
  return Object.fromEntries(known)

  function isKnown([field]: readonly [string, unknown]): boolean {
    return FIELDS_OF_BOTH_APIS.has(field) || mayPass(field)
  }
}

/** Called the same in both of OpenAI's APIs. */
const FIELDS_OF_BOTH_APIS: ReadonlySet<string> = new Set([
  'prompt_cache_options',
  'prompt_cache_retention',
])
