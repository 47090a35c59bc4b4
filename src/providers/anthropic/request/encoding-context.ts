/**
 * Defines the context that the functions of the request encoder share: the traits of the model, and
 * the collector of notes.
 */
import type { AnthropicNotes } from '../encoding-notes.ts'
import type { ModelTraits } from '../model-traits.ts'

export interface EncodingContext {
  readonly traits: ModelTraits
  readonly notes: AnthropicNotes
}
