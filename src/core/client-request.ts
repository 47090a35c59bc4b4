/** Defines the parsed client request that every dialect's `parse` returns. */
import type { ClientTraits } from './client/client-traits.ts'
import type { Item } from './item.ts'
import type { JsonObject } from './json/json.ts'
import type { PolicyOverrides } from './context-policy.ts'
import type { DialectName, PromptParameters } from './prompt.ts'

export interface ClientRequest {
  readonly dialect: DialectName
  readonly stream: boolean
  readonly items: readonly Item[]
  /** The items as the client sent them; set only if the gateway has changed `items` since. */
  readonly originalItems?: readonly Item[]
  readonly params: PromptParameters
  readonly storage: StorageOptions
  /** Fields of the context policy that the request sets in its field `backstory`. */
  readonly policyOverrides: PolicyOverrides | null
  /** False for a request with `generate: false`: no model is called, and the answer is empty. */
  readonly generatesAnswer: boolean
  /** Fields for a conversation that is too long; null in Chat Completions, which has no such fields. */
  readonly overflow: OverflowOptions | null
  /** Properties of the client program. A dialect sets the defaults, and the server replaces them. */
  readonly client: ClientTraits
  readonly body: JsonObject
  /** Returns the JSON bytes of `body`: those that the client sent, or, if the gateway changed or built `body`, new ones. */
  readonly bytes: () => Uint8Array
}

/** Fields of a request about storage: whether its turn is stored, and which stored history it continues. */
export interface StorageOptions {
  /** The request's field `store`; null if the request does not have it and `storeByDefault` decides. */
  readonly store: boolean | null
  readonly storeByDefault: boolean
  readonly previousResponseId: string | null
  readonly conversationId: string | null
  readonly background: boolean
  readonly metadata: JsonObject
}

/** Fields of a request for a conversation that outgrows the model's context window. */
export interface OverflowOptions {
  /**
   * Number of tokens, e.g. 50,000, above which a summary replaces the conversation. `window` means the
   * model's context window, null means never.
   */
  readonly compactAbove: number | 'window' | null
  /** True if a summary replaces the conversation before this request, whatever its size. */
  readonly compactNow: boolean
  /** With `auto`, the gateway drops the oldest rounds if the request does not fit. */
  readonly truncation: 'auto' | 'disabled'
}
