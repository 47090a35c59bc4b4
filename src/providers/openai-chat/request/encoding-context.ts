/**
 * What the upstream's quirks mean for one request. A client that speaks chat itself gets its own way
 * where the account says nothing; what is translated takes the form that the most services accept.
 */
import type { Prompt } from '../../../core/prompt.ts'
import type { Account } from '../../provider-interface.ts'
import type { NoteCollector } from '../encoding-notes.ts'
import { readChatQuirks, type ChatQuirks } from '../quirks.ts'

export interface ChatOptions {
  readonly account: Account
  /** As they are set, for the few places where "not set" has a meaning of its own. */
  readonly quirks: ChatQuirks
  /** Whether the client speaks chat itself. */
  readonly isChatClient: boolean
  readonly developerRole: boolean
  readonly customTools: boolean
  readonly allowedTools: boolean
  readonly toolMedia: boolean
  /** `null`: every id will do. */
  readonly callIdPattern: RegExp | null
  readonly model: string
}

/** What everything that encodes a part of a request needs. */
export interface EncodingContext {
  readonly options: ChatOptions
  readonly notes: NoteCollector
}

/** OpenAI's limit, the shortest there is beside Mistral's. */
const DEFAULT_CALL_ID_PATTERN = /^.{1,40}$/s

export function resolveChatOptions(prompt: Prompt, account: Account): ChatOptions {
  const quirks = readChatQuirks(account)
  const isOwn = prompt.source.dialect === 'chat'
  return {
    account,
    quirks,
    isChatClient: isOwn,
    developerRole: quirks.developerRole ?? isOwn,
    customTools: quirks.customTools ?? isOwn,
    allowedTools: quirks.allowedTools ?? isOwn,
    toolMedia: quirks.toolMedia ?? isOwn,
    callIdPattern: quirks.callIdPattern ?? (isOwn ? null : DEFAULT_CALL_ID_PATTERN),
    model: prompt.params.model,
  }
}
