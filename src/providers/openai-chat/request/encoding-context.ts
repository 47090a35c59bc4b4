/**
 * Resolves the account's quirks for one request. Without a quirk, the messages of a Chat Completions
 * client stay as written, and a translated request takes the form that most services accept.
 */
import type { Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { readChatQuirks } from '../quirks.ts'
import type { ChatQuirks } from '../quirk-table.ts'

export interface ChatOptions {
  readonly account: Account
  /** The quirks as configured, for the places where an unset quirk has a meaning of its own. */
  readonly quirks: ChatQuirks
  /** True if the request came through the Chat Completions API. */
  readonly isChatClient: boolean
  readonly developerRole: boolean
  readonly customTools: boolean
  readonly allowedTools: boolean
  readonly toolMedia: boolean
  /** Null if the upstream accepts every id. */
  readonly callIdPattern: RegExp | null
  readonly model: string
}

/** The options and the collector of notes, passed to every function that encodes part of a request. */
export interface EncodingContext {
  readonly options: ChatOptions
  readonly notes: NoteCollector
}

/** OpenAI's limit of 40 characters; of the known services only Mistral's is stricter. */
const DEFAULT_CALL_ID_PATTERN = /^.{1,40}$/s

export function resolveChatOptions(prompt: Prompt, account: Account): ChatOptions {
  const quirks = readChatQuirks(account)
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
    model: prompt.params.model,
  }
}
