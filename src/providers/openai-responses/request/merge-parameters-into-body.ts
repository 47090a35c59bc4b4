/**
 * Encodes the parameters of a prompt as fields of a request. Begins with the body of a Responses
 * client and replaces only parameters that the gateway changed or that the API names differently.
 * Returns the same object if there are none. Unknown fields stay, because the upstream may support
 * them.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import { hasResponsesEndpoint } from '../../has-responses-endpoint.ts'
import type { Account } from '../../provider-interface.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { acceptsExtraField } from './accepts-stop-sequences.ts'
import { PARAMETER_ENCODERS, type BodyFields, type WriteFieldNote } from './parameter-encoders.ts'

export function encodeParameters(
  prompt: Prompt,
  account: Account,
  notes: NoteCollector,
): JsonObject {
  const note: WriteFieldNote = (field, code, detail) =>
    notes.write(code, detail === undefined ? { field } : { field, detail })
  const isAccepted = (field: string): boolean => acceptsExtraField(field, account)
  const isResponsesClient = prompt.source.dialect === 'responses'
  const body = isResponsesClient ? prompt.source.body : {}
  const fields = Object.assign(
    {},
    ...PARAMETER_ENCODERS.map((encode) => encode(prompt, { account, body, note })),
    isResponsesClient
      ? clearUnsupportedFields(body, isAccepted, note)
      : encodeExtraParameters(prompt, isAccepted, note),
    encodeContextManagement(prompt, account, body, note),
  ) as BodyFields
  return patchObject(body, fields)
}

/**
 * Requests compaction from an upstream that supports it. A setting of the client takes precedence.
 */
function encodeContextManagement(
  { compactAbove }: Prompt,
  account: Account,
  { context_management: clientSetting = null }: JsonObject,
  note: WriteFieldNote,
): BodyFields {
  if (!hasResponsesEndpoint(account, 'compact')) return { context_management: undefined }
  if (compactAbove === undefined || clientSetting !== null) return {}
  note('context_management', 'compaction-asked')
  return { context_management: [{ type: 'compaction', compact_threshold: compactAbove }] }
}

/** Removes fields that the gateway itself acts on, and fields that only Chat Completions has. */
function clearUnsupportedFields(
  body: JsonObject,
  isAccepted: (field: string) => boolean,
  note: WriteFieldNote,
): BodyFields {
  const unsupported = CHAT_FIELDS.filter((field) => field in body && !isAccepted(field))
  for (const field of unsupported) {
    if (!isDefaultValue(field, body[field])) note(field, 'parameter-without-word')
  }
  return Object.fromEntries([...GATEWAY_FIELDS, ...unsupported].map((field) => [field, undefined]))
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

/** Encodes those parameters of a Chat Completions client that this API does not have. */
function encodeExtraParameters(
  { params }: Prompt,
  isAccepted: (field: string) => boolean,
  note: WriteFieldNote,
): BodyFields {
  const { seed, presencePenalty, frequencyPenalty, extra } = params
  const fields = Object.entries({
    seed,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    ...extra,
  }).filter(([, value]) => value !== null && value !== undefined)
  const sent = fields.filter(([field, value]) => {
    if (FIELDS_OF_BOTH_APIS.has(field) || isAccepted(field)) return true
    if (!isDefaultValue(field, value)) note(field, 'parameter-without-word')
    return false
  })
  return Object.fromEntries(sent)
}

const FIELDS_OF_BOTH_APIS: ReadonlySet<string> = new Set([
  'prompt_cache_options',
  'prompt_cache_retention',
])
