/**
 * Encodes the parameters of a prompt as fields of a request. Starts from the body of a Responses
 * client and replaces only fields that a transform changed, or that the API names differently.
 * Other fields stay, because the upstream may support them.
 */
import type { JsonObject } from '../../../core/json/json.ts'
import { patchObject } from '../../../core/json/patch-object.ts'
import type { Prompt } from '../../../core/prompt.ts'
import { hasCompactOrCountEndpoint } from '../../has-compact-or-count-endpoint.ts'
import type { Account } from '../../provider-interface.ts'
import { isDefaultValue } from '../../request/is-default-value.ts'
import type { ResponsesNotes } from '../encoding-notes.ts'
import { acceptsExtraField, PARAMETER_ENCODERS, type BodyChanges } from './parameter-encoders.ts'

export function encodeParameters(
  prompt: Prompt,
  account: Account,
  notes: ResponsesNotes,
): JsonObject {
  const isAccepted = (field: string): boolean => acceptsExtraField(field, account)
  const isResponsesClient = prompt.source.dialect === 'responses'
  const body = isResponsesClient ? prompt.source.body : {}
  const fields = Object.assign(
    {},
    ...PARAMETER_ENCODERS.map((encode) => encode(prompt, { account, body, notes })),
    isResponsesClient
      ? clearUnsupportedFields(body, isAccepted, notes)
      : encodeExtraParameters(prompt, isAccepted, notes),
    encodeContextManagement(prompt, account, body, notes),
  ) as BodyChanges
  return patchObject(body, fields)
}

/**
 * Requests compaction of a long conversation from an upstream that supports it. A setting of the
 * client takes precedence.
 */
function encodeContextManagement(
  { compactAbove }: Prompt,
  account: Account,
  { context_management: clientSetting = null }: JsonObject,
  notes: ResponsesNotes,
): BodyChanges {
  if (!hasCompactOrCountEndpoint(account, 'compact')) return { context_management: undefined }
  if (compactAbove === undefined || clientSetting !== null) return {}
  notes.write('compaction-asked', { field: 'context_management' })
  return { context_management: [{ type: 'compaction', compact_threshold: compactAbove }] }
}

/** Removes fields that only the gateway uses, and fields that only Chat Completions has. */
function clearUnsupportedFields(
  body: JsonObject,
  isAccepted: (field: string) => boolean,
  notes: ResponsesNotes,
): BodyChanges {
  const unsupported = CHAT_FIELDS.filter((field) => field in body && !isAccepted(field))
  for (const field of unsupported) {
    if (!isDefaultValue(field, body[field])) notes.write('parameter-without-word', { field })
  }
  return Object.fromEntries([...GATEWAY_FIELDS, ...unsupported].map((field) => [field, undefined]))
}

const GATEWAY_FIELDS = ['previous_response_id', 'conversation', 'background', 'generate'] as const
const CHAT_FIELDS = 'seed presence_penalty frequency_penalty n logit_bias logprobs'.split(' ')

/**
 * Encodes the parameters of a Chat Completions client that the Responses API does not have. They
 * are sent only if the upstream accepts them.
 */
function encodeExtraParameters(
  { params }: Prompt,
  isAccepted: (field: string) => boolean,
  notes: ResponsesNotes,
): BodyChanges {
  const { seed, presencePenalty, frequencyPenalty, extra } = params
  const fields = Object.entries({
    seed,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    ...extra,
  }).filter(([, value]) => value !== null && value !== undefined)
  const sent = fields.filter(([field, value]) => {
    if (FIELDS_OF_BOTH_APIS.has(field) || isAccepted(field)) return true
    if (!isDefaultValue(field, value)) notes.write('parameter-without-word', { field })
    return false
  })
  return Object.fromEntries(sent)
}

const FIELDS_OF_BOTH_APIS: ReadonlySet<string> = new Set(
  'prompt_cache_options prompt_cache_retention'.split(' '),
)
