/**
 * Says of Open WebUI's tools what it means of them. It turns chat tools into Responses tools and leaves
 * `strict` out, which in Chat Completions means no and here means yes: a model then has to fill in
 * every optional argument. https://github.com/open-webui/open-webui/issues/27750
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'

/** The same object if no tool leaves it open. */
export function defaultToolStrictToFalse(body: JsonObject): JsonObject {
  const { tools } = body
  if (!Array.isArray(tools)) return body
  const loose = (tools as readonly Json[]).map((tool) =>
    isObject(tool) && tool['type'] === 'function' && (tool['strict'] ?? null) === null
      ? { ...tool, strict: false }
      : tool,
  )
  return loose.every((tool, at) => tool === tools[at]) ? body : { ...body, tools: loose }
}
