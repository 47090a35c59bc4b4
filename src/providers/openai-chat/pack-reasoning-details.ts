/**
 * Packs OpenRouter's `reasoning_details` into `encrypted_content`, for Responses clients that store
 * the conversation themselves. The packed string also contains the account and the model, because
 * only these accept the signatures:
 *
 *     chat:1:openrouter:anthropic%2Fclaude-sonnet-4:[{"type":"reasoning.text","signature":"…"}]
 *
 * The string is not encrypted, because its secret parts are already encrypted by the model's
 * provider. The prefix `chat:` shows the encoders of the other wires that their upstreams cannot
 * read the string, so they do not send it.
 */
import { filterObjects } from '../../core/items/chat-only-fields.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { tryParseLimitedJson, type JsonBudget } from '../../core/json/limited-json.ts'

export interface ReasoningMaker {
  readonly account: string
  readonly model: string
}

const PREFIX = 'chat:1:'

/**
 * Packs `reasoning_details` into a string for `encrypted_content`. Returns null if none has a
 * signature or encrypted data, because the reasoning item already contains their text.
 */
export function packReasoningDetails(
  details: readonly JsonObject[],
  { account, model }: ReasoningMaker,
): string | null {
  if (!details.some(hasSignatureOrData)) return null
  const maker = [account, model].map(encodeURIComponent).join(':')
  return `${PREFIX}${maker}:${JSON.stringify(details)}`
}

function hasSignatureOrData({ signature, data }: JsonObject): boolean {
  return typeof signature === 'string' || typeof data === 'string'
}

/** Unpacks details; returns null if `packReasoningDetails` did not produce the string. */
export function unpackReasoningDetails(
  text: string | null | undefined,
  budget: JsonBudget,
): (ReasoningMaker & { readonly details: readonly JsonObject[] }) | null {
  if (text?.startsWith(PREFIX) !== true) return null
  const accountEnd = text.indexOf(':', PREFIX.length)
  const modelEnd = text.indexOf(':', accountEnd + 1)
  if (accountEnd < 0 || modelEnd < 0) return null
  try {
    const account = decodeURIComponent(text.slice(PREFIX.length, accountEnd))
    const model = decodeURIComponent(text.slice(accountEnd + 1, modelEnd))
    const details = tryParseLimitedJson(text.slice(modelEnd + 1), budget)
    return details === null ? null : { account, model, details: filterObjects(details) }
  } catch {
    return null
  }
}
