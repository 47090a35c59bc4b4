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
import { objectsIn } from '../../core/items/chat-only-fields.ts'
import type { JsonObject } from '../../core/json/json.ts'

export interface Maker {
  readonly account: string
  readonly model: string
}

export interface SealedDetails extends Maker {
  readonly details: readonly JsonObject[]
}

const PREFIX = 'chat:1:'

/** `null` for details that say nothing beyond their text. */
export function seal(details: readonly JsonObject[], { account, model }: Maker): string | null {
  if (!details.some(isBound)) return null
  const maker = [account, model].map(encodeURIComponent).join(':')
  return `${PREFIX}${maker}:${JSON.stringify(details)}`
}

function isBound({ signature, data }: JsonObject): boolean {
  return typeof signature === 'string' || typeof data === 'string'
}

/** `null` for what was not sealed here. */
export function unseal(text: string | null | undefined): SealedDetails | null {
  if (text?.startsWith(PREFIX) !== true) return null
  const afterAccount = text.indexOf(':', PREFIX.length)
  const afterModel = text.indexOf(':', afterAccount + 1)
  if (afterAccount < 0 || afterModel < 0) return null
  try {
    const account = decodeURIComponent(text.slice(PREFIX.length, afterAccount))
    const model = decodeURIComponent(text.slice(afterAccount + 1, afterModel))
    return { account, model, details: objectsIn(JSON.parse(text.slice(afterModel + 1))) }
  } catch {
    return null
  }
}
