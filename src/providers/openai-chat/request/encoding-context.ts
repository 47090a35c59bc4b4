/**
 * Resolves the account's quirks for one request. If no quirks are set, the messages of a Chat
 * Completions client are sent as written, and a request of another dialect is translated to the form
 * that most services accept.
 */
import type { Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { readChatQuirks } from '../quirks.ts'
import type { ChatQuirks } from '../quirk-table.ts'

export interface ChatOptions {
  readonly account: Account
  /**
   * The quirks as configured, without defaults: some encoders treat an unset quirk differently from
   * `false`.
   */
  readonly quirks: ChatQuirks
  /** True if the request came through the Chat Completions API. */
  readonly isChatClient: boolean
  readonly developerRole: boolean
  readonly customTools: boolean
  readonly allowedTools: boolean
  readonly toolMedia: boolean
  /** The call ids that the upstream accepts; null if it accepts all. */
  readonly callIdPattern: RegExp | null
  readonly model: string
}

/** The arguments of every function that encodes a part of a request. */
export interface EncodingContext {
  readonly options: ChatOptions
  readonly notes: NoteCollector
}

/**
 * Accepts ids of up to 40 characters, OpenAI's limit. Of the known services, only Mistral has a
 * lower limit.
 */
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
