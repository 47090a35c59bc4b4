/**
 * Converts a model of an upstream's list to OpenAI's format. Only known fields are copied, because unknown
 * ones may be of any size. A field `pipeline` is never copied: with it, Open WebUI would request filters that
 * the gateway does not have, and fail.
 */
import type { JsonObject } from '../../core/json/json.ts'
import type { Account } from '../../providers/provider-interface.ts'

export function createModelObject(id: string, owner: string): JsonObject {
  return { id, object: 'model', created: 0, owned_by: owner }
}

/** Returns the model; its id is empty if the upstream sent none. */
export function convertListedModel(model: JsonObject, account: Account): JsonObject {
  const id = removeModelsPrefix(readText(model['id']) ?? readText(model['name']) ?? '')
  const fields = {
    created: readCreated(model),
    name: readDisplayName(model, account),
    ...Object.fromEntries(COPIED_FIELDS.map((field) => [field, model[field]])),
  }
  // Open WebUI leaves out a model whose name is null.
  const known = Object.entries(fields).filter(([, value]) => (value ?? null) !== null)
  return { ...createModelObject(id, account.name), ...Object.fromEntries(known), id }
}

const COPIED_FIELDS = ['owned_by', 'context_length', 'max_model_len'] as const

/** Gemini lists its models as `models/gemini-3-pro`; requests may contain both forms. */
export function removeModelsPrefix(id: string): string {
  return id.replace(/^models\//, '')
}

/**
 * Returns the name for people: `displayName` of Gemini, whose `name` is the id, `display_name` of Anthropic,
 * `name` of OpenRouter.
 */
function readDisplayName(model: JsonObject, { wire }: Account): string | null {
  const { name, displayName, display_name: anthropicName } = model
  return (
    readText(displayName) ?? readText(anthropicName) ?? (wire === 'gemini' ? null : readText(name))
  )
}

/**
 * Returns the time of creation in seconds: `created` of OpenAI, `created_at` of Anthropic, `createTime` of
 * tuned Gemini models. Gemini's other models have none.
 */
function readCreated({
  created,
  created_at: anthropicTime,
  createTime,
}: JsonObject): number | null {
  if (typeof created === 'number') return created
  const milliseconds = Date.parse(readText(anthropicTime) ?? readText(createTime) ?? '')
  return Number.isNaN(milliseconds) ? null : Math.floor(milliseconds / 1000)
}

function readText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
