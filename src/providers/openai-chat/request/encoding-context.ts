/**
 * Defines the context that the functions of the request encoder share: the resolved quirks, and the
 * collector of notes. Without quirks, the messages of a Chat Completions client are sent as
 * written, and other requests get the form that most services accept.
 */
import { isObject, type JsonObject } from '../../../core/json/json.ts'
import type { JsonBudget } from '../../../core/json/limited-json.ts'
import type { Prompt, Tool } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import type { ChatNotes } from '../encoding-notes.ts'
import { addModelQuirks } from '../model-quirks.ts'
import { readChatQuirks } from '../quirks.ts'
import type { ChatQuirks } from '../quirk-table.ts'

export interface ChatEncodingOptions {
  readonly account: Account
  /** The quirks of the account and of the model. Some encoders treat a missing quirk differently from `false`. */
  readonly quirks: ChatQuirks
  /** True if the client uses the Chat Completions API. */
  readonly isChatClient: boolean
  readonly developerRole: boolean
  readonly customTools: boolean
  readonly allowedTools: boolean
  readonly toolMedia: boolean
  /** Returns a tool as the client wrote it; undefined if it is no tool of a Chat Completions client, or was changed. */
  readonly findClientTool: (tool: Tool) => JsonObject | undefined
  /** Matches the call ids that the upstream accepts; null if it accepts all. */
  readonly callIdPattern: RegExp | null
  readonly model: string
}

export interface EncodingContext {
  readonly options: ChatEncodingOptions
  readonly notes: ChatNotes
  readonly jsonBudget: JsonBudget
}

/**
 * Matches ids of up to 40 characters, OpenAI's maximum. Of the known services, only Mistral accepts
 * fewer.
 */
const DEFAULT_CALL_ID_PATTERN = /^.{1,40}$/s

export function resolveChatEncodingOptions(prompt: Prompt, account: Account): ChatEncodingOptions {
  const { model } = prompt.params
  const quirks = addModelQuirks(readChatQuirks(account), account.quirks, model)
  const isChatClient = prompt.source.dialect === 'chat'
  return {
    account,
    quirks,
    isChatClient,
    developerRole: quirks.developerRole ?? isChatClient,
    customTools: quirks.customTools ?? isChatClient,
    allowedTools: quirks.allowedTools ?? isChatClient,
    toolMedia: quirks.toolMedia ?? isChatClient,
    callIdPattern: quirks.callIdPattern ?? (isChatClient ? null : DEFAULT_CALL_ID_PATTERN),
    findClientTool: (tool) => (isChatClient ? findClientTool(tool, prompt.source) : undefined),
    model,
  }
}

function findClientTool(tool: Tool, { params, body }: Prompt['source']): JsonObject | undefined {
  const index = params.tools.indexOf(tool)
  if (index < 0) return undefined
  const { tools, functions } = body
  if (Array.isArray(tools)) return tools[index] as JsonObject
  const legacy: unknown = Array.isArray(functions) ? functions[index] : undefined
  return isObject(legacy) ? { type: 'function', function: legacy } : undefined
}
