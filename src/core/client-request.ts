/**
 * The client's side of the hourglass. A dialect is one folder: `parse.ts` turns a request body into
 * an Inbound, `stream.ts` and `whole.ts` render an answer, `retouch.ts` mends an answer that an
 * upstream of the same language gave. All of it is pure.
 */
import type { ClientTraits } from './client/client-traits.ts'
import type { Item } from './item.ts'
import type { JsonObject } from './json/json.ts'
import type { PolicyOverrides } from './context-policy.ts'
import type { DialectName, PromptParameters } from './prompt.ts'

/** One request, understood. */
export interface ClientRequest {
  readonly dialect: DialectName
  readonly stream: boolean
  readonly items: readonly Item[]
  /** As the client gave them, where `items` are not that any more. */
  readonly originalItems?: readonly Item[]
  readonly params: PromptParameters
  readonly storage: StorageOptions
  /** What the request itself says of how much of the conversation the model is given. */
  readonly policyOverrides: PolicyOverrides | null
  /** `false` only prepares what is asked next: no model is asked, and the answer is empty. */
  readonly generatesAnswer: boolean
  /** `null` in a dialect that has no words for it. */
  readonly overflow: OverflowOptions | null
  /** Who asks; a dialect itself knows nothing of that. */
  readonly client: ClientTraits
  readonly body: JsonObject
  /** Those of `body`: the client's own, or made once, if anybody asks. */
  readonly bytes: () => Uint8Array
}

/** What the client asks the gateway, not the model, to do. */
export interface StorageOptions {
  /** `null`: the client did not say, and the dialect's default stands in `storeByDefault`. */
  readonly store: boolean | null
  readonly storeByDefault: boolean
  readonly previousResponseId: string | null
  readonly conversationId: string | null
  readonly background: boolean
  readonly metadata: JsonObject
}

/** What to do when the conversation grows too long for the model. */
export interface OverflowOptions {
  /**
   * To put a summary in the place of the conversation above so many tokens; `window` is for as many
   * as the model can take, `null` for never.
   */
  readonly compactAbove: number | 'window' | null
  /** To do so at once. */
  readonly compactNow: boolean
  /** Whether the oldest rounds may be left out of what does not fit. */
  readonly truncation: 'auto' | 'disabled'
}
