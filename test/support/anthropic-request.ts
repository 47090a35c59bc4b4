/** Parses a request body of the Messages API for the rule checks. */
import { isObject, type Json, type JsonObject } from '../../src/core/json/json.ts'

export interface Request {
  readonly body: JsonObject
  readonly model: string
  readonly messages: readonly {
    readonly role: Json | undefined
    readonly content: readonly JsonObject[]
  }[]
  readonly tools: readonly JsonObject[]
  readonly system: readonly JsonObject[]
  readonly thinking: string
}

export type Law = (request: Request) => readonly string[]

export function read(body: JsonObject): Request {
  const { model, messages, tools, system, thinking } = body
  return {
    body,
    model: String(model),
    messages: objects(messages).map(({ role, content }) => ({ role, content: objects(content) })),
    tools: objects(tools),
    system: objects(system),
    thinking: isObject(thinking) ? String(thinking['type']) : 'unsaid',
  }
}

export function objects(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []
}

export function isBlank(text: Json | undefined): boolean {
  return typeof text !== 'string' || text.trim() === ''
}
