/**
 * Sets `strict: false` on function tools that leave `strict` out. Open WebUI converts chat tools to
 * Responses tools without setting it. The default is false in Chat Completions but true in Responses,
 * where a model then has to fill in every optional argument.
 * https://github.com/open-webui/open-webui/issues/27750
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

/** Returns the body with `strict` set; the same object if every tool sets it already. */
export function defaultToolStrictToFalse(body: JsonObject): JsonObject {
  const { tools } = body
  if (!Array.isArray(tools)) return body
  const changed = (tools as readonly Json[]).map((tool) =>
    isObject(tool) && tool['type'] === 'function' && (tool['strict'] ?? null) === null
      ? { ...tool, strict: false }
      : tool,
  )
  return changed.every((tool, index) => tool === tools[index]) ? body : { ...body, tools: changed }
}
