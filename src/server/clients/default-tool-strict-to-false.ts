/**
 * Sets `strict: false` on function tools without `strict`. Open WebUI converts chat tools to
 * Responses tools and leaves `strict` out. The default is false in Chat Completions but true in
 * Responses, where a model has to fill in every optional argument of a strict tool.
 * https://github.com/open-webui/open-webui/issues/27750
 */
import { patchList, patchObject } from '../../core/json/patch-object.ts'
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

/**
 * Returns the body with `strict` set in every function tool; returns the same object if every tool
 * has it already.
 */
export function defaultToolStrictToFalse(body: JsonObject): JsonObject {
  const { tools } = body
  if (!Array.isArray(tools)) return body
  const changedTools = patchList<Json>(tools, (tool) =>
    isObject(tool) && tool['type'] === 'function' && (tool['strict'] ?? null) === null
      ? { ...tool, strict: false }
      : tool,
  )
  return patchObject(body, { tools: changedTools })
}
