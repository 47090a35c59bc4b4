/**
 * Reasoning details for clients that keep the conversation themselves. What such a client is given
 * of reasoning in OpenAI's shape has one place for what only its maker can read, and there the
 * details go, signatures and all:
 *
 *     chat:1:<account>:<model>:<the details as JSON>
 *
 * Nothing is encrypted: what must not be read is so by itself. No other wire may send what starts
 * with `chat:`.
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

/** `null` for details that say nothing beyond their text. */
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

/** `null` for what was not sealed here. */
export function unpackReasoningDetails(
  text: string | null | undefined,
): ReasoningDetailsWithMaker | null {
  if (text?.startsWith(PREFIX) !== true) return null
  const afterAccount = text.indexOf(':', PREFIX.length)
  const afterModel = text.indexOf(':', afterAccount + 1)
  if (afterAccount < 0 || afterModel < 0) return null
  try {
    const account = decodeURIComponent(text.slice(PREFIX.length, afterAccount))
    const model = decodeURIComponent(text.slice(afterAccount + 1, afterModel))
    return { account, model, details: filterObjects(JSON.parse(text.slice(afterModel + 1))) }
  } catch {
    return null
  }
}
