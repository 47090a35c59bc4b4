/** Defines a parsed client request, which every dialect's `parse` returns. */
import type { ClientTraits } from './client/client-traits.ts'
import type { Item } from './item.ts'
import type { JsonObject } from './json/json.ts'
import type { PolicyOverrides } from './context-policy.ts'
import type { DialectName, PromptParameters } from './prompt.ts'

/** A parsed request. */
export interface ClientRequest {
  readonly dialect: DialectName
  readonly stream: boolean
  readonly items: readonly Item[]
  /** The items as the client sent them. Set only if `items` differs from them. */
  readonly originalItems?: readonly Item[]
  readonly params: PromptParameters
  readonly storage: StorageOptions
  /** Context policy fields that this request sets itself. */
  readonly policyOverrides: PolicyOverrides | null
  /** With `false` no model is called: the request only prepares the next one, and its answer is empty. */
  readonly generatesAnswer: boolean
  /** Null in a dialect that has no fields for it, such as Chat Completions. */
  readonly overflow: OverflowOptions | null
  /** Facts about the client program. The server sets them; a dialect uses the defaults. */
  readonly client: ClientTraits
  readonly body: JsonObject
  /** Returns `body` as JSON text: the client's bytes, or bytes that are encoded on the first call. */
  readonly bytes: () => Uint8Array
}

/** Fields of a request that address the gateway, not the model. */
export interface StorageOptions {
  /** Null if the request does not set it; then `storeByDefault` decides. */
  readonly store: boolean | null
  readonly storeByDefault: boolean
  readonly previousResponseId: string | null
  readonly conversationId: string | null
  readonly background: boolean
  readonly metadata: JsonObject
}

/** Controls a conversation that outgrows the model's context window. */
export interface OverflowOptions {
  /**
   * Token count, e.g. 50,000, above which a summary replaces the conversation. `window` means the
   * model's context window; null means never.
   */
  readonly compactAbove: number | 'window' | null
  /** True if a summary replaces the conversation before this request, whatever its size. */
  readonly compactNow: boolean
  /** `auto` lets the gateway drop the oldest rounds if the request does not fit. */
  readonly truncation: 'auto' | 'disabled'
}
