/**
 * Removes `encrypted_content` from reasoning that passes through: the gateway requests it from every upstream, for
 * later requests, and a client that does not request it receives none, as at OpenAI. A compaction keeps its
 * `encrypted_content`, because the client has to send it back.
 */
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { patchList, patchObject } from '../../../core/json/patch-object.ts'

export function hideEncryptedReasoning(item: Json | undefined): Json | undefined {
  return isObject(item) && item['type'] === 'reasoning'
    ? patchObject(item, { encrypted_content: undefined })
    : item
}

/** Removes `encrypted_content` from the reasoning in a response's `output`. */
export function hideEncryptedOutput(response: JsonObject): JsonObject {
  const { output } = response
  if (!Array.isArray(output)) return response
  const items = patchList<Json>(output, (item) => hideEncryptedReasoning(item) ?? null)
  return patchObject(response, { output: items })
}
