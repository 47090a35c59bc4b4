/**
 * Packs `reasoning_details` into `encrypted_content` for Responses clients that store the
 * conversation themselves, and unpacks them. The account and the model go along, because only the
 * maker accepts the signatures:
 *
 *     chat:1:openrouter:anthropic%2Fclaude-sonnet-4:[{"type":"reasoning.text","signature":"…"}]
 *
 * The gateway encrypts nothing here: details that must stay secret are already encrypted by their
 * maker. The other wires do not send `encrypted_content` that begins with `chat:`.
 */
import { filterObjects } from '../../core/items/chat-only-fields.ts'
import type { JsonObject } from '../../core/json/json.ts'

export interface ReasoningMaker {
  readonly account: string
  readonly model: string
}

export interface ReasoningDetailsWithMaker extends ReasoningMaker {
  readonly details: readonly JsonObject[]
}

const PREFIX = 'chat:1:'

/** Packs details; returns null if they contain only text, which the item contains already. */
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

/** Unpacks details; returns null for a string that `packReasoningDetails` did not produce. */
export function unpackReasoningDetails(
  text: string | null | undefined,
): ReasoningDetailsWithMaker | null {
  if (text?.startsWith(PREFIX) !== true) return null
  const accountEnd = text.indexOf(':', PREFIX.length)
  const modelEnd = text.indexOf(':', accountEnd + 1)
  if (accountEnd < 0 || modelEnd < 0) return null
  try {
    const account = decodeURIComponent(text.slice(PREFIX.length, accountEnd))
    const model = decodeURIComponent(text.slice(accountEnd + 1, modelEnd))
    return { account, model, details: filterObjects(JSON.parse(text.slice(modelEnd + 1))) }
  } catch {
    return null
  }
}
